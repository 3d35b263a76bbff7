"""What an attack on the running system found: each is refused, or does no harm, for good."""

import json
from typing import Any

import pytest

from store.domain.entry import Entry, entry_of
from store.engine.client import Target, open_client
from store.ledger.verify import verify
from tests.contract.test_gate import asked, decided, refused
from tests.world import World

NOTE: dict[str, Any] = {"where": "job:x", "kind": "memo", "summary": "a"}


async def test_a_program_without_a_name_leaves_everything_readable(world: World) -> None:
    """A write by a program that does not name itself is read like any other, by agents and people."""
    ask = await asked(world, where="job:x")
    body = json.dumps({**NOTE, "trail": ask["trail"]}).encode()
    for name in ("/1.0", "/"):
        await world.post("agent:codex", "note", body, headers={"user-agent": name, "x-logmem-client": ""})
    assert (await world.do("agent:codex", "view", what="job:x"))["log"][-1]["byline"].startswith("codex (via ")
    assert (await world.do("agent:grok", "view", what=ask["trail"]))["history"]
    assert (await world.do("human:ana", "inbox", trail=ask["trail"]))["can"]
    assert (await world.do("agent:grok", "brief"))["ok"]


def test_an_entry_is_what_its_stored_form_says_also_when_parts_are_empty() -> None:
    """Nothing that is left out of the stored form is needed to read it."""
    entry = Entry(where="job:x", kind="memo", by="agent:grok", via="token", summary="a")
    assert entry_of(entry.body()) == entry


async def test_one_unreadable_record_does_not_take_the_others_with_it(world: World) -> None:
    """A record of a form that this version cannot read is shown as that, and all around it as ever."""
    await world.do("agent:grok", "note", **NOTE)
    log = world.keys.segment(0)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        seq = int(await admin.execute_command("HGET", world.keys.head, "seq"))  # type: ignore[no-untyped-call]  # the library's
        raw = bytes(await admin.execute_command("HGET", log, seq))  # type: ignore[no-untyped-call]  # the library's
        await admin.execute_command("HSET", log, seq, raw[: raw.index(b"{")] + b'{"later":1}')  # type: ignore[no-untyped-call]  # the library's
    await world.do("agent:grok", "note", **{**NOTE, "summary": "b"})
    log_lines = (await world.do("agent:codex", "view", what="agent:grok"))["log"]
    assert [e["summary"] for e in log_lines][-2:] == ["[unreadable]", "b"]
    assert not (await verify(world.store, world.space)).ok


async def test_c24_a_decision_that_no_entry_bears_out_runs_nothing(world: World) -> None:
    """Who can write documents can call an ask approved; without its decided entry nothing is redeemed."""
    ask = await asked(world)
    key = world.keys.doc("ask", ask["trail"])
    raw = bytes(await world.store.writer.execute_command("HGET", key, "doc"))  # type: ignore[no-untyped-call]  # the library's
    doc = json.loads(raw) | {"state": "approved", "settled": 10**13, "settled_by": "human:ana", "via": "console"}
    await world.store.writer.execute_command("HSET", key, "doc", json.dumps(doc))  # type: ignore[no-untyped-call]  # the library's
    await refused("digest_mismatch", world.do("agent:grok", "redeem", trail=ask["trail"]))


async def test_c20_who_made_the_key_is_no_second_pair_of_eyes(world: World) -> None:
    """Naming somebody else responsible does not let an owner decide the high asks of a key that they minted."""
    await world.human("cy", "approver")
    token = (await world.do("human:ana", "mint", name="muse", responsible="cy"))["token"]
    world.remember("agent:muse", token)
    ask = await world.do("agent:muse", "ask", where="job:x", summary="Drop it?", risk="high")
    assert [a["who"] for a in ask["asked"]] == ["human:bo"]
    await refused("not_an_approver", decided(world, ask, who="human:ana"))
    await refused("not_an_approver", decided(world, ask, who="human:cy"))


async def test_c56_only_the_requester_answers(world: World) -> None:
    """Another agent's answer on an ask is refused; it may note what it knows."""
    ask = await asked(world)
    await world.do("human:bo", "ask_back", trail=ask["trail"], text="Which region?")
    answer = {"where": "job:x", "kind": "answer", "summary": "eu", "answers": ask["trail"]}
    await refused("not_yours", world.do("agent:codex", "note", **answer))
    assert (await world.do("agent:grok", "note", **answer))["ok"]


@pytest.mark.parametrize(
    ("header", "values", "code"),
    [
        ("x-logmem-space", ("{space}", "elsewhere"), "scope_mismatch"),
        ("x-logmem-agent", ("grok", "codex"), "identity_mismatch"),
        ("authorization", ("Bearer {token}", "Bearer lmk_0_0"), "unauthenticated"),
    ],
)
async def test_c02_c03_a_header_that_comes_twice_must_agree(
    world: World, header: str, values: tuple[str, ...], code: str
) -> None:
    """Of two declarations none is silently taken for the one that counts."""
    assert world.http
    token = world.tokens["agent:grok"]
    said = [(header, v.format(space=world.space, token=token)) for v in values]
    proof = [] if header == "authorization" else [("authorization", f"Bearer {token}")]
    reply = await world.http.post("/api/tools/note", json=NOTE, headers=[*proof, *said])
    assert reply.json()["error"]["code"] == code


async def test_empty_rights_are_not_all_rights(world: World) -> None:
    """A key with an empty list of rights is refused rather than minted with every right."""
    before = await world.dump()
    await refused("invalid_argument", world.do("human:ana", "mint", name="muse", may=[]))
    assert await world.dump() == before


@pytest.mark.parametrize("zone", ["Mars/Phobos", "../../etc/passwd", "", "\x00"])
async def test_a_zone_that_is_none_is_refused(world: World, zone: str) -> None:
    """A space is not made in a time zone that does not exist."""
    world.space = "t-other"
    await refused("invalid_argument", world.operate("space", zone=zone))
