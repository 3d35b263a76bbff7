"""Pairing: a code for one person, claimed in their own chat, and confirmed where the code was made."""

import asyncio
from typing import Any

import pytest

from store.domain.pairing import NOBODY, TRIES
from store.engine.botstore import open_bot_store
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.keys import shared
from tests.contract.phoning import ACCOUNTS, ANA, BO, CY, carded, door, marked, one, pair, private, starting, unchanged
from tests.contract.phoning import card as card_of
from tests.contract.test_gate import asked, refused
from tests.world import Result, World, found


async def code_of(world: World, who: str) -> str:
    """A new code from somebody's console."""
    made: str = (await world.do(who, "pairing"))["code"]
    return made


async def claimed(world: World, who: str, code: str, **more: Any) -> Result:
    """Somebody sends a code to the bot."""
    return await door(world, "pair", **starting(who, code, **more))


async def people(world: World, *names: str) -> list[str]:
    """Who of these a tap would be taken from now: their account is theirs in this space."""
    ask = await asked(world, summary="Who is there?")
    there = {each["who"]: each for each in ask["asked"]}
    await world.do("agent:grok", "ask", withdraw=ask["trail"])
    return [name for name in names if "telegram" in there.get(name, {"reach": []})["reach"]]


async def test_pairing_by_a_code_of_the_console(world: World) -> None:
    """Nothing is paired until the person has confirmed which account it was; then asks reach them."""
    ask = await asked(world)
    assert await marked(world) == set()
    made = await world.do(BO, "pairing")
    assert (made["person"], made["from"], made["life"], made["start"]) == (
        BO, "console", "10 min", f"/start {made['code']}"
    )  # fmt: skip
    claim = await claimed(world, BO, made["code"], name="Bo B.", username="bo_b")
    assert (claim["person"], claim["from"]) == (BO, "console")
    assert await people(world, ANA, BO) == []
    (waits,) = (await world.do(BO, "claims"))["claims"]
    assert (waits["claim"], waits["account"], waits["name"], waits["username"]) == (
        claim["claim"], ACCOUNTS[BO], "Bo B.", "bo_b"
    )  # fmt: skip
    assert (await world.do(ANA, "claims"))["claims"] == []
    assert (await door(world, "claim", claim=claim["claim"]))["state"] == "waiting"
    done = await world.do(BO, "confirm", claim=claim["claim"], yes=True)
    assert (done["paired"], done["person"], done["account"], done["name"]) == (True, BO, ACCOUNTS[BO], "Bo B.")
    assert await people(world, ANA, BO) == [BO]
    assert f"ask:{ask['trail']}" in await marked(world)
    assert (await door(world, "claim", claim=claim["claim"]))["state"] == "paired"
    assert (await world.do(BO, "claims"))["claims"] == []
    assert (await door(world, "spaces"))["spaces"] == [world.space]
    assert (await (await carded(world, ask, BO)).tap("approve"))["status"] == "approved"


async def test_a_code_is_typed_as_people_type(world: World) -> None:
    """Case, blanks and what looks alike make no difference."""
    code = await code_of(world, BO)
    typed = f" {code.upper().replace('0', 'O').replace('1', 'I').replace('-', ' ')} "
    assert (await claimed(world, BO, typed))["person"] == BO


async def test_a_code_is_good_once(world: World) -> None:
    """The second who sends it is refused; the same message brought again is the same claim."""
    code = await code_of(world, BO)
    start = starting(BO, code)
    first = await door(world, "pair", **start)
    assert await door(world, "pair", **start) == first
    no = await refused("unauthenticated", claimed(world, BO, code))
    assert (no.facts["tries_left"], "used already" in no.message) == (TRIES - 1, True)
    await refused("unauthenticated", claimed(world, CY, code))


async def test_of_many_who_send_a_code_at_once_one_claims_it(world: World) -> None:
    """Whoever is second finds it used."""
    code = await code_of(world, BO)
    users = range(5_000_000_000, 5_000_000_010)
    tries = (claimed(world, BO, code, user=user, chat=user) for user in users)
    out = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(each, dict) for each in out) == 1
    assert len((await world.do(BO, "claims"))["claims"]) == 1


