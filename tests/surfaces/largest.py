"""A space in which all is as dear in tokens as it may be, and the largest call of each verb that writes."""

import hashlib
from collections.abc import Mapping
from typing import Any

from store.domain.pairing import Sender
from store.verbs.pairing import claim
from tests.surfaces.full import HOUR, Args, Full, many
from tests.world import World

DEAR = "\U00012000"  # a sign of cuneiform: four tokens


def dear(length: int) -> str:
    """A text of so many characters, each of them as dear as one can be."""
    return DEAR * length


def named(n: int) -> str:
    """An id of 62 characters, in digits and letters that are hardly ever a token together."""
    return hashlib.sha256(b"%d" % n).hexdigest()[:62]


ME, OTHER, OWNER = (f"{kind}:{named(n)}" for n, kind in enumerate(("agent", "agent", "human")))
SEATS = [f"agent:{named(n)}" for n in range(10, 21)]
FAR = [named(n) for n in range(30, 50)]  # jobs
JOB = f"job:{named(99)}"
TEXT, LINE, LABEL = dear(1000), dear(200), dear(120)
PAYLOAD = {"said": dear(8100)}  # 32 KiB
SKILLS = [f"{n}{dear(57)}" for n in range(30)]
TAGS = [f"{n}{dear(117)}" for n in range(20)]
PROFILE = {"name": dear(80), "role": dear(120), "skills": SKILLS, "about": dear(1000)}
ASK = {
    "where": JOB,
    "summary": TEXT,
    "payload": PAYLOAD,
    "options": [f"{n}{dear(110)}" for n in range(8)],
    "allow": ["approve", "reject"],
}
NOTE = {"where": JOB, "kind": "memo", "summary": TEXT, "why": TEXT, "payload": PAYLOAD, "tags": TAGS}

# In this order, `<name>` being an id of the space. No verb that writes is missing here.
LARGEST: Mapping[str, list[tuple[str, Args]]] = {
    "start": [(ME, {"model": dear(80)})],
    "bio": [(ME, {"profile": PROFILE})],
    "note": [
        (ME, {**NOTE, "trail": LABEL, "origin": LABEL, "answers": LABEL}),
        (ME, {**NOTE, "where": named(98), "payload": {"n": list(range(6700))}}),
        (ME, {**NOTE, "kind": "fact", "supersedes": "<fact>"}),
        (SEATS[0], {**NOTE, "kind": "answer", "answers": "<seat>"}),
    ],
    "assign": [
        (
            OTHER,
            {"job": named(97), "title": LINE, "plan": named(96), "milestones": [LINE] * 20, "tracks": [LINE] * 10}
            | {"needs": SKILLS[:10], "to": named(0), "reason": TEXT},
        )
    ],
    "update": [(ME, {"job": named(99), "summary": TEXT, "doing": TEXT, "blocked": TEXT, "waiting_on": LINE})],
    "stage": [(ME, {"job": named(99), "stage": "in_progress", "reason": TEXT})],
    "ask": [(ME, ASK), (ME, {"again": "<old>"}), (ME, {"withdraw": "<ask>"})],
    "redeem": [(ME, {"trail": "<used>", "payload": PAYLOAD})],
    "status": [(ME, {"doing": TEXT, "blocked": TEXT, "waiting_on": LINE, "where": JOB})],
    "handoff": [
        (OTHER, {"to": ME, "summary": TEXT, "where": JOB}),
        (OTHER, {"to": "anyone", "text": dear(8000), "label": LABEL}),
        (OTHER, {"withdraw": "<item>"}),
    ],
    "accept": [(ME, {"item": "<given>"}), (ME, {"item": "<other>", "decline": True, "reason": TEXT})],
    "huddle": [(ME, {"where": JOB, "question": TEXT, "seats": [OTHER, *SEATS], "closer": OTHER, "urgent": True})],
    "sync": [(ME, {"receipt": True, "slot": "closeout", "outcome": "attention", "notes": TEXT})],
    "decide": [(OWNER, {"trail": "<dec>", "digest": "<digest>", "verdict": "approve", "reason": TEXT})],
    "ask_back": [(OWNER, {"trail": "<back>", "text": TEXT})],
    "take_back": [(OWNER, {"trail": "<dec>", "reason": TEXT})],
    "mint": [(OWNER, {"name": named(95), "may": ["read", "write", "gate"]})],
    "renew": [(OWNER, {"name": named(1)})],
    "revoke": [(OWNER, {"name": named(10)})],
    "human": [(OWNER, {"name": named(94), "role": "owner", "excluded": True})],
    "link": [(OWNER, {"name": named(94)})],
    "four_eyes": [(OWNER, {"rule": "off"})],
    "rhythm": [(OWNER, {"zone": "America/New_York", "holiday": "2099-12-25", "reason": dear(60)})],
    "attend": [(OWNER, {"on": True})],
    "recap": [(ME, {"notes": TEXT, "next": [f"{n}{dear(198)}" for n in range(10)]})],
    "end_session": [(OWNER, {"session": "<session>"})],
    "pairing": [(OWNER, {})],
    "confirm": [(OWNER, {"claim": "<claim>", "yes": True})],
    "oncall": [(OWNER, {})],
    "quiet": [(OWNER, {"snooze": "1h", "hours": "22:00-07:00"})],
    "unpair": [(OWNER, {})],
    "space": [],  # its names are all that it takes, and it is made once
}
# What shows the same things again, without a payload or text that was asked for.
SHOWN: list[tuple[str, str, Args]] = [
    (ME, "view", {"what": "<huddle>"}),
    (ME, "view", {"what": JOB}),
    (ME, "view", {"what": ME}),
    (ME, "view", {"what": "<given>"}),
    (ME, "view", {"what": "<fact>"}),
    (ME, "view", {"what": "<old>"}),
    (ME, "follow", {"what": "<huddle>", "wait": 0}),
    (ME, "follow", {"what": "<used>", "wait": 0}),
    (ME, "sync", {}),
    (ME, "brief", {}),
    (ME, "feed", {}),
    (ME, "jobs", {}),
    (ME, "open", {}),
    (ME, "roster", {}),
    (OWNER, "keys", {}),
    (OWNER, "people", {}),
    (OWNER, "sessions", {}),
]
# Refusals that quote what is there, with their codes.
REFUSED: list[tuple[str, str, Args, str]] = [
    (ME, "sync", {"receipt": True, "slot": "closeout", "outcome": "pass", "notes": "again"}, "already_checked_in"),
    (OTHER, "assign", {"job": named(93), "title": "x", "to": OTHER, "needs": SKILLS[:10]}, "skill_missing"),
    (ME, "stage", {"job": named(92), "stage": "done"}, "open_obligations"),
    (OTHER, "note", {**NOTE, "kind": "synthesis", "answers": "<huddle>"}, "open_obligations"),
    (ME, "view", {"what": f"agent:{named(91)}"}, "not_found"),
    (ME, "accept", {"item": "<other>"}, "already_settled"),
    (ME, "redeem", {"trail": "<back>"}, "not_approved"),
]


