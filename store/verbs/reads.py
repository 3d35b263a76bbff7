"""Pure readers: view, connection."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version

from ..domain import ask as ask_rules
from ..domain import huddle as huddle_rules
from ..domain.ask import Ask
from ..domain.entry import ABSENT, PLACEHOLDER, Logged, sequence
from ..domain.errors import Refused
from ..domain.grant import end
from ..domain.huddle import Huddle
from ..domain.ids import Shape, known, parse_place, shape
from ..domain.item import Item, Mark, standing
from ..domain.job import Job
from ..domain.listing import BUDGET as LOG_BUDGET
from ..domain.listing import Listed, listed
from ..domain.moments import age, iso, span
from ..domain.policy import RULES
from ..domain.slot import Now, Who
from ..domain.space import Channel
from ..engine.reads import Doc, Lines, Log, Numbered, Written
from . import context
from .approvers import audience
from .asks import words
from .call import Call, Result
from .facts import fact_view, standing_of
from .job_lists import job_view
from .mailbox import mail_text
from .paging import price
from .places import missing, unclear

LOG_LIMIT = 10  # entries of a Log that `view` shows
HUDDLE_BUDGET = 700  # tokens of what was said in a huddle: its seats stand beside that
HISTORY_LIMIT = 50  # entries of a trail
UNREACHED = "no_approver_reachable"
DELIVERED = 5  # people of whom `view` says how far their card has come
ROOM = 1850  # tokens that slots and Log of a job have together


async def view(call: Call, *, what: str) -> Result:
    """Look at one thing: its state, text and newest history.

    what: an ask or item by its trail, a huddle (hd_…), fact (fa_…), mailbox note (mb_…), an entry in full by its
    id, or job:x, channel:x, agent:x, human:x.
    """
    kind = shape(what)
    if kind is Shape.ASK:
        shown = await ask_view(call, what)
        delivery = await _delivery(call, what)
        return {**{k: v for k, v in shown.items() if k != "warning" or not delivery}, **delivery}
    if kind is Shape.ITEM:
        return await _item(call, what)
    if kind is Shape.HUDDLE:
        return await _huddle(call, what)
    if kind is Shape.FACT:
        return await fact_view(call, what)
    if kind is Shape.MAILBOX_NOTE:
        return {"what": what, **await mail_text(call, what)}
    if kind is Shape.ENTRY:
        return await _entry(call, what)
    if kind is None and ":" not in what:
        try:
            known(what, name="what")  # says which forms there are
        except Refused as no:
            raise await unclear(call, what, no) from None
    return await _place(call, parse_place(what, name="what"))


async def ask_view(call: Call, trail: str, *, full: bool = False) -> Result:
    """An ask as it stands, with its text and its history: in full, or the newest of it, each line cut.

    What it points at is in the history however much was written since; `left_out` counts what is not.
    """
    lines, ask = await call.look(Log(f"trail:{trail}", HISTORY_LIMIT), Doc(Ask, trail))
    if ask is None:
        raise await missing(call, trail)
    later = [e for e in await entries(call, lines, [ask.asked, *pointed_at(ask)]) if e.id != ask.asked]
    live = ask.as_of(call.now)
    history = Listed([e.shown() for e in later], 0) if full else listed(later, pointed=pointed_at(ask))
    left = max(0, lines.size - 1 - len(history.lines))  # all but the asking itself
    return {
        "what": trail,
        **ask_standing(live, call.now, me=call.me, said=call.records.get(ask_rules.grounds(live))),
        **await _content(call, live),
        "history": history.lines,
        **({"left_out": left} if left else {}),
    }


async def _delivery(call: Call, trail: str) -> Result:
    """How far the cards of a pending ask have come, and whether anybody can be reached, as that is now."""
    ask = await call.look(Doc(Ask, trail)) if call.space.telegram else None
    if ask is None or ask.as_of(call.now).state != "pending":
        return {}
    there = await audience(call, ask)
    shown = dict(list(there.delivery.items())[:DELIVERED])
    left = len(there.delivery) - len(shown)
    more = {"delivery_left_out": left} if left else {}
    return {"delivery": shown, **more, **({"warning": there.warning} if there.warning else {})}


def pointed_at(doc: Ask | Item | Huddle) -> list[str]:
    """The entries that say how a thing stands: they are shown however much was written since."""
    if isinstance(doc, Huddle):
        return [doc.synthesis] if doc.synthesis else []
    ids = (doc.question if doc.questioned else "", doc.decided, doc.ended) if isinstance(doc, Ask) else (doc.ended,)
    return [id for id in ids if id]


async def _content(call: Call, ask: Ask) -> Result:
    """All that a decision binds to, as it stands in the ledger; else `altered` or `redacted`, visibly."""
    try:
        said = await words(call, ask)
    except Refused as no:
        code = "altered" if no.code == "digest_mismatch" else "redacted"
        warning = no.message.replace(" Nothing ran, nothing changed.", "")  # nothing was tried
        return {"summary": f"[{code}]", code: True, "warning": warning, "digest": ask.digest}
    body = ask_rules.bound(ask, said, space=call.caller.space)
    left_out = {"v", "trail", "space", "deadline", "valid_for"}
    shown = {k: v for k, v in body.items() if k not in left_out and (k != "payload" or said.payload is not ABSENT)}
    times = {"asked_at": iso(ask.made), "deadline": iso(ask.deadline), "valid_for_s": ask.valid_for // 1000}
    who = {"byline": said.byline, "responsible": ask.responsible}
    return {**shown, **times, **who, "digest": ask.digest}


def ask_standing(ask: Ask, now: int, *, me: str, said: Logged | None) -> Result:
    """How an ask stands and what `me` can call next; `said` is the entry in which a person said why."""
    facts = {k: v for k, v in ask_rules.verdict_of(ask, said=said).items() if k not in ("by",)}
    decided = {"decided_by": ask.settled_by} if ask.settled_by else {}
    says = {"status": ask.state, "says": ask_rules.told(ask, now=now, said=said), **warned(ask)}
    return {**facts, **decided, **says, **_next(ask, me=me)}


def warned(ask: Ask) -> Result:
    """That nobody who may decide it could be reached, since a card did not arrive."""
    return {"warning": UNREACHED} if ask.unheard and ask.state == "pending" else {}


def _next(ask: Ask, *, me: str) -> Result:
    if me != ask.by:  # all but waiting is the requester's alone
        follow = {"tool": "logmem_follow", "args": {"what": ask.id}}
        return {"next": follow} if ask.state == "pending" else {}
    calls: dict[str, tuple[str, dict[str, str]]] = {
        "pending": ("logmem_follow", {"what": ask.id}),
        "approved": ("logmem_redeem", {"trail": ask.id}),
        "expired": ("logmem_ask", {"again": ask.id}),
        "lapsed": ("logmem_ask", {"again": ask.id}),
    }
    if ask.questioned:
        answer = {"where": ask.where, "kind": "answer", "answers": ask.id, "summary": PLACEHOLDER}
        return {"next": {"tool": "logmem_note", "args": answer}}
    if ask.state not in calls:
        return {}
    tool, args = calls[ask.state]
    return {"next": {"tool": tool, "args": args}}


async def _item(call: Call, id: str) -> Result:
    lines, item, mark = await call.look(Log(f"trail:{id}", HISTORY_LIMIT), Doc(Item, id), Doc(Mark, id))
    if item is None:
        raise await missing(call, id)
    pointed = [item.sent, *pointed_at(item)]
    facts = await context.shown(call, item)
    budget = LOG_BUDGET - (context.BUDGET if facts else 0)
    history = listed(await entries(call, lines, pointed), pointed=pointed, budget=budget)
    said = call.records
    left = max(0, lines.size - len(history.lines))
    return {
        "what": id,
        **standing(item, mark, call.now, me=call.me, ended=said.get(item.ended)),
        "summary": said[item.sent].summary if item.sent in said else "[redacted]",
        **facts,
        "history": history.lines,
        **({"left_out": left} if left else {}),
    }


async def _huddle(call: Call, id: str) -> Result:
    """A huddle with its question and seats, and what was said in it; each answer whole under its entry's id."""
    lines, huddle = await call.look(Log(f"trail:{id}", HISTORY_LIMIT), Doc(Huddle, id))
    if huddle is None:
        raise await missing(call, id)
    seats = await seats_of(call, huddle)
    found = [e for e in await entries(call, lines, [huddle.asked, *pointed_at(huddle)]) if e.id != huddle.asked]
    history = listed(found, pointed=pointed_at(huddle), budget=HUDDLE_BUDGET)
    left = max(0, lines.size - 1 - len(history.lines))  # all but the question itself
    said = call.records.get(huddle.asked)
    return {
        "what": id,
        **huddle_rules.standing(huddle, seats, call.now, me=call.me),
        "question": said.summary if said else "[redacted]",
        "history": history.lines,
        **({"left_out": left} if left else {}),
    }


