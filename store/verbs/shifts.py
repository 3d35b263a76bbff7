"""Shifts and slots: start, recap, bio, status. What an agent says of itself, and the Brief that it begins with."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..domain.ask import Ask
from ..domain.brief import BUDGET_DEFAULT, Brief, assemble, check_budget
from ..domain.commit import Commit, Put, Quote, put
from ..domain.entry import SUMMARY_LIMIT, Entry, Logged, check_summary
from ..domain.errors import Refused
from ..domain.item import Item, Mark
from ..domain.person import ROLES
from ..domain.shift import Shift, opened, recapped
from ..domain.slot import Now, Who, blocked_by, check_line, check_profile, check_revision, check_waiting, slug
from ..engine.reads import Doc
from .arguments import Blocked, Names
from .brief import Gathered, gather, head
from .call import Call, Result
from .canonical import canonical, check_payload
from .identity import mismatch
from .places import Place, resolve
from .reads import shown_now

MODEL_LIMIT = 80  # characters
NEXT_LIMIT, STEP_LIMIT = 10, 200  # steps of a recap; characters of one
EXTRA_LIMIT = 4096  # bytes of a profile's other keys in canonical form
ENDINGS = {"expired": "the deadline passed and nobody had decided", "lapsed": "it was approved and never used"}


async def start(call: Call, *, agent: str = "", model: str = "", budget: int = BUDGET_DEFAULT) -> Commit:
    """Begin or resume your shift.

    Call this first in every new chat: returns all that waits for you and where you left off, with the calls to
    make. budget: its tokens. agent: only compared with your key.
    """
    check_budget(budget)
    me = _agent(call, "start")
    if agent and agent not in (me, me.partition(":")[2]):
        raise mismatch(me, "agent", agent)
    check_line("model", model, MODEL_LIMIT)
    found = await gather(call, me, keep=True)
    shift, entries = _shift(call, found, model=model)
    resumed = not entries
    recap = next((e for e in entries if e.kind == "recap"), None)
    view = replace(found.view, recap=Logged(id=f"{call.now}-0", entry=recap)) if recap else found.view
    kept: Result = {"agent": me, "started": {"agent": me, "shift": shift.number, "resumed": resumed}}
    brief = assemble(view, head={**head(call, me), **kept}, budget=budget)
    puts: list[Put] = [] if resumed else [put(shift, recap=0) if recap else put(shift)]
    puts += await _model(call, found.view.who, model)
    for doc, said in _surfaced(call, brief, found, shift):
        puts.append(put(doc, ended=len(entries)) if said else put(doc))
        entries += [said] if said else []
    found.stand_on(call, [p.doc for p in puts])
    told = [d.ref for d in brief.shown]
    once = _once(brief.result)
    # What is kept has the names too, so that the parts stand in the same order; their text is shown once.
    result = {**kept, **dict.fromkeys(once), "brief": {"told": told}}
    return Commit(result=result, puts=tuple(puts), entries=tuple(entries), once=once)


async def brief_again(call: Call, result: Result, *, budget: int = BUDGET_DEFAULT, **_: Any) -> Result:
    """The Brief of a replayed start, as things stand now; the verdicts that it surfaced first are in it again."""
    found = await gather(call, call.me, told=result["brief"]["told"])
    kept = {"agent": result["agent"], "started": result["started"]}
    replayed = {**head(call, call.me), **kept, "replayed": True}
    return {**kept, **_once(assemble(found.view, head=replayed, budget=budget).result)}


def _once(result: Mapping[str, Any]) -> Result:
    """The part of a result that is never kept: it holds text."""
    return {k: v for k, v in result.items() if k not in ("ok", "space", "caller", "simulated", "agent", "started")}


def _agent(call: Call, verb: str) -> str:
    """The caller, who is an agent. Refuses invalid_argument."""
    if call.caller.is_agent:
        return call.me
    raise Refused(
        "invalid_argument",
        f"{verb} is about an agent's shift, and {call.me} is none. Nothing was written. "
        "To see what is outstanding: logmem_brief {agent}",
    )


def _shift(call: Call, found: Gathered, *, model: str) -> tuple[Shift, list[Entry]]:
    """The shift to work in, and what beginning it writes: nothing when the same credential resumes."""
    last, me = call.shift, call.me
    if last and last.open and last.credential == call.caller.credential:
        return last, []
    new = opened(last, agent=me, credential=call.caller.credential, now=call.now)
    told = {"payload": {"model": model}} if model else {}
    started = call.entry(me, "started", f"Shift {new.number} began.", **told)
    if not (last and last.open):
        return new, [started]
    doing = found.view.slot.doing if found.view.slot else ""
    why = f"another credential of {me} began shift {new.number}"
    text = f"Shift {last.number} ended without a recap: {why}.{f' It was at: {doing}' if doing else ''}"
    payload = {"shift": last.number, "next": [], "auto": True}
    recap = call.entry(me, "recap", text[:SUMMARY_LIMIT], payload=payload, why=why)
    return new, [recap, started]


async def _model(call: Call, who: Who | None, model: str) -> list[Put]:
    """The profile with the model that the agent runs on now."""
    if who is None or not model or model == who.model:
        return []
    fresh = await call.read(Doc(Who, call.me))
    return [put(replace(fresh, model=model))] if fresh else []


def _surfaced(
    call: Call, brief: Brief, found: Gathered, shift: Shift
) -> Iterator[tuple[Ask | Item | Mark, Entry | None]]:
    """What is written down about the lines that fitted: verdicts and refusals as told, items as surfaced.

    What time alone has ended is written down with it, since this commit is the next one.
    """
    stored = {doc.ref: doc for doc in found.view.documents}
    for live in brief.shown:
        match live:
            case Item(state="open") if not found.marks.get(live.id):
                yield Mark(id=live.id, at=call.now, by=call.me, shift=shift.number), None
            case Item(state="declined"):
                yield replace(live, told=call.now), None
            case Ask(state=state) if state != "approved":
                fresh = live != stored[live.ref]
                said = call.entry(live.where, state, ENDINGS[state], trail=live.id) if fresh else None
                yield replace(live, told=call.now), said


async def recap(call: Call, *, notes: str, next: Names | None = None, end: bool = True) -> Commit:
    """End your shift: summarize what you did today (notes) and what comes next.

    Your next Brief begins with it. end: false keeps the shift open.
    """
    me = _agent(call, "recap")
    check_summary(notes, name="notes")
    steps = [step for step in next or () if step.strip()]
    if len(steps) > NEXT_LIMIT or any(len(step) > STEP_LIMIT for step in steps):
        raise Refused(
            "too_long",
            f"next may have {NEXT_LIMIT} steps of {STEP_LIMIT} characters. Nothing was written.",
            argument="next",
        )
    await call.admit()
    credential = call.caller.credential
    shift, begins = recapped(call.shift, agent=me, credential=credential, now=call.now, end=end)
    entry = call.entry(me, "recap", notes, payload={"shift": shift.number, "next": steps})
    began = (call.entry(me, "started", f"Shift {shift.number} began with a recap."),) if begins else ()
    return Commit(
        result={"entry": Quote(0), "shift": {"number": shift.number, "open": shift.open}},
        puts=(put(shift, recap=0),),
        entries=(entry, *began),
    )


async def bio(call: Call, *, profile: dict[str, Any]) -> Commit:
    """Set your profile: name, role, skills[] and what else others should know of you.

    Name, role and skills that you leave out stay. Returns your who.
    """
    check_payload(profile, name="profile")
    who = _check_there(call, await call.read(Doc(Who, call.me)))
    said = check_profile(profile)
    extra = {k: v for k, v in profile.items() if k not in ("name", "role", "skills")}
    if extra and len(canonical(extra)) > EXTRA_LIMIT:
        raise Refused(
            "too_long",
            f"What profile says besides name, role and skills may have {EXTRA_LIMIT} bytes. Nothing was written.",
            argument="profile",
            limit=EXTRA_LIMIT,
        )
    new = replace(who, **said, since=call.now)
    if call.caller.is_agent and slug(new.role) in ROLES:
        raise Refused(
            "invalid_argument",
            f"The role {slug(new.role)} is a person's, given by an owner. Nothing was written. Name another one.",
            argument="profile",
        )
    full = {"name": new.name, "role": new.role, "skills": list(new.skills), **extra}
    line = f"{new.name}{f', {new.role}' if new.role else ''}"
    entry = call.entry(call.me, "bio", line, payload=full)
    result = {"who": Quote(0, "payload"), "entry": Quote(0, "stamp")}
    return Commit(result=result, puts=(put(new, said=0),), entries=(entry,))


def _check_there(call: Call, who: Who | None) -> Who:
    """The caller's own profile. Refuses not_found."""
    if who is None:
        raise Refused("not_found", f"{call.me} has no slots in {call.caller.space}. Nothing was written.")
    return who


