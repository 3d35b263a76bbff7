"""Badge and room: who calls, where, and with which rights."""

import asyncio
import json
from typing import Any

import pytest

from store.domain.entry import KINDS, NOTE_KINDS, SYSTEM_KINDS
from store.verbs.catalog import ROWS
from store.verbs.perform import perform
from tests.contract.test_gate import DAY, refused
from tests.world import Result, World, found

NOTE: dict[str, Any] = {"where": "job:x", "kind": "memo", "summary": "a"}


async def test_c01_an_agent_and_a_person_cannot_share_an_id(world: World) -> None:
    """Minting for a person's id, and adding a person under an agent's, are refused."""
    await refused("id_taken", world.operate("mint", name="ana"))
    await refused("id_taken", world.operate("human", name="grok"))
    await refused("id_taken", world.do("human:ana", "mint", name="bo"))


async def test_c02_another_name_than_the_credential_s_is_refused(world: World) -> None:
    """A name declared beside the credential is only compared, and the refusal says who the caller is."""
    body = json.dumps(NOTE).encode()
    before = await world.dump()
    no = await refused("identity_mismatch", world.post("agent:grok", "note", body, headers={"x-logmem-agent": "codex"}))
    assert "agent:grok" in no.message
    assert no.facts["caller"] == "agent:grok"
    assert await world.dump() == before
    same = await world.post("agent:grok", "note", body, headers={"x-logmem-agent": "grok"})
    assert same["caller"] == "agent:grok"


async def test_c02_an_entry_carries_the_credential_s_name_and_way(world: World) -> None:
    """Author and via are stamped by the server."""
    entry = (await world.do("agent:grok", "note", **NOTE))["entry"]
    assert (entry["by"], entry["via"]) == ("agent:grok", "token")
    entry = (await world.do("human:ana", "note", **NOTE))["entry"]
    assert (entry["by"], entry["via"]) == ("human:ana", "console")


async def test_c03_an_undeclared_unknown_or_contradicting_space_is_a_loud_error(world: World) -> None:
    """A person of two spaces must say which; a wrong one is refused with near matches among their own."""
    other = await found(world.engine, world.store)
    await other.operate("human", name="ana", role="member")

    async def people(header: str, argument: str) -> Result:
        body = json.dumps({"space": argument} if argument else {}).encode()
        return await world.post("human:ana", "people", body, headers={"x-logmem-space": header})

    no = await refused("scope_undeclared", people("", ""))
    assert no.facts["spaces"] == sorted([world.space, other.space])
    no = await refused("scope_unknown", people(world.space[:-1], ""))
    assert no.facts["near"] == [world.space]
    await refused("scope_mismatch", people(world.space, other.space))
    assert (await people("", other.space))["space"] == other.space


async def test_c03_a_space_of_others_is_as_unknown_as_none(world: World) -> None:
    """Whether a space exists is not told to who is no member of it."""
    other = await found(world.engine, world.store)
    texts = set()
    for name in (other.space, "t000000000000"):
        body = json.dumps({**NOTE, "space": name}).encode()
        no = await refused("scope_unknown", world.post("agent:grok", "note", body))
        texts.add(no.message.replace(name, "…"))
    assert len(texts) == 1


async def test_c03_a_missing_right_names_its_rule(world: World) -> None:
    """A key that may only read is refused a note, with the rule that refused."""
    await world.agent("reader", may=["read"])
    before = await world.dump()
    no = await refused("scope_denied", world.do("agent:reader", "note", **NOTE))
    assert no.facts["rule"] == "rights-of-the-credential"
    assert await world.dump() == before
    await refused("scope_denied", world.do("agent:grok", "mint", name="evil"))


async def test_c03_a_read_that_finds_nothing_says_what_was_searched(world: World) -> None:
    """Not found names the thing, the space, and how many entries the caller may read there."""
    no = await refused("not_found", world.do("agent:grok", "view", what="job:nothing"))
    assert "job:nothing" in no.message
    assert no.facts["searched"] == world.space
    assert isinstance(no.facts["readable"], int)


async def test_c05_a_revoked_key_ends_at_once_in_every_process(world: World) -> None:
    """After revoke the very next call is refused, also through another process's store and while waiting."""
    await world.do("agent:codex", "note", **NOTE)
    waiting = asyncio.create_task(world.do("agent:grok", "follow", what="job:x", wait=50))
    await world.do("human:ana", "revoke", name="grok")
    await refused("key_revoked", world.do("agent:grok", "note", **NOTE))
    await refused("key_revoked", asyncio.wait_for(waiting, 5))


