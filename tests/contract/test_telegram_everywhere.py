"""Pairing and unpairing in all spaces of a person: the account first, each space by itself, and what failed again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from store.domain.moments import MINUTE
from store.domain.pairing import Claim
from store.domain.text import quoted
from store.engine.accounts import CHORES, Account
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.keys import shared
from store.verbs import repeating
from store.verbs.everywhere import chore
from store.verbs.pairing import PAIR
from tests.contract.phoning import ACCOUNTS, ANA, BO, CY, carded, door, one, pair, private, starting, unchanged
from tests.contract.phoning import card as card_of
from tests.contract.test_gate import asked, refused
from tests.contract.test_telegram_pairing import claimed, code_of, people
from tests.world import World, found


@pytest.fixture
async def other(world: World, engine: Embedded) -> World:
    """Another space of ana's and bo's."""
    made = await found(engine, world.store)
    made.http = world.http
    await made.agent("grok")
    await made.human("ana", "owner", signed_in=False)
    await made.human("bo", signed_in=False)
    return made


@asynccontextmanager
async def broken(world: World, kind: str, id: str) -> AsyncIterator[None]:
    """A document of this space cannot be read meanwhile, so that no verb which needs it can be done there."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        key = world.keys.doc(kind, id)
        text = await admin.hget(key, "doc")
        await admin.hset(key, "doc", "{")
        try:
            yield
        finally:
            await admin.hset(key, "doc", text)


async def repeated(world: World) -> int:
    """The time of all chores comes, and they are done; how many are left."""
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        run: Any = admin.execute_command
        for line in await run("ZRANGE", CHORES, 0, -1):
            await run("ZADD", CHORES, 0, line)
        await repeating.repeat(world.store)
        return int(await admin.zcard(CHORES))


async def reached_at(world: World, who: str) -> int:
    """To which account cards of this space go."""
    ask = await asked(world, summary=f"Where is {who}?")
    return int(one(await card_of(world, f"ask:{ask['trail']}", who), who)["chat"])


@pytest.mark.parametrize("name", ["foo", "logmem_view", 'a" {x'])
async def test_a_space_that_is_none_of_theirs_is_named_with_those_that_are(world: World, name: str) -> None:
    """In a sentence that is right of a person and of an agent, whatever the name is."""
    await pair(world, BO)
    said = private(BO, verb="attend", args={"on": True}, space=name)
    no = await unchanged(world, "scope_unknown", door(world, "verb", **said))
    stands = f"has no space {quoted(name)}. Nothing was done. Spaces to enter: {world.space}."
    assert no.message == f"human:bo {stands}"
    assert no.facts["says"] == f"You have{stands.removeprefix('has')}"


async def test_unpairing_takes_the_account_first(world: World, other: World) -> None:
    """A space that cannot be written keeps no stolen phone paired, nor another space; it follows once it can."""
    await pair(world, BO)
    it = await carded(world, await asked(world), BO)
    async with broken(other, "reach", BO):
        await world.do(BO, "unpair")
        assert await world.store.shared.accounts.person(ACCOUNTS[BO]) == ""
        await unchanged(world, "unauthenticated", it.tap("approve"))
        assert await people(world, BO) == []
        assert await repeated(world) == 1
    assert await repeated(world) == 0
    assert await people(other, BO) == []
    assert await reached_at(other, BO) == 0


async def test_pairing_goes_on_where_one_space_fails(world: World, other: World) -> None:
    """The others have it at once, and that one later, by the account that is the person's then."""
    async with broken(other, "member", BO):
        await pair(world, BO)
        assert await people(world, BO) == [BO]
    new = 4_999_999_999
    claim = await claimed(world, BO, await code_of(world, BO), user=new, chat=new)
    async with broken(other, "member", BO):
        await world.do(BO, "confirm", claim=claim["claim"], yes=True)
    assert await repeated(world) == 0
    assert await reached_at(other, BO) == await reached_at(world, BO) == new


async def test_a_phone_that_is_lost_is_lost_everywhere(world: World, other: World) -> None:
    """In the space that failed too, and found again there."""
    await pair(world, BO)
    for what, live in (("unreached", []), ("reached", [BO])):
        async with broken(other, "reach", BO):
            done = await door(world, what, user=ACCOUNTS[BO], why="blocked")
            assert done["changed"] == [world.space]
        assert await repeated(world) == 0
        assert await people(world, BO) == await people(other, BO) == live


