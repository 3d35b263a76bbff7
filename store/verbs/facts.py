"""Facts: what a note of kind `fact` makes, and what is said of one."""

import secrets
from collections.abc import Iterable, Sequence
from typing import NoReturn

from ..domain import fact as rules
from ..domain.ask import Ask
from ..domain.commit import put
from ..domain.entry import Logged
from ..domain.errors import Refused
from ..domain.fact import Fact
from ..domain.ids import Shape, known, new_fact, shape
from ..domain.listing import lighter
from ..engine.reads import Doc, Range, Written
from .arguments import Length
from .beside import NOTHING, Beside
from .call import Call, Result
from .places import missing


async def made(
    call: Call, *, where: str, kind: str, review_by: Length, supersedes: str, about: Sequence[str]
) -> Beside:
    """What a note does that is a fact; of another kind, nothing.

    `about` is what it names as its grounds: if that is an ask that was decided, it is never reviewed unless said.
    Refuses invalid_argument, malformed_id, not_found, stale.
    """
    if kind != "fact":
        _check_left_out(kind, review_by=review_by, supersedes=supersedes)
        return NOTHING
    await call.admit()
    usual = 0 if review_by == "" and await _decided(call, about) else rules.REVIEW_USUAL
    until = rules.review(review_by, now=call.now, usual=usual)
    id = new_fact(secrets.token_bytes(7))
    old = await _found(call, supersedes) if supersedes else None
    puts, before, first = [], "", id
    if old:
        newest = await newest_of(call, old)
        puts.append(put(rules.supersede(old, new=id, newest=newest, now=call.now)))
        before, first = old.id, old.first
    new = Fact(id=id, by=call.me, where=where, made=call.now, first=first, review_by=until, supersedes=before)
    fields = {"fact": id, "review_by": rules.reviewed(until), "supersedes": before}
    return Beside((put(new, said=0), *puts), {k: v for k, v in fields.items() if v}, fields)


def _check_left_out(kind: str, **given: Length) -> None:
    for name, value in given.items():
        if value != "":
            raise Refused(
                "invalid_argument",
                f"{name} is for facts, and this is a {kind}. Nothing was written. Leave it out, or say kind: fact.",
                argument=name,
            )


async def _decided(call: Call, about: Sequence[str]) -> bool:
    """Whether one of these is an ask that somebody decided."""
    trails = dict.fromkeys(id for id in about if shape(id) is Shape.ASK)
    asks = await call.look_each(Doc(Ask, id) for id in trails) if trails else []
    return any(ask.decided for ask in asks if ask)


async def _found(call: Call, id: str) -> Fact:
    """The fact that is meant by its id or by that of its entry, read for a decision."""
    what, _ = known(id, (Shape.FACT, Shape.ENTRY), name="supersedes")
    name = id
    if what is Shape.ENTRY:
        said = await call.look(Written(id))
        if said is None:
            raise await missing(call, id)
        if said.entry is None or not said.entry.fact:
            _no_fact(id, said.entry.kind if said.entry else said.gone.strip("[]"))
        name = said.entry.fact
    fact = await call.read(Doc(Fact, name))
    if fact is None:
        raise await missing(call, name)
    return fact


def _no_fact(id: str, kind: str) -> NoReturn:
    raise Refused(
        "invalid_argument",
        f"{id} is no fact: it is {kind}. Nothing was written. To point at it: origin, in place of supersedes.",
        argument="supersedes",
    )


async def newest_of(call: Call, fact: Fact) -> str:
    """The fact that stands now in place of this one: itself, unless it was superseded."""
    if not fact.superseded_by:
        return fact.id
    page = await call.look(Range("newest", fact.first, 1))
    return page.ids(Fact)[0] if page.members else fact.superseded_by


async def standing_in_place(call: Call, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that stand now in place of those of these that were superseded, in two round trips for any number."""
    chains = list(dict.fromkeys(fact.first for fact in facts if fact.superseded_by))
    pages = await call.look_each(Range("newest", first, 1) for first in chains) if chains else []
    ids = [id for page in pages for id in page.ids(Fact)]
    return [fact for fact in await call.look_each(Doc(Fact, id) for id in ids) if fact] if ids else []


async def fact_view(call: Call, id: str) -> Result:
    """A fact as it stands, with its entry. A superseded one stays, and says by what."""
    fact = await call.look(Doc(Fact, id))
    if fact is None:
        raise await missing(call, id)
    newest = await newest_of(call, fact)
    said = (await call.recall([fact.said])).get(fact.said)
    shown = {"entry": lighter(said.shown())} if said else {"summary": "[redacted]"}
    return {"what": id, **rules.standing(fact, call.now, newest=newest), **shown}


async def standing_of(call: Call, said: Logged) -> Result:
    """How the fact stands that an entry made."""
    fact = await call.look(Doc(Fact, said.entry.fact)) if said.entry else None
    if fact is None:
        return {}
    shown = rules.standing(fact, call.now, newest=await newest_of(call, fact))
    return {k: v for k, v in shown.items() if k not in ("age", "review_by", "supersedes")}
