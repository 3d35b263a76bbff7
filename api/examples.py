"""One call of each verb, as somebody would make it: for OpenAPI, and for docs/tools.md with what came of it.

The calls make up one day: a job is assigned, taken up, asked about, and published. Ids in them are examples; whoever
makes the calls for real puts real ones in their place (tests/handbook/record.py).
"""

from collections.abc import Mapping
from typing import Any

from store.domain.ids import new_fact, new_huddle, new_item, new_trail


def trail(n: int = 0) -> str:
    """The n-th trail of an ask."""
    return new_trail(bytes(range(n, n + 16)))


ASK, OTHER = trail(), trail(1)
ITEM, HUDDLE, FACT = new_item(b"handoff"), new_huddle(b"huddle "), new_fact(b"a fact ")
DIGEST = "5f" * 32
KEY, SESSION = "4b8c1f0e2d73", "a90c5be81f26"
CODE, CLAIM = "k7m2q-9x4ta", "0f5e2c71b6a94d38e0c2a517"
PAYLOAD = {"version": "1.4.0", "channel": "stable"}

CALLS: Mapping[str, Mapping[str, Any]] = {
    "start": {"agent": "grok", "model": "grok-4"},
    "bio": {"profile": {"name": "Grok", "role": "Builder", "skills": ["python", "releases"], "hours": "weekdays"}},
    "recap": {
        "notes": "v1.4.0 is built, approved and published. The announcement waits for the huddle.",
        "next": ["Close the huddle", "Announce v1.4.0"],
    },
    "note": {
        "where": "job:release",
        "kind": "fact",
        "summary": "Releases are built with Python 3.11; 3.12 breaks the installer",
        "origin": ITEM,
        "why": "The build of v1.4.0 failed with 3.12",
        "tags": ["build", "python"],
        "review_by": "60 days",
        "action_id": "release-1.4.0-python",
    },
    "assign": {
        "job": "release",
        "title": "Release v1.4.0",
        "to": "agent:grok",
        "plan": "autumn",
        "milestones": ["Built", "Published"],
        "tracks": ["Package", "Announcement"],
        "needs": ["releases"],
    },
    "update": {
        "job": "release",
        "summary": "Built v1.4.0; all tests pass",
        "doing": "Waiting for approval to publish",
        "waiting_on": "human:ana",
    },
    "stage": {"job": "release", "stage": "in_progress"},
    "open": {"agent": "agent:grok"},
    "ask": {
        "where": "job:release",
        "summary": "Publish v1.4.0 to the stable channel?",
        "payload": PAYLOAD,
        "risk": "normal",
        "approvers": ["human:ana"],
        "expires_in": "2h",
    },
    "redeem": {"trail": ASK, "payload": PAYLOAD, "action_id": "release-1.4.0-publish"},
    "status": {"doing": "Building v1.4.0", "where": "job:release"},
    "handoff": {
        "to": "agent:grok",
        "where": "job:release",
        "summary": "The changelog is merged; build and publish v1.4.0",
        "deadline": "8h",
    },
    "accept": {"item": ITEM, "reason": "Building it now"},
    "huddle": {
        "where": "job:release",
        "question": "Announce v1.4.0 today, or on Monday?",
        "seats": ["agent:codex", "human:ana"],
        "deadline": "4h",
        "urgent": True,
    },
    "sync": {"receipt": True, "slot": "morning", "outcome": "pass", "notes": "On job:release; nothing blocks me"},
    "brief": {"since": "2h", "budget": 600},
    "view": {"what": ITEM},
    "roster": {},
    "feed": {"where": "job:release", "kinds": ["progress", "fact"], "limit": 5},
    "follow": {"what": ASK, "wait": 25},
    "spaces": {},
    "jobs": {"stage": "in_progress", "plan": "autumn"},
    "recall": {"query": "which python builds releases", "kinds": ["fact"], "limit": 3},
    "connection": {},
    "decide": {"trail": ASK, "verdict": "approve", "digest": DIGEST, "reason": "The tests are green"},
    "ask_back": {"trail": ASK, "text": "Which registry does it go to?"},
    "take_back": {"trail": OTHER, "reason": "It is still in use"},
    "inbox": {"trail": ASK},
    "fleet": {},
    "board": {"plan": "autumn"},
    "syncs": {"weeks": 1},
    "mint": {"name": "grok", "days": 30},
    "keys": {},
    "renew": {"name": "grok", "days": 60},
    "revoke": {"name": "codex"},
    "people": {},
    "human": {"name": "ana", "role": "owner"},
    "link": {"name": "ana"},
    "sessions": {"person": "human:ana"},
    "end_session": {"session": SESSION},
    "pairing": {"person": "ana"},
    "claims": {},
    "confirm": {"claim": CLAIM, "yes": True},
    "unpair": {},
    "oncall": {"on": True},
    "quiet": {"snooze": "2h", "hours": "22:00-07:00"},
    "space": {"zone": "UTC"},
    "four_eyes": {"rule": "on"},
    "rhythm": {"days": "mon-fri", "holiday": "2026-12-25", "reason": "Christmas"},
    "attend": {"on": True},
}