async def test_wrong_codes_lock_an_account(world: World) -> None:
    """After five the account can try no more, also not with a right one, which stays good for another."""
    code = await code_of(world, BO)
    for n in range(TRIES):
        no = await refused("unauthenticated", claimed(world, CY, f"{n}aaaa-aaaaa"))
        assert no.facts["tries_left"] == TRIES - 1 - n
    for said in (code, "wrong"):
        no = await refused("rate_limited", claimed(world, CY, said))
        assert no.facts["retry_after"] == 3600
    assert (await claimed(world, BO, code))["person"] == BO


async def test_the_lock_of_an_account_ends(world: World, engine: Embedded) -> None:
    """It stands for an hour of the store's own time, which more tries do not make longer."""
    for _ in range(TRIES + 2):
        with pytest.raises(Exception, match=r"unauthenticated|rate_limited"):
            await claimed(world, CY, "wrong")
    async with open_client(Target.embedded(engine), user="lm-admin") as admin:
        key = shared("tries", str(ACCOUNTS[CY]))
        assert 3_500_000 < await admin.pttl(key) <= 3_600_000
        await admin.pexpire(key, 1_000)
        await refused("rate_limited", claimed(world, CY, "wrong"))
        assert await admin.pttl(key) <= 1_000
        await admin.delete(key)
    await refused("unauthenticated", claimed(world, CY, "wrong"))


async def test_many_guesses_at_once_are_five(world: World) -> None:
    """Who tries in parallel has no more tries than others."""
    out = await asyncio.gather(*(claimed(world, CY, f"wrong{n}") for n in range(30)), return_exceptions=True)
    codes = [getattr(each, "code", "") for each in out]
    assert (codes.count("unauthenticated"), codes.count("rate_limited")) == (TRIES, 25)


async def test_a_code_that_is_too_old(world: World, engine: Embedded) -> None:
    """It lasts as long as it says, and nothing of it is left then."""
    code = await code_of(world, BO)
    async with open_client(Target.embedded(engine), user="lm-admin") as admin:
        (key,) = await admin.keys("lm:{g:pair:*")
        assert 590_000 < await admin.pttl(key) <= 600_000
        assert code not in str(key)
        await admin.delete(key)
    await refused("unauthenticated", claimed(world, BO, code))


@pytest.mark.parametrize(
    "how",
    [
        {"forwarded": True},
        {"via_bot": True},
        {"is_bot": True},
        {"chat_type": "group", "chat": -100123},
        {"chat_type": "supergroup"},
        {"chat_type": "channel"},
        {"chat": 17},
        *({"user": nobody, "chat": nobody} for nobody in sorted(NOBODY)),
    ],
)
async def test_a_code_counts_only_from_the_person_themselves(world: World, how: Result) -> None:
    """Forwarded, through a bot, in a group, or from an account that is nobody's: nothing changes, the code stays."""
    code = await code_of(world, BO)
    await unchanged(world, "not_yours", claimed(world, BO, code, **how))
    assert (await claimed(world, BO, code))["person"] == BO


async def test_only_the_person_confirms_their_own_code(world: World) -> None:
    """Nobody else does: no owner, no operator, no agent, and not the account itself."""
    claim = (await claimed(world, BO, await code_of(world, BO)))["claim"]
    for who in (ANA, "agent:grok"):
        code = "scope_denied" if who.startswith("agent") else "not_yours"
        for yes in (True, False):
            await unchanged(world, code, world.do(who, "confirm", claim=claim, yes=yes))
    await unchanged(world, "not_yours", world.operate("confirm", claim=claim, yes=True))
    await unchanged(world, "not_found", world.do(BO, "confirm", claim="0" * 24, yes=True))
    await unchanged(world, "not_found", world.do(BO, "confirm", claim="x:y", yes=True))
    done = await world.do(BO, "confirm", claim=claim, yes=False)
    assert not done["paired"]
    assert await people(world, BO) == []
    assert (await door(world, "claim", claim=claim))["state"] == "refused"
    await unchanged(world, "already_settled", world.do(BO, "confirm", claim=claim, yes=True))