async def seats_of(call: Call, huddle: Huddle) -> list[Item]:
    """The seats of a huddle, as they were written."""
    return [seat for seat in await call.look_each(Doc(Item, id) for id in huddle.seats) if seat]


async def _entry(call: Call, id: str) -> Result:
    found = await call.look(Written(id))
    if found is None:
        raise await missing(call, id)
    stands = await standing_of(call, found) if found.entry and found.entry.fact else {}
    return {"what": id, "entry": found.shown(), "age": age(call.now - found.ts), **stands}


async def _place(call: Call, name: str) -> Result:
    """The three slots of a place."""
    kind, _, id = name.partition(":")
    if kind == "job":
        return await _job(call, id)
    if kind == "channel":
        channel, lines = await call.look(Doc(Channel, id), Log(name, LOG_LIMIT))
        if channel is None:
            raise await missing(call, name)
        slots: Result = {"created_by": channel.by, "created_at": iso(channel.created)}
    else:
        who, now, lines = await call.look(Doc(Who, name), Doc(Now, name), Log(name, LOG_LIMIT))
        if who is None:
            raise await missing(call, name)
        slots = {"who": shown_who(who), "now": shown_now(now, call.now)}
    return {"what": name, **slots, **await _log(call, name, lines, slots)}


async def _job(call: Call, id: str) -> Result:
    """A job's three slots, and what is open in it."""
    name = f"job:{id}"
    job, now, lines = await call.look(Doc(Job, id), Doc(Now, name), Log(name, LOG_LIMIT))
    if job is None:
        raise await missing(call, name)
    who, now, holds = await job_view(call, job, now)
    slots: Result = {"who": who, "now": shown_now(now, call.now), **holds}
    return {"what": name, **slots, **await _log(call, name, lines, slots)}