async def test_c05_keys_are_leases_of_ninety_days_at_most(world: World) -> None:
    """A longer lease is refused; an expired key is refused by name; renewing brings it back."""
    await refused("invalid_argument", world.operate("mint", name="muse", days=91))
    await world.agent("muse", days=1)
    await world.pass_time(DAY)
    await refused("key_expired", world.do("agent:muse", "note", **NOTE))
    await world.operate("renew", name="muse", days=2)
    assert (await world.do("agent:muse", "note", **NOTE))["ok"]


async def test_c05_the_list_shows_rights_expiry_and_last_write_and_never_a_secret(world: World) -> None:
    """A key's row says whose, what it may, until when and when it last wrote."""
    await world.do("agent:grok", "note", **NOTE)
    listed = await world.do("human:ana", "keys")
    row = next(k for k in listed["keys"] if k["name"] == "grok")
    assert row["may"] == ["read", "write", "gate"]
    assert row["last_write"]
    assert row["responsible"] == "human:ana"
    secret = world.tokens["agent:grok"].rpartition("_")[2]
    assert secret not in str(listed)
    assert all(secret.encode() not in value for value in (await world.dump()).values() if isinstance(value, bytes))


async def test_c06_revoking_changes_nothing_of_what_is_remembered(world: World) -> None:
    """What an agent wrote stands after its key is gone."""
    entry = (await world.do("agent:grok", "note", **NOTE))["entry"]
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Go?")
    await world.operate("revoke", name="grok")
    assert (await world.do("agent:codex", "view", what=entry["id"]))["entry"] == entry
    assert (await world.do("human:ana", "view", what=ask["trail"]))["status"] == "pending"


async def test_c06_an_agent_whose_keys_are_all_revoked_leaves_the_fleet(world: World) -> None:
    """Once nothing is open with it; its page stays, and another key brings it back."""

    async def fleet() -> list[str]:
        rows = (await world.do("human:ana", "fleet"))["principals"]
        return sorted(row["id"] for row in rows if row["id"].startswith("agent:"))

    for _ in range(2):
        await world.agent("muse")
    item = (await world.do("agent:codex", "handoff", to="agent:muse", summary="Look at this"))["item"]
    keys = [k["key"] for k in (await world.do("human:ana", "keys"))["keys"] if k["name"] == "muse"]
    for key in keys:
        assert await fleet() == ["agent:codex", "agent:grok", "agent:muse"]
        await world.do("human:ana", "revoke", name=key)
    assert await fleet() == ["agent:codex", "agent:grok", "agent:muse"]
    await world.do("agent:codex", "handoff", withdraw=item)
    assert await fleet() == ["agent:codex", "agent:grok"]
    assert "agent:muse" in str(await world.do("human:ana", "fleet", principal="muse"))
    await world.agent("muse")
    assert await fleet() == ["agent:codex", "agent:grok", "agent:muse"]


@pytest.mark.parametrize("kind", [*sorted(KINDS - set(NOTE_KINDS)), "nonsense"])
async def test_c10_c11_reserved_kinds_name_the_tool_to_use(world: World, kind: str) -> None:
    """Kinds of people and tools are refused in note, with what to call instead, and nothing is written."""
    before = await world.dump()
    code = "invalid_argument" if kind == "nonsense" else "reserved_kind"
    no = await refused(code, world.do("agent:grok", "note", **{**NOTE, "kind": kind}))
    assert "logmem_" in no.message or kind in (*SYSTEM_KINDS, "nonsense")
    assert await world.dump() == before


async def test_c12_a_repeated_action_gets_the_first_result(world: World) -> None:
    """The same action_id and arguments give the first result, marked; others conflict; one entry stands."""
    one = await world.do("agent:grok", "note", action_id="n1", **NOTE)
    two = await world.do("agent:grok", "note", action_id="n1", **NOTE)
    assert two == {**one, "replayed": True}
    await refused("action_conflict", world.do("agent:grok", "note", action_id="n1", **{**NOTE, "summary": "b"}))
    assert (await world.do("agent:grok", "view", what="job:x"))["log_total"] == 1