async def furnish(world: World) -> Full:
    """Fill a new space for these calls; the day's closeout is open then."""
    full = Full(world)
    do, ids = full.do, full.ids
    await world.human(OWNER.partition(":")[2], "owner", signed_in=False)
    for who in (ME, OTHER, *SEATS):
        await world.agent(who.partition(":")[2])
    for who in (ME, *SEATS):
        await do(who, "bio", {"profile": PROFILE})
    old = await do(ME, "ask", {**ASK, "expires_in": "5m"})
    await world.pass_time(17 * HOUR + HOUR // 2)
    for _ in range(2):
        await world.sign_in(named(2))
    jobs = {"title": LINE, "to": ME, "needs": SKILLS[:10], "milestones": [LINE] * 20}
    await many(len(FAR), lambda n: do(OTHER, "assign", {"job": FAR[n], **jobs}))
    for job in (named(99), named(92)):
        await do(OTHER, "assign", {"job": job, **jobs})
    for stage in ("in_progress", "review"):
        await do(ME, "stage", {"job": named(92), "stage": stage})
    await many(20, lambda n: do(OTHER, "handoff", {"to": ME, "summary": TEXT, "where": f"job:{named(92)}"}))
    sent = [await do(OTHER, "handoff", {"to": ME, "summary": TEXT, "where": JOB}) for _ in range(3)]
    fact = await do(ME, "note", {**NOTE, "kind": "fact"})
    huddle = await do(
        ME, "huddle", {"where": JOB, "question": TEXT, "seats": [ME, *SEATS], "closer": OTHER, "urgent": True}
    )
    await many(5, lambda n: do(ME, "note", {**NOTE, "trail": huddle["huddle"], "why": f"{n}"}))
    asks = [await do(ME, "ask", {**ASK, "summary": f"{n}{dear(999)}"}) for n in range(4)]
    await do(
        OWNER, "decide", {"trail": asks[0]["trail"], "digest": asks[0]["digest"], "verdict": "approve", "reason": TEXT}
    )
    sessions = (await do(OWNER, "sessions", {}))["sessions"]
    code = (await do(OWNER, "pairing", {}))["code"]
    sender = Sender(update=1, user=4455, chat=4455, name=dear(130), username="x" * 64)
    claimed = await claim(world.store, code, sender)
    found: dict[str, Any] = {
        "old": old["trail"], "item": sent[0]["item"], "given": sent[1]["item"], "other": sent[2]["item"],
        "fact": fact["fact"],
        "noted": fact["entry"]["id"], "huddle": huddle["huddle"], "seat": huddle["seats"][1]["item"],
        "used": asks[0]["trail"], "dec": asks[1]["trail"], "digest": asks[1]["digest"], "back": asks[2]["trail"],
        "claim": claimed.id,
        "ask": asks[3]["trail"], "session": next(each["session"] for each in sessions if "here" not in each),
    }  # fmt: skip
    ids |= found
    return full
