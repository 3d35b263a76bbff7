"""One row per verb; surfaces, schemas and docs are made from it. A new tool is one function and one row."""

from types import MappingProxyType

from . import asks, brief, credentials, decisions, follow, handoffs, inbox, notes, people, reads, shifts
from .call import Row

FLEET, CORE = "fleet", "core"

_ROWS = (
    Row("start", "write", shifts.start, (FLEET, CORE), again=shifts.brief_again),
    Row("bio", "write", shifts.bio, (FLEET,)),
    Row("recap", "write", shifts.recap, (FLEET,)),
    Row("note", "write", notes.note, (FLEET, CORE), action_id=True),
    Row("ask", "gate", asks.ask, (FLEET, CORE)),
    Row("redeem", "gate", asks.redeem, (FLEET, CORE), action_id=True),
    Row("status", "write", shifts.status, (FLEET,), again=shifts.now_again),
    Row("handoff", "write", handoffs.handoff, (FLEET, CORE)),
    Row("accept", "write", handoffs.accept, (FLEET, CORE)),
    Row("brief", "read", brief.brief, (FLEET,)),
    Row("view", "read", reads.view, (FLEET,)),
    Row("follow", "read", follow.follow, (FLEET, CORE), around=follow.until_changed),
    Row("connection", "read", reads.connection, (FLEET,)),
    Row("decide", "decide", decisions.decide),
    Row("ask_back", "decide", decisions.ask_back),
    Row("take_back", "decide", decisions.take_back),
    Row("inbox", "read", inbox.inbox),
    Row("mint", "manage", credentials.mint, again=credentials.shown_once),
    Row("keys", "read", credentials.keys),
    Row("renew", "manage", credentials.renew),
    Row("revoke", "manage", credentials.revoke),
    Row("people", "read", people.people),
    Row("human", "manage", people.human),
    Row("link", "manage", people.link, again=credentials.shown_once),
    Row("space", "manage", people.space, founds=True),
    Row("four_eyes", "manage", people.four_eyes),
    Row("spaces", "read", people.spaces),
)
ENTER = Row("enter", "read", reads.connection, (FLEET, CORE))  # for a surface that lets somebody in before they call
ROWS = MappingProxyType({row.verb: row for row in _ROWS})


def tools(profile: str) -> list[Row]:
    """The rows that a profile lists, in the catalogue's order."""
    return [row for row in _ROWS if profile in row.profiles]
