"""Results in a space as full as a large fleet leaves it: small, and complete in text and structure alike."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from store.verbs.catalog import FLEET, ROWS, tools
from store.verbs.render import BRIEFS, text
from tests.surfaces.complete import missing
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
    """Text and structure of each result stay within 2,000 tokens each, and neither leaves out what the other says."""
    full = await fill(world)
    wrong: list[str] = []
    for verb, calls in ASKED.items():
        for who, args in calls:
            wrong += _faults(verb, args, await full.do(who, verb, args))
    assert wrong == []


def _without(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the payload or text that it is about."""
    lean = {key: value for key, value in result.items() if key not in ASKED_FOR}
    return {**lean, "entry": _without(lean["entry"])} if isinstance(lean.get("entry"), dict) else lean


def _faults(verb: str, args: Args, result: dict[str, Any]) -> list[str]:
    """What is wrong with a result."""
    lean = _without(result)
    said = text(ROWS[verb], lean)
    sizes = {"text": tokens(said), "structure": tokens(json.dumps(lean, ensure_ascii=False, separators=(",", ":")))}
    told = f"{verb} {str(args)[:60]}"
    found = [f"{told}: {size} tokens of {what}" for what, size in sizes.items() if size > LIMIT]
    lacks = [] if verb in BRIEFS else missing(result, text(ROWS[verb], result))
    return found + ([f"{told}: the text lacks {', '.join(lacks)}"] if lacks else [])
