"""Results in a space as full as a large fleet leaves it: small, and complete in text and structure alike."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from store.domain.errors import Refused
from store.verbs.catalog import FLEET, ROWS, tools
from store.verbs.render import BRIEFS, text
from tests.surfaces import largest
from tests.surfaces.complete import missing
from tests.surfaces.following import faults as faults_of_calls
from tests.surfaces.full import LABEL, LINE, LONG, OPTIONS, PAYLOAD, Args, fill
from tests.tokenizer import tokens
from tests.world import World

LIMIT = 2000  # tokens of a result, beside a payload or a text that was asked for
GROK, CODEX, ANA = "agent:grok", "agent:codex", "human:ana"
SKILLS = ["skill-0-1", *(line[:60] for line in OPTIONS)]

# What each tool is asked, by whom, in this order; `<name>` is an id of the space. People's verbs are not here: they are
# for the console, and no model pays for them.
ASKED: Mapping[str, list[tuple[str, Args]]] = {
    "start": [(GROK, {}), (CODEX, {"model": "test", "budget": 1500})],
    "bio": [(GROK, {"profile": {"name": LINE[:60], "role": LINE[:60], "skills": SKILLS, "about": LONG}})],
    "brief": [(GROK, {}), (CODEX, {"agent": "grok"}), (GROK, {"since": "1h"}), (GROK, {"budget": 1500})],
    "note": [
        (GROK, {"where": "job:big", "kind": "memo", "summary": LONG, "why": LONG, "tags": [LABEL] * 20}),
        (GROK, {"where": "job:big", "kind": "memo", "summary": LONG, "payload": PAYLOAD, "origin": LABEL}),
        (GROK, {"where": "job:big", "kind": "fact", "summary": LONG, "supersedes": "<fact>"}),
        (CODEX, {"where": "job:big", "kind": "answer", "summary": LONG, "answers": "<seat>"}),
        (GROK, {"where": "channel:new", "kind": "memo", "summary": "first"}),
    ],
    "assign": [
        (CODEX, {"job": "another", "title": LINE, "to": "grok", "milestones": [LINE] * 20, "tracks": [LINE] * 10})
    ],
    "update": [(GROK, {"job": "big", "summary": LONG, "doing": LONG, "blocked": LONG, "waiting_on": LABEL})],
    "stage": [(GROK, {"job": "big", "stage": "in_progress", "reason": LONG})],
    "open": [(GROK, {}), (CODEX, {"agent": "grok"}), (CODEX, {"plan": "q3"})],
    "jobs": [(GROK, {}), (GROK, {"stage": "todo"}), (GROK, {"plan": "q3"})],
    "status": [(GROK, {"doing": LONG, "blocked": LONG, "waiting_on": LABEL, "where": "job:big"})],
    "roster": [(GROK, {})],
    "feed": [
        (GROK, {}),
        (GROK, {"where": "job:big", "limit": 50}),
        (GROK, {"by": "codex"}),
        (GROK, {"kinds": ["fact"]}),
    ],
    "recall": [(GROK, {"query": "v1.4.0 tests"}), (GROK, {"query": "release/2026-07", "limit": 20})],
    "huddle": [(GROK, {"where": "big", "question": LONG, "seats": ["codex", "human:ana", "human:bo"]})],
    "sync": [
        (GROK, {}),
        (GROK, {"receipt": True, "slot": "morning", "outcome": "attention", "notes": LONG}),
        (GROK, {}),
    ],
    "view": [
        *(
            (CODEX, {"what": f"<{each}>"})
            for each in ("entry", "fact", "item", "huddle", "ask", "used", "mail", "seat")
        ),
        *((GROK, {"what": each}) for each in ("job:big", "agent:grok", "human:ana", "channel:new")),
    ],
    "follow": [
        *((GROK, {"what": f"<{each}>", "wait": 0}) for each in ("ask", "used", "item", "huddle")),
        (GROK, {"what": "job:big", "wait": 0}),
        (GROK, {"what": "job:big", "since": "<entry>", "wait": 0}),
    ],
    "spaces": [(GROK, {}), (ANA, {})],
    "connection": [(GROK, {}), (ANA, {})],
    "handoff": [
        (CODEX, {"to": "grok", "summary": LONG, "where": "job:big"}),
        (CODEX, {"to": "anyone", "text": LONG * 60, "label": LABEL}),
        (CODEX, {"to": "role:approver", "summary": LONG}),
        (GROK, {"requeue": "<dead>"}),
        (CODEX, {"withdraw": "<sent>"}),
    ],
    "accept": [(GROK, {"item": "<item>", "decline": True, "reason": LONG})],
    "ask": [
        (CODEX, {"where": "job:big", "summary": LONG, "payload": PAYLOAD, "options": OPTIONS}),
        (GROK, {"again": "<old>"}),
        (GROK, {"withdraw": "<ask>"}),
    ],
    "redeem": [(GROK, {"trail": "<used>", "payload": PAYLOAD})],
    "recap": [(GROK, {"notes": LONG, "next": [LINE] * 10})],
}
ASKED_FOR = ("payload", "text")  # beside which a result is measured


def test_each_tool_is_asked() -> None:
    """A tool that is added to the catalogue is asked here too."""
    assert sorted(row.verb for row in tools(FLEET)) == sorted(ASKED)


@pytest.mark.timeout(300)
async def test_every_result_is_small_and_complete_in_a_full_space(world: World) -> None:
    """Text and structure of each result stay within 2,000 tokens each, and neither leaves out what the other says.

    Each call that they name is one of a tool, complete but for what the agent is to write.
    """
    full = await fill(world)
    wrong: list[str] = []
    for verb, calls in ASKED.items():
        for who, args in calls:
            wrong += _faults(verb, args, await full.do(who, verb, args))
    assert wrong == []


def test_each_verb_that_writes_has_a_largest_call() -> None:
    """A row that is added to the catalogue and writes has one too."""
    writing = (row.verb for row in ROWS.values() if row.effect != "read" or row.turns)
    assert sorted(writing) == sorted(largest.LARGEST)


@pytest.mark.timeout(300)
async def test_the_largest_calls_have_small_results_too(empty: World) -> None:
    """With texts of the dearest signs, ids of 62 characters and 32 KiB of payload; refusals among them."""
    full = await largest.furnish(empty)
    calls = [(who, verb, args) for verb, some in largest.LARGEST.items() for who, args in some]
    wrong: list[str] = []
    for who, verb, args in (*calls, *largest.SHOWN):
        try:
            wrong += _faults(verb, args, await full.do(who, verb, args))
        except Refused as no:
            wrong.append(f"{verb} {str(args)[:60]}: {str(no)[:200]}")
    for who, verb, args, code in largest.REFUSED:
        with pytest.raises(Refused) as refused:
            await full.do(who, verb, args)
        assert refused.value.code == code
        wrong += _over(f"{verb} {code}", {"text": str(refused.value), "structure": _json(refused.value.body)})
    assert wrong == []


async def test_a_long_payload_is_named_by_its_length_and_viewed_whole(world: World) -> None:
    """A short one is said again; of a long one nobody asked for, its entry has all of it."""
    short, long = [
        (await world.do(GROK, "note", where="job:big", kind="memo", summary="x", payload=payload))["entry"]
        for payload in ({"n": 1}, {"n": "y" * 32_000})
    ]
    assert (short["payload"], long["payload_characters"], "payload" in long) == ({"n": 1}, 32_009, False)
    seen = await world.do(CODEX, "view", what=long["id"])
    assert seen["entry"]["payload"] == {"n": "y" * 32_000}


def _without(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the payload or text that it is about."""
    lean = {key: value for key, value in result.items() if key not in ASKED_FOR}
    whole = result.get("what") == lean["entry"]["id"] if isinstance(lean.get("entry"), dict) else False
    return {**lean, "entry": _without(lean["entry"])} if whole else lean


def _faults(verb: str, args: Args, result: dict[str, Any]) -> list[str]:
    """What is wrong with a result."""
    lean = _without(result)
    told = f"{verb} {str(args)[:60]}"
    found = _over(told, {"text": text(ROWS[verb], lean), "structure": _json(lean)})
    lacks = [] if verb in BRIEFS else missing(result, text(ROWS[verb], result))
    found += [f"{told}: {fault}" for fault in faults_of_calls(lean, text(ROWS[verb], lean))]
    return found + ([f"{told}: the text lacks {', '.join(lacks)}"] if lacks else [])


def _over(told: str, forms: Mapping[str, str]) -> list[str]:
    """Which forms of a result have too many tokens."""
    sizes = {form: tokens(said) for form, said in forms.items()}
    return [f"{told}: {size} tokens of {form}" for form, size in sizes.items() if size > LIMIT]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