async def status(
    call: Call, *, doing: str, blocked: Blocked = "", waiting_on: str = "", where: str = "", if_revision: int = -1
) -> Commit:
    """Set your Now, so that everybody sees what you are doing right now: I'm blocked on …, waiting on ….

    It replaces what you said before. if_revision: refused when it changed since. Returns now with its revision.
    """
    check_summary(doing, name="doing")
    text = blocked_by(blocked)
    check_waiting(waiting_on)
    who, now = await call.read(Doc(Who, call.me), Doc(Now, call.me))
    _check_there(call, who)
    if if_revision >= 0:
        check_revision(now, if_revision, who=call.me)
    place = await resolve(call, where) if where else Place("")
    new = replace(
        now or Now(id=call.me),
        doing=doing,
        blocked=text,
        waiting_on=waiting_on,
        where=place.name,
        since=call.now,
        revision=(now.revision if now else 0) + 1,
    )
    more = {k: v for k, v in (("blocked", text), ("waiting_on", waiting_on), ("where", place.name)) if v}
    entry = call.entry(call.me, "status", doing, payload={**more, "revision": new.revision})
    return Commit(
        result={"now": {"said": Quote(0, "summary"), "more": Quote(0, "payload"), "since": new.since}, **place.said},
        puts=(*place.puts, put(new, said=0)),
        entries=(entry,),
        once={"now": shown_now(new, call.now)},
    )


async def now_again(call: Call, result: Result, **_: Any) -> Result:
    """The Now that a replayed status set, from its entry."""
    now = result["now"]
    more = now["more"] if isinstance(now["more"], dict) else {}  # not where it was redacted
    slot = Now(id=call.me, doing=now["said"], since=now["since"], **more)
    return {**result, "now": shown_now(slot, call.now)}