async def test_c12_at_once_and_by_another_agent(world: World) -> None:
    """Twenty at once write one entry; the same action_id of another agent or verb is another action."""
    out = await asyncio.gather(*(world.do("agent:grok", "note", action_id="n2", **NOTE) for _ in range(20)))
    assert len({o["entry"]["id"] for o in out}) == 1
    assert [bool(o.get("replayed")) for o in out].count(False) == 1
    other = await world.do("agent:codex", "note", action_id="n2", **NOTE)
    assert other["entry"]["id"] != out[0]["entry"]["id"]


async def test_c12_the_record_of_an_action_holds_no_text(world: World) -> None:
    """What is kept for a replay are ids and codes; a minted secret is not shown again."""
    await world.do("agent:grok", "note", action_id="n3", **{**NOTE, "summary": "SILVER-KITE-4"})
    args = {"name": "muse"}
    one = await perform(world.store, world.operator, ROWS["mint"], args, action_id="m1")
    two = await perform(world.store, world.operator, ROWS["mint"], args, action_id="m1")
    assert "token" in one
    assert "token" not in two
    assert two["key"] == one["key"]
    records = {k: v for k, v in (await world.dump()).items() if ":done:" in k}
    assert records
    assert all(isinstance(v, bytes) and b"SILVER-KITE-4" not in v for v in records.values())
    assert all(isinstance(v, bytes) and one["token"][-20:].encode() not in v for v in records.values())


async def test_c12_people_s_rows_too(world: World) -> None:
    """A decision that is sent twice under one action_id is one decision."""
    ask = await world.do("agent:grok", "ask", where="job:x", summary="Go?")
    args = {"trail": ask["trail"], "verdict": "approve", "digest": ask["digest"]}
    one = await world.do("human:ana", "decide", action_id="d1", **args)
    assert await world.do("human:ana", "decide", action_id="d1", **args) == {**one, "replayed": True}


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ('{"a": [1, 9007199254740992]}', "payload.a[1]"),
        ('{"x": "\\ud800"}', "payload.x"),
        ('{"n": 1e400}', "payload.n"),
        ('{"n": NaN}', "payload.n"),
        ('{"k": 1, "k": 2}', "payload.k"),
        ("[" * 40 + "]" * 40, "payload"),
    ],
)
async def test_c60_a_body_that_two_parsers_read_differently_is_refused(world: World, payload: str, path: str) -> None:
    """Values without one canonical form are refused with their path, and nothing is written."""
    body = f'{{"where": "job:x", "kind": "memo", "summary": "a", "payload": {payload}}}'.encode()
    before = await world.dump()
    no = await refused("payload_not_canonical", world.post("agent:grok", "note", body))
    assert path in no.message
    assert await world.dump() == before


@pytest.mark.parametrize("verb", ["keys", "people", "inbox", "fleet", "board"])
async def test_c03_people_s_verbs_are_not_for_agents(world: World, verb: str) -> None:
    """What people read about keys and each other, no agent reads."""
    no = await refused("scope_denied", world.do("agent:grok", verb))
    assert no.facts["rule"] == "people-have-their-own-verbs"


async def test_c03_a_key_s_profile_narrows_what_it_may_call_on_every_surface(world: World) -> None:
    """A key of the core profile is refused what that does not list, by the rule's name."""
    await world.agent("muse", profile="core")
    assert (await world.do("agent:muse", "note", **NOTE))["ok"]
    no = await refused("scope_denied", world.do("agent:muse", "status", doing="a"))
    assert no.facts["rule"] == "profile-of-the-key"


async def test_a_key_that_ends_soon_stands_in_its_own_brief(world: World) -> None:
    """Its agent is told a week before, with whom to hand it to; others do not see it, and a renewed key is no news."""
    await world.pass_time(84 * DAY)
    await world.operate("renew", name="codex", days=90)
    (line,) = (await world.do("agent:grok", "brief"))["brief"]["key"]
    assert (line["key"], line["ends_in"]) == (world.badges["agent:grok"].id, "5d")
    assert line["next"]["args"]["to"] == "role:owner"
    assert "key" in (await world.do("agent:grok", "start"))["brief"]
    assert "key" not in (await world.do("agent:codex", "brief"))["brief"]
    assert "key" not in (await world.do("agent:codex", "brief", agent="grok"))["brief"]
    await world.do("agent:grok", "handoff", to="role:owner", summary="Renew my key")
    await world.operate("renew", name="grok", days=90)
    assert "key" not in (await world.do("agent:grok", "brief"))["brief"]