async def test_a_code_of_the_operators_terminal(world: World) -> None:
    """It is confirmed there; an owner who is somebody else is not asked."""
    made = await world.operate("pairing", person="bo")
    assert (made["from"], made["life"]) == ("terminal", "10 min")
    claim = (await claimed(world, BO, made["code"]))["claim"]
    assert [each["person"] for each in (await world.operate("claims"))["claims"]] == [BO]
    assert (await world.do(ANA, "claims"))["claims"] == []
    await unchanged(world, "not_yours", world.do(ANA, "confirm", claim=claim, yes=True))
    assert (await world.operate("confirm", claim=claim, yes=True))["paired"]
    assert await people(world, BO) == [BO]


async def test_a_code_of_the_command_is_confirmed_by_an_owner(world: World) -> None:
    """It lasts a day, and who is no owner of that space confirms nothing."""
    await world.human("cy", "member")
    made = await world.operate("pairing", person="cy", life="24h")
    assert (made["from"], made["life"]) == ("command", "24 h")
    claim = (await claimed(world, CY, made["code"]))["claim"]
    assert [each["person"] for each in (await world.do(ANA, "claims"))["claims"]] == [CY]
    assert (await world.do(BO, "claims"))["claims"] == (await world.operate("claims"))["claims"] == []
    await unchanged(world, "not_yours", world.do(BO, "confirm", claim=claim, yes=True))
    await unchanged(world, "not_yours", world.operate("confirm", claim=claim, yes=True))
    assert (await world.do(ANA, "confirm", claim=claim, yes=True))["paired"]


async def test_who_gets_no_code(world: World) -> None:
    """Nobody makes one for somebody else in the console, and nobody for who is not here."""
    await unchanged(world, "not_yours", world.do(ANA, "pairing", person="bo"))
    await unchanged(world, "invalid_argument", world.do(BO, "pairing", life="1h"))
    await unchanged(world, "unknown_recipient", world.operate("pairing", person="nobody"))
    await unchanged(world, "invalid_argument", world.operate("pairing"))
    await unchanged(world, "scope_denied", world.do("agent:grok", "pairing"))


async def test_one_person_has_one_account(world: World) -> None:
    """Pairing another replaces the first and says so; what the first presses is nobody's then."""
    await pair(world, BO)
    it = await carded(world, await asked(world), BO)
    new = 4_999_999_999
    claim = await claimed(world, BO, await code_of(world, BO), user=new, chat=new)
    (waits,) = (await world.do(BO, "claims"))["claims"]
    assert waits["replaces"] == ACCOUNTS[BO]
    done = await world.do(BO, "confirm", claim=claim["claim"], yes=True)
    assert (done["account"], done["replaced"]) == (new, ACCOUNTS[BO])
    await unchanged(world, "unauthenticated", it.tap("approve"))
    assert one(await card_of(world, it.copy.ref, BO), BO)["chat"] == new
    again = await pair(world, BO)
    assert again["replaced"] == new


async def test_one_account_is_one_persons(world: World) -> None:
    """Who has an account that is another's is told to unpair it first; their code stays good."""
    await pair(world, BO)
    code = await code_of(world, ANA)
    no = await refused("id_taken", claimed(world, BO, code))
    assert "human:bo" in no.message
    await door(world, "verb", **private(BO, verb="unpair", args={}))
    assert (await claimed(world, BO, code))["person"] == ANA


async def test_a_word_that_paired_nothing_is_nothing_to_undo(world: World) -> None:
    """The account became another's while a claim waited: who takes their word back is not told to unpair."""
    mine, theirs = [(await claimed(world, BO, await code_of(world, who)))["claim"] for who in (ANA, BO)]
    await world.do(BO, "confirm", claim=theirs, yes=True)
    await refused("id_taken", world.do(ANA, "confirm", claim=mine, yes=True))
    no = await refused("already_settled", world.do(ANA, "confirm", claim=mine, yes=False))
    assert ("/unpair" in no.message, no.facts["status"]) == (False, "waiting")
    assert "the account is another person's by now" in no.message
    no = await refused("already_settled", world.do(BO, "confirm", claim=theirs, yes=False))
    assert ("/unpair yes" in no.message, no.facts["status"]) == (True, "paired")