async def _log(call: Call, place: str, lines: Lines, slots: Result) -> Result:
    """The newest of a place's Log beside its slots, how much there is in all, and where to read the rest."""
    log = listed(await entries(call, lines), budget=min(LOG_BUDGET, ROOM - price(slots)))
    rest = {"next": {"tool": "logmem_feed", "args": {"where": place}}} if len(log.lines) < lines.size else {}
    return {"log": log.lines, "log_total": lines.size, **rest}


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


def entries_of(lines: Lines, ids: Iterable[str] = ()) -> list[Numbered]:
    """What `entries` reads, for those who read more with it."""
    return [Numbered(n) for n in sorted({*lines.seqs, *(sequence(id) for id in ids if id)})]


async def entries(call: Call, lines: Lines, ids: Iterable[str] = ()) -> list[Logged]:
    """The entries of a place, and those with these ids, oldest first; in one round trip, and remembered."""
    reads = entries_of(lines, ids)
    found = [e for e in await call.look_each(reads) if e] if reads else []
    call.records.update((e.id, e) for e in found)
    return found


@cache
def release() -> str:
    """The version of LogMem that runs; looked up once, since that reads a file."""
    return version("logmem")


async def connection(call: Call) -> Result:
    """Who am I connected as, by which credential, when does it expire.

    Also which policies apply, server version and clock.
    """
    await call.admit()
    caller, grant, promise = call.caller, call.grant, call.store.promise
    credential: Result = {"via": caller.via, "client": caller.client}
    if grant:
        ends = end(grant, moved=call.moved)
        credential |= {"key": grant.id, "expires_at": iso(ends), "expires_in": span(ends - call.now)}
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
