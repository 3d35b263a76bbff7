"""Pure readers: view, follow, connection."""

from functools import cache
from importlib.metadata import version
from typing import Any

from ..domain import ask as ask_rules
from ..domain.ask import Ask
from ..domain.document import Document
from ..domain.entry import ABSENT, Logged
from ..domain.errors import Refused
from ..domain.ids import Shape, known, parse_place, shape
from ..domain.item import Item, Mark, standing
from ..domain.job import Job
from ..domain.listing import listed
from ..domain.moments import age, iso, span
from ..domain.policy import RULES
from ..domain.slot import Now, Who
from ..domain.space import Channel
from ..domain.text import quoted
from ..engine.reads import Doc, Head, Lines, Log, Numbered, Written
from .call import Call, Result
from .mailbox import mail_text

LOG_LIMIT = 10  # entries of a Log that `view` shows
HISTORY_LIMIT = 50  # entries of a trail
KINDS: dict[str, type[Document]] = {"channel": Channel, "job": Job}


async def view(call: Call, *, what: str) -> Result:
    """Look at one thing: its state, text and history.

    what: an ask or item by its trail, a mailbox note (mb_…), an entry by its id, or job:x, channel:x, agent:x, human:x.
    """
    kind = shape(what)
    if kind is Shape.ASK:
        return await ask_view(call, what)
    if kind is Shape.ITEM:
        return await _item(call, what)
    if kind is Shape.MAILBOX_NOTE:
        return {"what": what, **await mail_text(call, what)}
    if kind is Shape.ENTRY:
        return await _entry(call, what)
    if kind is None and ":" not in what:
        known(what, name="what")  # says which forms there are
    return await _place(call, parse_place(what, name="what"))


async def ask_view(call: Call, trail: str, *, full: bool = False) -> Result:
    """An ask as it stands, with its text and its history: in full, or the newest of it, each line cut."""
    ask, lines = await call.look(Doc(Ask, trail), Log(f"trail:{trail}", HISTORY_LIMIT))
    if ask is None:
        raise await missing(call, trail)
    history = await entries(call, lines)
    said = (await call.recall([ask.asked])).get(ask.asked)
    live = ask.as_of(call.now)
    content = _content(call, live, said)
    later = [e for e in history if e.id != ask.asked]
    return {
        "what": trail,
        **_standing(live, call.now),
        **content,
        "history": [e.shown() for e in later] if full else listed(later),
    }


