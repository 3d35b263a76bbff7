"""What the page says of an argument is what the verb takes: just inside it does, just outside it does not."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from api.examples import ASK, CALLS, DIGEST
from api.meanings import MEANINGS, Meaning
from store.domain.bounds import VALUES
from store.domain.errors import Refused
from store.domain.moments import SECOND
from store.engine.embedded import Embedded
from store.engine.store import Store
from tests.handbook.page import EXAMPLES
from tests.handbook.record import Day, asked_of, begun

BASES: Mapping[tuple[str, str], Mapping[str, Any]] = {  # calls in which these arguments may stand
    ("handoff", "text"): {"to": "anyone"},
    ("handoff", "label"): {"to": "anyone", "text": "Read this"},
    ("decide", "answer"): {"trail": ASK, "verdict": "approve", "digest": DIGEST},
}
STANDS = {("stage", "stage"), ("decide", "verdict")}  # whether a value is possible depends on how it stands
TOO = ("too_long", "payload_too_large")  # say what they are about by their own words too


def tries(name: str, meant: Meaning) -> Iterator[tuple[Any, Any]]:
    """Pairs of values: the last inside a bound, the first outside it. None: there is no inside to try."""
    if name in VALUES:
        yield None, ["x"] * (VALUES[name] + 1)
    for value in meant.values:
        yield value, f"{value}-not"
    if meant.whole:
        yield meant.whole[0], meant.whole[0] - 1
        yield meant.whole[1], meant.whole[1] + 1
    if meant.lasts:
        low, high = (ms // SECOND for ms in meant.lasts)
        yield None, f"{high + 60} s"
        yield (low + 1, f"{low - 1} s") if low else (0, "-1 s")
    if meant.chars:
        yield "x" * meant.chars, "x" * (meant.chars + 1)
    if meant.size:
        yield None, "x" * (meant.size + 1)


CASES = [
    (verb, name)
    for verb, of in MEANINGS.items()
    for name, meant in of.items()
    if any(tries(name, meant)) and verb != "bio"  # whose profile has bounds within
]


@pytest.fixture
async def day(engine: Embedded, store: Store, http: httpx.AsyncClient) -> Day:
    """A day on which work was taken up and an ask waits."""
    day = await begun(engine, store, http)
    await asked_of(day)
    return day


async def test_the_bounds_of_arguments_are_those_that_hold(day: Day) -> None:
    """Whatever is just outside is refused, by that argument's name; whatever is just inside is not refused for it."""
    callers = json.loads(EXAMPLES.read_text(encoding="utf-8"))["callers"]
    wrong = []
    for inside in (False, True):  # what is inside may be done, and then other things cannot
        for verb, name in CASES:
            for good, bad in tries(name, MEANINGS[verb][name]):
                value = good if inside else bad
                if value is None or (inside and (verb, name) in STANDS):
                    continue
                call = BASES.get((verb, name), CALLS[verb])
                call = day.masks.real({k: v for k, v in call.items() if k != "action_id"} | {name: value})
                said = await refusal(day, callers[verb], verb, call)
                about = said is not None and (said.facts.get("argument") == name or said.code in TOO)
                if about == inside:
                    wrong.append((verb, name, str(value)[:30], str(said)[:100]))
    assert not wrong


async def refusal(day: Day, who: str, verb: str, call: Mapping[str, Any]) -> Refused | None:
    """What the verb says against the call."""
    try:
        await day.quietly(who, verb, **call)
    except Refused as no:
        return no
    return None