async def test_signing_out_goes_on_where_one_space_fails(world: World, other: World) -> None:
    """The session ends in all the others, and later there."""
    await other.sign_in("bo")
    session, world.badges[BO], world.tokens[BO] = other.badges[BO].id, other.badges[BO], other.tokens[BO]
    async with broken(other, "grant", session):
        await world.do(BO, "end_session", session=session)
    await refused("key_revoked", world.do(BO, "inbox"))
    assert await repeated(world) == 0
    await refused("key_revoked", other.do(BO, "inbox"))


async def test_who_dies_in_the_middle_of_confirming_leaves_nothing_half_done(world: World, other: World) -> None:
    """Once the account is theirs, what is noted brings every space in line, also the one where it was confirmed."""
    accounts = world.store.shared.accounts
    claim = await claimed(world, BO, await code_of(world, BO))
    stored = await accounts.claim(claim["claim"])
    assert stored
    await accounts.note_chores(*(chore(PAIR, w.space, person=BO) for w in (world, other)), wait=MINUTE)
    assert await people(world, BO) == []
    assert await accounts.pair(account_of(stored))  # and nobody is there any more
    assert await repeated(world) == 0
    assert await people(world, BO) == await people(other, BO) == [BO]
    assert (await world.do(BO, "confirm", claim=claim["claim"], yes=True))["paired"]


def account_of(claim: Claim) -> Account:
    """The account of a claim."""
    return Account(claim.account, claim.name, claim.username, claim.person)


async def test_one_account_is_paired_with_one_person_however_many_confirm(world: World) -> None:
    """Two codes of two people that one account has sent, confirmed at once: one of them has it."""
    for _ in range(25):
        codes = {who: await code_of(world, who) for who in (ANA, BO)}
        claims = {who: await claimed(world, CY, code) for who, code in codes.items()}
        yes = [world.do(who, "confirm", claim=claim["claim"], yes=True) for who, claim in claims.items()]
        out = await asyncio.gather(*yes, return_exceptions=True)
        won = [each["person"] for each in out if isinstance(each, dict)]
        assert len(won) == 1
        assert [getattr(each, "code", "") for each in out if not isinstance(each, dict)] == ["id_taken"]
        assert await world.store.shared.accounts.person(ACCOUNTS[CY]) == won[0]
        assert await people(world, ANA, BO) == won
        await world.do(won[0], "unpair")


async def test_the_first_word_on_a_claim_counts(world: World) -> None:
    """Yes and no at once, of a person and an owner: one of them is so, the other is refused, and the account agrees."""
    both = [(ANA, True), (BO, False)]
    for n in range(16):
        code = (await world.operate("pairing", person="bo", life="2h"))["code"]
        claim = (await claimed(world, CY, code))["claim"]
        said = [world.do(who, "confirm", claim=claim, yes=yes) for who, yes in (both if n % 2 else both[::-1])]
        out = await asyncio.gather(*said, return_exceptions=True)
        (told,) = [each for each in out if isinstance(each, dict)]
        (no,) = [each for each in out if not isinstance(each, dict)]
        assert getattr(no, "code", "") == "already_settled"
        assert await world.store.shared.accounts.person(ACCOUNTS[CY]) == (BO if told["paired"] else "")
        assert (await door(world, "claim", claim=claim))["state"] == ("paired" if told["paired"] else "refused")
        if told["paired"]:
            await world.do(BO, "unpair")


@pytest.mark.parametrize("far", ["said", "paired"])
async def test_a_yes_that_was_broken_off_cannot_become_a_no(world: World, far: str) -> None:
    """Whoever confirms dies once the word is kept, or the account theirs: no is refused, yes ends what was begun."""
    accounts = world.store.shared.accounts
    claim = await claimed(world, BO, await code_of(world, BO))
    assert await accounts.word(claim["claim"], True)
    stored = await accounts.claim(claim["claim"])
    assert stored
    if far == "paired":
        assert await accounts.pair(account_of(stored))
    no = await unchanged(world, "already_settled", world.do(BO, "confirm", claim=claim["claim"], yes=False))
    assert "/unpair yes" in no.message
    assert (await world.do(BO, "confirm", claim=claim["claim"], yes=True))["paired"]
    assert await accounts.person(ACCOUNTS[BO]) == BO


