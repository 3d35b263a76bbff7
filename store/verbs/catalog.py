"""One row per verb; surfaces, schemas and docs are made from it. A new tool is one function and one row."""

from types import MappingProxyType

from . import (
    asks,
    board,
    brief,
    credentials,
    decisions,
    feed,
    fleet,
    follow,
    handoffs,
    huddles,
    inbox,
    job_lists,
    jobs,
    notes,
    pairing,
    people,
    reaching,
    reads,
    recall,
    rhythm,
    roster,
    sessions,
    shifts,
    sync,
    syncs,
)
from .call import Row

FLEET, CORE = "fleet", "core"

_ROWS = (
    Row("start", "write", shifts.start, (FLEET, CORE), again=shifts.brief_again),
    Row("bio", "write", shifts.bio, (FLEET,)),
    Row("recap", "write", shifts.recap, (FLEET,)),
    Row("note", "write", notes.note, (FLEET, CORE), action_id=True),
    Row("assign", "write", jobs.assign, (FLEET,)),
    Row("update", "write", jobs.update, (FLEET,)),
    Row("stage", "write", jobs.stage, (FLEET,)),
    Row("open", "read", job_lists.open_jobs, (FLEET,)),
    Row("ask", "gate", asks.ask, (FLEET, CORE)),
    Row("redeem", "gate", asks.redeem, (FLEET, CORE), action_id=True),
    Row("status", "write", shifts.status, (FLEET,), again=shifts.now_again),
    Row("handoff", "write", handoffs.handoff, (FLEET, CORE)),
    Row("accept", "write", handoffs.accept, (FLEET, CORE)),
    Row("huddle", "write", huddles.huddle, (FLEET,)),
    Row("sync", "read", sync.sync, (FLEET,), turns=("receipt", Row("sync", "write", sync.check_in, (FLEET,)))),
    Row("brief", "read", brief.brief, (FLEET,)),
    Row("view", "read", reads.view, (FLEET,)),
    Row("roster", "read", roster.roster, (FLEET,)),
    Row("feed", "read", feed.feed, (FLEET,)),
    Row("follow", "read", follow.follow, (FLEET, CORE), around=follow.until_changed),
    Row("spaces", "read", people.spaces, (FLEET,)),
    Row("jobs", "read", job_lists.jobs, (FLEET,)),
    Row("recall", "read", recall.recall, (FLEET,)),
    Row("connection", "read", reads.connection, (FLEET,)),
    Row("decide", "decide", decisions.decide),
    Row("ask_back", "decide", decisions.ask_back),
    Row("take_back", "decide", decisions.take_back),
    Row("inbox", "read", inbox.inbox),
    Row("fleet", "read", fleet.fleet),
    Row("board", "read", board.board),
    Row("syncs", "read", syncs.syncs, whole=True),
    Row("mint", "manage", credentials.mint, again=credentials.shown_once),
    Row("keys", "read", credentials.keys),
    Row("renew", "manage", credentials.renew),
    Row("revoke", "manage", credentials.revoke),
    Row("people", "read", people.people),
    Row("human", "manage", people.human),
    Row("link", "manage", people.link, again=credentials.shown_once),
    Row("sessions", "read", sessions.sessions),
    Row("end_session", "write", sessions.end_session),
    Row("pairing", "write", pairing.pairing, again=credentials.shown_once),
    Row("claims", "read", pairing.claims),
    Row("confirm", "write", pairing.confirm),
    Row("unpair", "write", pairing.unpair),
    Row("oncall", "write", reaching.oncall),
    Row("quiet", "write", reaching.quiet),
    Row("space", "manage", people.space, founds=True),
    Row("four_eyes", "manage", people.four_eyes),
    Row("rhythm", "manage", rhythm.rhythm, again=rhythm.holidays_again),
    Row("attend", "write", rhythm.attend),
)
ENTER = Row("enter", "read", reads.connection, (FLEET, CORE), lets_in=True)  # for a surface, before they call
ROWS = MappingProxyType({row.verb: row for row in _ROWS})


def tools(profile: str) -> list[Row]:
    """The rows that a profile lists, in the catalogue's order."""
    return [row for row in _ROWS if profile in row.profiles]
