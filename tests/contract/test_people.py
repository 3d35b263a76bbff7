"""People and their credentials: links, roles, keys, and what a session may enter."""

import asyncio
import json
from typing import Any

import pytest

from store.domain.entry import Entry
from store.domain.grant import Grant
from store.domain.moments import DAY, HOUR, MINUTE, moment
from store.domain.space import Channel
from store.engine.client import Target, open_client
from store.engine.globals import Globals
from store.engine.reads import Doc, Head, Numbered
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge, read_token
from store.verbs.perform import perform
from store.verbs.sessions import open_spaces, sign_in, sign_out
from tests.contract.test_gate import refused
from tests.world import Result, World, found

NOTE: dict[str, Any] = {"where": "job:x", "kind": "memo", "summary": "a"}


def badge(token: str, space: str = "") -> Badge:
    """What a surface makes of a token."""
    kind, via, id, secret = read_token(token)
    return Badge(kind, id, secret, via, "test", spaces=(("test", space),) if space else ())


async def linked(world: World, who: str, name: str) -> str:
    """The token of a session that was opened by a link of somebody's."""
    made = await world.do(who, "link", name=name) if who else await world.operate("link", name=name)
    return (await sign_in(world.store, made["link_path"].rpartition("/")[2], client="test")).token


async def grant(world: World, token: str) -> Grant | None:
    """The grant of a credential in the world's space."""
    ((stands,),) = await world.store.across([world.space], Doc(Grant, token.split("_")[1]))
    return stands if isinstance(stands, Grant) else None


async def logged(world: World, kind: str) -> list[Entry]:
    """The entries of a kind, oldest first."""
    ((size,),) = await world.store.across([world.space], Head())
    (entries,) = await world.store.across([world.space], *(Numbered(n) for n in range(1, size + 1)))
    return [e.entry for e in entries if e and e.entry and e.entry.kind == kind]


async def spaces(world: World, token: str) -> list[str]:
    """The spaces that a session may enter."""
    return await open_spaces(world.store, badge(token))


async def test_an_owner_s_link_opens_the_owner_s_space_only(world: World) -> None:
    """Whoever is in other spaces too comes into none of them by a link of this space's owner, now or later."""
    other = await found(world.engine, world.store)
    for name in ("zed", "yan"):
        await other.operate("human", name=name, role="owner")
    await world.do("human:ana", "human", name="zed", role="member")
    token = await linked(world, "human:ana", "zed")
    assert await spaces(world, token) == [world.space]
    assert (await perform(world.store, badge(token), ROWS["people"], {}))["space"] == world.space
    await refused("scope_unknown", perform(world.store, badge(token, other.space), ROWS["people"], {}))
    third = await found(world.engine, world.store)
    await third.operate("human", name="zed")
    await other.operate("human", name="zed", role="member")
    for space in (other.space, third.space):
        await refused("scope_unknown", perform(world.store, badge(token, space), ROWS["people"], {}))
    assert await grant(other, token) is await grant(third, token) is None
    await sign_out(world.store, badge(token))
    await refused("key_revoked", perform(world.store, badge(token, world.space), ROWS["people"], {}))


async def test_the_operator_s_link_opens_every_space_of_the_person(world: World) -> None:
    """It opens those that the person is in, and those that they are added to while it lasts."""
    other = await found(world.engine, world.store)
    await other.operate("human", name="bo", role="owner")
    token = await linked(world, "", "bo")
    assert await spaces(world, token) == sorted([world.space, other.space])
    third = await found(world.engine, world.store)
    await third.operate("human", name="bo")
    assert await spaces(world, token) == sorted([world.space, other.space, third.space])


async def test_a_session_s_grant_says_who_made_its_link(world: World) -> None:
    """An owner is named; of the operator's links nobody is."""
    for who, by in (("human:ana", "human:ana"), ("", "")):
        stands = await grant(world, await linked(world, who, "bo"))
        assert stands
        assert stands.minted_by == by