async def test_one_person_has_one_account_however_many_they_confirm(world: World) -> None:
    """Two accounts confirmed at once for one person: one of them is theirs, and the other is nobody's."""
    users = [4_999_999_991, 4_999_999_992]
    for _ in range(5):
        claims = [await claimed(world, BO, await code_of(world, BO), user=user, chat=user) for user in users]
        await asyncio.gather(*(world.do(BO, "confirm", claim=each["claim"], yes=True) for each in claims))
        accounts = world.store.shared.accounts
        mine = await accounts.of(BO)
        assert mine
        assert [await accounts.person(user) for user in users] == [BO if user == mine.number else "" for user in users]
        await repeated(world)
        assert await reached_at(world, BO) == mine.number
        await world.do(BO, "unpair")


async def test_a_claim_is_made_with_its_code_or_not_at_all(world: World, engine: Embedded) -> None:
    """Whoever dies after a claim was kept has used the code up; told again, the same message ends what was begun."""
    code = await code_of(world, BO)
    start = starting(BO, code)
    first = await door(world, "pair", **start)
    async with open_client(Target.embedded(engine), user="lm-admin") as admin:
        # As if nothing had followed: the code is there, and no list names the claim.
        for key in await admin.keys("lm:{g:claims:*"):
            await admin.delete(key)
        await world.store.shared.accounts.put_code(
            code, {"person": BO, "source": "console", "space": world.space}, life=60_000
        )
    await refused("unauthenticated", claimed(world, CY, code))
    assert (await world.do(BO, "claims"))["claims"] == []
    assert await door(world, "pair", **start) == first
    assert [each["claim"] for each in (await world.do(BO, "claims"))["claims"]] == [first["claim"]]
    assert await world.store.shared.accounts.peek_code(code) is None


async def test_a_wrong_code_counts_once_for_each_message(world: World) -> None:
    """However often the bot hands it over; another message is another try."""
    wrong = starting(CY, "wrong")
    for _ in range(8):
        no = await refused("unauthenticated", door(world, "pair", **wrong))
        assert no.facts["tries_left"] == 4
    assert (await refused("unauthenticated", claimed(world, CY, "wrong"))).facts["tries_left"] == 3


async def test_a_claim_names_the_code_that_made_it(world: World) -> None:
    """Whoever shows a code waits for its claim, and for that of no code before it."""
    old = await world.do(BO, "pairing")
    new = await world.do(BO, "pairing")
    await claimed(world, CY, old["code"])
    rows = (await world.do(BO, "claims"))["claims"]
    assert [(each["claim"], "latest" in each) for each in rows] == [(old["claim"], False)]
    await world.operate("pairing", person="bo")
    assert (await claimed(world, BO, new["code"]))["claim"] == new["claim"]
    rows = (await world.do(BO, "claims"))["claims"]
    assert {each["claim"]: each.get("latest", False) for each in rows} == {old["claim"]: False, new["claim"]: True}


async def test_a_claim_says_what_became_of_it(world: World, engine: Embedded) -> None:
    """So that the phone can be told; one that nobody confirms in time is over, and its code stays used."""
    code = await code_of(world, BO)
    claim = (await claimed(world, BO, code))["claim"]
    assert (await door(world, "claim", claim=claim))["state"] == "waiting"
    async with open_client(Target.embedded(engine), user="lm-admin") as admin:
        key = shared("claim", claim)
        run: Any = admin.execute_command
        line = bytes(await run("GET", key)).decode()
        made = await world.store.shared.accounts.claim(claim)
        assert made
        await admin.set(key, line.replace(str(made.expires), "1"))
        told = await door(world, "claim", claim=claim)
        assert (told["state"], "in time" in told["says"]) == ("expired", True)
        await unchanged(world, "not_found", world.do(BO, "confirm", claim=claim, yes=True))
        await refused("unauthenticated", claimed(world, CY, code))
        await admin.set(key, line)
    await world.do(BO, "confirm", claim=claim, yes=True)
    assert (await door(world, "claim", claim=claim))["says"].startswith("You are paired")
    assert (await door(world, "verb", **private(BO, verb="inbox", args={})))["caller"] == BO