async def test_unpairing_from_the_phone(world: World) -> None:
    """It is over everywhere at once, and the card goes."""
    await pair(world, BO)
    ask = await asked(world)
    it = await carded(world, ask, BO)
    await marked(world)
    done = await door(world, "verb", **private(BO, verb="unpair", args={}))
    assert (done["person"], done["paired"]) == (BO, False)
    assert await marked(world) == {it.copy.ref}
    assert one(await card_of(world, it.copy.ref, BO), BO) == {
        "who": BO, "chat": 0, "can": [], "silent": False, "wanted": False, "lost": False, "reads": False, "answers": []
    }  # fmt: skip
    await unchanged(world, "unauthenticated", it.tap("approve"))
    await unchanged(world, "not_found", world.do(BO, "unpair"))


async def test_an_owner_unpairs_others_here(world: World) -> None:
    """An owner does; an approver does not."""
    await pair(world, BO)
    await pair(world, ANA)
    it = await carded(world, await asked(world), BO)
    await unchanged(world, "not_yours", world.do(BO, "unpair", person="ana"))
    for who in (BO, ANA):
        call = door(world, "verb", **private(who, verb="unpair", args={"person": "ana"}))
        await unchanged(world, "unknown_argument", call)
    assert (await world.do(ANA, "unpair", person="bo"))["person"] == BO
    await unchanged(world, "unauthenticated", it.tap("approve"))


async def test_c07_pairing_is_for_all_spaces_of_a_person(world: World, engine: Embedded) -> None:
    """Those that they have joined, those that they join later, and none that they have left."""
    other, later = await found(engine, world.store), await found(engine, world.store)
    for each in (other, later):
        each.http = world.http
        await each.agent("grok")
        await each.human("ana", "owner", signed_in=False)
    await other.human("bo", signed_in=False)
    there = await asked(other)
    await pair(world, BO)
    assert await marked(other) == {f"ask:{there['trail']}"}
    assert await people(other, BO) == [BO]
    waits = await asked(later)
    await later.human("bo", signed_in=False)
    assert await people(later, BO) == [BO]
    assert f"ask:{waits['trail']}" in await marked(later)
    no = await refused("scope_undeclared", door(world, "verb", **private(BO, verb="inbox", args={})))
    assert no.facts["spaces"] == sorted([world.space, other.space, later.space])
    mine = await door(world, "verb", **private(BO, verb="inbox", args={}, space=other.space))
    assert [each["trail"] for each in mine["asks"]] == [there["trail"]]
    code = (await card_of(other, f"ask:{there['trail']}"))["code"]
    await carded(other, there, BO)
    typed = await door(world, "typed", **private(BO, verb="approve", code=code))
    assert (typed["space"], typed["status"]) == (other.space, "approved")
    await other.operate("human", name="bo", role="none")
    await unchanged(
        other, "scope_unknown", door(world, "verb", **private(BO, verb="inbox", args={}, space=other.space))
    )
    await world.do(BO, "unpair")
    assert await people(later, BO) == []
    assert set((await door(world, "spaces"))["spaces"]) == {world.space, other.space, later.space}


async def test_who_comes_back_is_reached_by_the_account_of_then(world: World) -> None:
    """Who left, unpaired and joins again is not reached by what they had before."""
    await pair(world, BO)
    await world.operate("human", name="bo", role="none")
    await world.store.shared.accounts.unpair(BO)
    await world.operate("human", name="bo", role="approver")
    assert await people(world, BO) == []


async def test_what_telegram_says_of_itself_is_bounded(world: World) -> None:
    """A name as long as anybody likes is cut, and never stands in the Log."""
    code = await code_of(world, BO)
    claim = await claimed(world, BO, code, name="x" * 5000, username="y" * 5000)
    (waits,) = (await world.do(BO, "claims"))["claims"]
    assert (len(waits["name"]), len(waits["username"])) == (130, 130)
    await world.do(BO, "confirm", claim=claim["claim"], yes=True)
    assert "xxx" not in str(await world.do("agent:grok", "feed", where=BO))


async def test_the_link_names_the_bot_once_it_has_run(world: World, engine: Embedded) -> None:
    """As long as nobody knows what the bot is called there is a line to send, and no link."""
    assert "link" not in await world.do(BO, "pairing")
    store = open_bot_store(Target.embedded(engine))
    await store.say(username="logmem_test_bot")
    await store.close()
    made = await world.do(BO, "pairing")
    assert (made["bot"], made["link"]) == ("logmem_test_bot", f"https://t.me/logmem_test_bot?start={made['code']}")