async def test_a_link_stands_nowhere_in_clear(world: World) -> None:
    """Who reads the names of all keys, or all that stands under them, cannot sign in with what they saw."""
    link = (await world.do("human:ana", "link", name="bo"))["link_path"].rpartition("/")[2]
    seen = await world.dump()
    assert [name for name in seen if "g:link:" in name]
    assert all(link not in name and link.encode() not in bytes(str(value), "ascii") for name, value in seen.items())
    name = next(name for name in seen if "g:link:" in name)
    await refused("unauthenticated", sign_in(world.store, name[name.index("link:") + 5 : -1], client="test"))
    assert (await sign_in(world.store, link, client="test")).person == "human:bo"


async def test_a_link_s_end_is_told_in_real_time(world: World) -> None:
    """Its life is not the simulated clock's, and neither is what is said of it."""
    await world.pass_time(30 * DAY)
    made = await world.operate("link", name="bo")
    left = moment(made["expires_at"], now=0) - await world.store.shared.clock()
    assert 9 * MINUTE < left <= 10 * MINUTE


async def test_c05_revoking_by_name_ends_every_key(world: World) -> None:
    """A hundred keys before it, revoked or not, hide none."""
    ids = [(await world.operate("mint", name="muse"))["key"] for _ in range(105)]
    assert sorted((await world.operate("revoke", name="muse"))["revoked"]) == sorted(ids)
    token = await world.agent("muse")
    assert (await world.do("agent:muse", "note", **NOTE))["ok"]
    assert (await world.operate("renew", name="muse"))["key"] == token.split("_")[1]
    assert (await world.operate("revoke", name="muse"))["revoked"] == [token.split("_")[1]]
    await refused("key_revoked", world.do("agent:muse", "note", **NOTE))
    assert (await world.operate("keys"))["total"] == 108


async def test_c05_what_has_no_live_key_is_not_suggested(world: World) -> None:
    """The refusal names agents with live keys, never the one that was refused; a revoked key is called so."""
    await world.agent("groks")
    key = (await world.operate("revoke", name="grok"))["revoked"][0]
    for verb in ("revoke", "renew"):
        no = await refused("not_found", world.operate(verb, name="grok"))
        assert no.facts["near"] == ["agent:groks", "agent:codex"]
        no = await refused("not_found", world.operate(verb, name=key))
        assert "agent:grok was revoked" in no.message


async def test_renewing_never_shortens_a_lease(world: World) -> None:
    """Of the lease that was and the one that is asked for, the later stands."""
    before = next(k for k in (await world.operate("keys"))["keys"] if k["name"] == "grok")
    after = await world.operate("renew", name="grok", days=1)
    assert after["expires_at"] == before["expires_at"]
    await world.pass_time(HOUR)
    assert (await world.operate("renew", name="grok", days=90))["expires_at"] > before["expires_at"]


async def test_what_is_not_said_of_a_person_stays(world: World) -> None:
    """A new role gives no right back, saying nothing changes no role, and who is new approves."""
    await world.operate("human", name="ana", excluded=True)
    assert _row(await world.operate("people"), "human:ana")["roles"] == ["owner"]
    changed = await world.operate("human", name="bo", role="owner")
    assert changed["roles"] == ["owner", "approver"]
    await world.operate("human", name="ana", role="member")
    assert (await world.operate("human", name="ana", role="owner"))["roles"] == ["owner"]
    assert (await world.operate("human", name="ana", excluded=False))["roles"] == ["owner", "approver"]
    assert (await world.operate("human", name="new"))["role"] == "approver"


def _row(people: Result, person: str) -> Result:
    found: Result = next(p for p in people["people"] if p["person"] == person)
    return found


async def test_what_may_be_entered_is_what_is_listed(world: World) -> None:
    """Who was removed from a space is not offered it, and needs not name the one that is left."""
    other = await found(world.engine, world.store)
    await other.operate("human", name="bo")
    token = await linked(world, "", "bo")
    await other.operate("human", name="bo", role="none")
    assert await spaces(world, token) == [world.space]
    listed = await perform(world.store, badge(token), ROWS["spaces"], {})
    assert (listed["spaces"], listed["here"]) == ([world.space], world.space)
    no = await refused("scope_unknown", perform(world.store, badge(token, "nowhere"), ROWS["people"], {}))
    assert no.facts["spaces"] == [world.space]
    await other.operate("human", name="bo")
    assert await spaces(world, token) == sorted([world.space, other.space])