def _content(call: Call, ask: Ask, said: Logged | None) -> Result:
    """All that a decision binds to, as it stands in the ledger."""
    if said is None or said.entry is None:
        return {"summary": "[redacted]", "digest": ask.digest}
    body = ask_rules.bound(ask, said.entry, space=call.caller.space)
    left_out = {"v", "trail", "space", "deadline", "valid_for"}
    shown = {
        k: v for k, v in body.items() if k not in left_out and (k != "payload" or said.entry.payload is not ABSENT)
    }
    times = {"asked_at": iso(ask.made), "deadline": iso(ask.deadline), "valid_for_s": ask.valid_for // 1000}
    who = {"byline": said.entry.byline, "responsible": ask.responsible}
    return {**shown, **times, **who, "digest": ask.digest}


def _standing(ask: Ask, now: int) -> Result:
    """How an ask stands and what to call next."""
    facts = {k: v for k, v in ask_rules.verdict_of(ask).items() if k not in ("by",)}
    decided = {"decided_by": ask.settled_by} if ask.settled_by else {}
    says = {"status": ask.state, "says": ask_rules.told(ask, now=now)}
    return {**facts, **decided, **says, **_next(ask)}


def _next(ask: Ask) -> Result:
    calls: dict[str, tuple[str, dict[str, str]]] = {
        "pending": ("logmem_follow", {"what": ask.id}),
        "approved": ("logmem_redeem", {"trail": ask.id}),
        "expired": ("logmem_ask", {"again": ask.id}),
        "lapsed": ("logmem_ask", {"again": ask.id}),
    }
    if ask.questioned:
        answer = {"where": ask.where, "kind": "answer", "answers": ask.id, "summary": "…"}
        return {"next": {"tool": "logmem_note", "args": answer}}
    if ask.state not in calls:
        return {}
    tool, args = calls[ask.state]
    return {"next": {"tool": tool, "args": args}}


async def _item(call: Call, id: str) -> Result:
    item, mark, lines = await call.look(Doc(Item, id), Doc(Mark, id), Log(f"trail:{id}", HISTORY_LIMIT))
    if item is None:
        raise await missing(call, id)
    history = await entries(call, lines)
    said = await call.recall([item.sent, item.ended])
    return {
        "what": id,
        **standing(item, mark, call.now, me=call.me, ended=said.get(item.ended)),
        "summary": said[item.sent].summary if item.sent in said else "[redacted]",
        "history": listed(history),
    }


async def _entry(call: Call, id: str) -> Result:
    found = await call.look(Written(id))
    if found is None:
        raise await missing(call, id)
    return {"what": id, "entry": found.shown(), "age": age(call.now - found.ts)}


async def _place(call: Call, name: str) -> Result:
    """The three slots of a place."""
    kind, _, id = name.partition(":")
    if kind in KINDS:
        doc, lines = await call.look(Doc(KINDS[kind], id), Log(name, LOG_LIMIT))
        if doc is None:
            raise await missing(call, name)
        slots: Result = {"created_by": getattr(doc, "by", ""), "created_at": iso(getattr(doc, "created", 0))}
        if isinstance(doc, Job):
            slots |= {k: v for k, v in (("assignee", doc.assignee), ("stage", doc.stage or "unopened")) if v}
    else:
        who, now, lines = await call.look(Doc(Who, name), Doc(Now, name), Log(name, LOG_LIMIT))
        if who is None:
            raise await missing(call, name)
        slots = {"who": shown_who(who), "now": shown_now(now, call.now)}
    log = await entries(call, lines)
    return {"what": name, **slots, "log": listed(log), "log_total": lines.size}


def shown_who(who: Who) -> Result:
    """Who, for results."""
    return {
        "id": who.id,
        **{k: v for k, v in (("name", who.name), ("role", who.role), ("skills", list(who.skills))) if v},
    }


def shown_now(now: Now | None, at: int) -> Result:
    """Now, for results, with its age."""
    if now is None:
        return {"doing": "", "blocked": False, "revision": 0}
    rest = {k: v for k, v in (("waiting_on", now.waiting_on), ("where", now.where)) if v}
    said = {"doing": now.doing, "blocked": now.blocked or False, **rest}
    return {**said, "since": iso(now.since), "age": age(at - now.since), "revision": now.revision}


async def entries(call: Call, lines: Lines) -> list[Logged]:
    """The entries of a place, oldest first."""
    found = [e for e in await call.look_each(Numbered(n) for n in lines.seqs) if e] if lines.seqs else []
    call.records.update((e.id, e) for e in found)
    return found


async def missing(call: Call, what: str) -> Refused:
    """The refusal for a thing that is not there, saying what was searched and how much the caller may read there."""
    readable = await call.look(Head())
    space = call.caller.space
    return Refused(
        "not_found",
        f"There is no {quoted(what)} in {space}. It was searched by that id; you may read {readable} entries there.",
        searched=space,
        readable=readable,
    )


async def follow(call: Call, *, what: str, since: str = "", wait: str | int = 25) -> Result:
    """Wait until an ask is decided, an item settled, or something is written to a place; at most `wait` seconds (50).

    On pending call it again with since = cursor. A time-out changes nothing.
    """
    if since and shape(since) is not Shape.ENTRY:
        raise Refused("malformed_id", "since is the cursor that the call before gave.", argument="since")
    kind = shape(what)
    if kind in (Shape.ASK, Shape.ITEM):
        return await _follow_trail(call, what, kind, since)
    return await _follow_place(call, parse_place(what, name="what"), since)


async def _follow_trail(call: Call, trail: str, kind: Shape, since: str) -> Result:
    lines = await call.look(Log(f"trail:{trail}", HISTORY_LIMIT))
    if kind is Shape.ASK:
        ask = await call.look(Doc(Ask, trail))
        if ask is None:
            raise await missing(call, trail)
        live = ask.as_of(call.now)
        state: Result = _standing(live, call.now)
        settled = live.state != "pending" or live.questioned
    else:
        item, mark = await call.look(Doc(Item, trail), Doc(Mark, trail))
        if item is None:
            raise await missing(call, trail)
        state = standing(item, mark, call.now)
        settled = state["status"] != "open"
    news = [e for e in await entries(call, lines) if not since or e.seq > int(since.partition("-")[2])]
    changed = settled or bool(since and news)
    shown = listed([e for e in news if e.entry and e.entry.kind not in ("asked", "handoff")])
    return _followed(trail, state, shown=shown, news=news, since=since, changed=changed)


async def _follow_place(call: Call, name: str, since: str) -> Result:
    lines = await call.look(Log(name, LOG_LIMIT))
    if not lines.size and await call.look(Doc(KINDS.get(name.partition(":")[0], Who), _doc_id(name))) is None:
        raise await missing(call, name)
    found = await entries(call, lines)
    news = [e for e in found if since and e.seq > int(since.partition("-")[2])]
    return _followed(name, {}, shown=listed(news), news=found, since=since, changed=bool(news))


def _doc_id(place: str) -> str:
    kind, _, id = place.partition(":")
    return id if kind in KINDS else place


def _followed(what: str, state: Result, *, shown: list[Any], news: list[Logged], since: str, changed: bool) -> Result:
    cursor = news[-1].id if news else since
    again = {"tool": "logmem_follow", "args": {"what": what, **({"since": cursor} if cursor else {})}}
    pending = {} if changed else {"pending": True, "next": again}
    return {"what": what, **state, "changes": shown, **({"cursor": cursor} if cursor else {}), **pending}


@cache
def release() -> str:
    """The version of LogMem that runs; looked up once, since that reads a file."""
    return version("logmem")


async def connection(call: Call) -> Result:
    """Who you are here, by which credential and until when; which space and why; what you may do."""
    await call.admit()
    caller, grant, promise = call.caller, call.grant, call.store.promise
    credential: Result = {"via": caller.via, "client": caller.client}
    if grant:
        credential |= {"key": grant.id, "expires_at": iso(grant.expires), "expires_in": span(grant.expires - call.now)}
        credential |= {k: v for k, v in (("responsible", grant.responsible), ("profile", grant.profile)) if v}
    return {
        **credential,
        "why": caller.why,
        "may": list(call.may),
        "policies": [rule.name for rule in RULES],
        "version": release(),
        "clock": iso(call.now),
        "promise": promise.text if promise else "not read yet",
    }