async def test_the_operator_may_enter_every_space(world: World) -> None:
    """`spaces` lists all there are."""
    other = await found(world.engine, world.store)
    assert (await world.operate("spaces"))["spaces"] == sorted([world.space, other.space])


async def test_an_ended_session_may_enter_nothing(world: World) -> None:
    """After signing out the list of spaces is refused like any call."""
    token = world.tokens["human:bo"]
    await sign_out(world.store, badge(token))
    await refused("key_revoked", spaces(world, token))


async def test_who_is_added_while_they_sign_in_is_in(world: World) -> None:
    """Whichever of the two comes first, the session opens the new space."""
    other = await found(world.engine, world.store)
    for n in range(10):
        name = f"p{n}"
        await world.operate("human", name=name)
        token, _ = await asyncio.gather(linked(world, "", name), other.operate("human", name=name))
        assert await spaces(world, token) == sorted([world.space, other.space])


async def test_a_session_opens_a_space_that_was_being_joined(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign-in that falls between a person's being noted and their being a member opens the space all the same."""
    other = await found(world.engine, world.store)
    await world.operate("human", name="zed")
    tokens: list[str] = []
    read = Globals.sessions

    async def between(self: Globals, person: str) -> dict[str, int]:
        open_before = await read(self, person)
        if not tokens:
            tokens.append(await linked(world, "", person))
        return open_before

    monkeypatch.setattr(Globals, "sessions", between)
    await other.operate("human", name="zed")
    assert await spaces(world, tokens[0]) == sorted([world.space, other.space])


async def test_signing_in_and_out_is_the_person_s_doing(world: World) -> None:
    """The Log says that the person did it, in the console."""
    token = await linked(world, "", "bo")
    await sign_out(world.store, badge(token))
    for kind in ("signed_in", "signed_out"):
        entry = (await logged(world, kind))[-1]
        assert (entry.by, entry.via, entry.where) == ("human:bo", "console", "human:bo")


async def test_a_mint_that_is_tried_again_leaves_one_record(world: World) -> None:
    """Ten mints at once, which make one another try again, leave ten records of credentials and no more."""
    before = await _count(world, "lm:{g:key:*")
    made = await asyncio.gather(*(world.operate("mint", name="muse") for _ in range(10)))
    assert await _count(world, "lm:{g:key:*") - before == len({m["key"] for m in made}) == 10


async def test_a_link_that_is_tried_again_leaves_one_link(world: World) -> None:
    """Of each call stands the link that it gave, and no other."""
    changing = [world.operate("human", name="bo", excluded=bool(n % 2)) for n in range(6)]
    made = await asyncio.gather(*(world.operate("link", name="bo") for _ in range(6)), *changing)
    assert await _count(world, "lm:{g:link:*") == sum("link_path" in m for m in made) == 6


async def _count(world: World, pattern: str) -> int:
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        return len(await admin.keys(pattern))


async def test_a_space_begins_with_its_channel(world: World) -> None:
    """What is written of the space itself stands in a channel that is there."""
    await world.operate("four_eyes", rule="on")
    ((channel,),) = await world.store.across([world.space], Doc(Channel, world.space))
    assert channel
    written = await world.do("agent:grok", "note", **{**NOTE, "where": f"channel:{world.space}"})
    assert "created" not in written
    assert (await world.do("agent:grok", "view", what=f"channel:{world.space}"))["log_total"] == 3


async def test_c02_a_bound_session_says_so(world: World) -> None:
    """A session of an owner's link needs no space named over REST."""
    token = await linked(world, "human:ana", "bo")
    world.tokens["human:bo"] = token
    people = await world.post("human:bo", "people", json.dumps({}).encode(), headers={"x-logmem-space": ""})
    assert people["space"] == world.space
