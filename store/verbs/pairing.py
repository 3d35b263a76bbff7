"""Pairing: a code for a person, who claims it on Telegram, and the word that it was them."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import replace

from ..domain.commit import Commit
from ..domain.entry import Entry
from ..domain.errors import Refused
from ..domain.ids import principal
from ..domain.moments import MINUTE, duration, iso, span
from ..domain.pairing import (
    CLAIM_LIFE,
    LIFE,
    TRIES,
    Claim,
    Sender,
    Source,
    check_confirms,
    check_sender,
    claim_id,
    locked,
    new_code,
    plain,
)
from ..domain.person import Member
from ..domain.reach import Reach
from ..engine.accounts import Account
from ..engine.botstore import bot_state
from ..engine.reads import Doc
from ..engine.store import Store
from .arguments import Length
from .call import Call, Result, Row
from .everywhere import WAIT, chore, everywhere
from .faults import told_plainly
from .identity import OPERATOR
from .reaching import joined, left

SERVICE = "https://t.me"
STATES = {  # of a claim, as its phone is told
    "waiting": "It is still to be confirmed where the code came from.",
    "paired": "You are paired: asks come here as cards. /pending shows what waits, /help lists the commands.",
    "refused": "It was said that this is not the right account. Nothing is paired.",
    "expired": "Nobody has confirmed it in time. Nothing is paired. Get a new code.",
}
CLAIM = re.compile(r"[0-9a-f]{24}")
CODE_LIMIT = 64  # characters of what is sent as a code
NAME_LIMIT = 130  # characters of what an account calls itself


async def pairing(call: Call, *, person: str = "", life: Length = "") -> Commit:
    """Make a code that pairs a person's Telegram account with them: you, in your console; anybody, for the operator.

    It is good once, for 10 minutes, or for life (the operator's codes, up to a day: then an owner confirms). claim is
    the one that it will make.
    """
    await call.admit()
    whose = principal(person, kinds=("human",), default="human", name="person") if person else call.me
    source, lasts = _source(call, whose, life)
    member = await call.read(Doc(Member, whose))
    if not (member and member.role):
        raise Refused("unknown_recipient", f"{whose} is not in {call.caller.space}. Nothing was made.")
    code = call.draw("code", lambda: new_code(secrets.token_bytes(7)))
    shared = call.store.shared
    content = {"person": whose, "source": source, "space": call.caller.space}
    await shared.accounts.put_code(code, content, life=lasts)
    bot = (await bot_state(call.store.reader)).get("username", "")
    return Commit(
        result={"person": whose, "from": source, "life": span(lasts), "expires_at": iso(await shared.clock() + lasts)},
        entries=(call.entry(whose, "link", f"A code that pairs a Telegram account with {whose} was made"),),
        once={"code": code, "claim": claim_id(code), "start": f"/start {code}", **_link(bot, code)},
    )


def _link(bot: str, code: str) -> Result:
    """The address that hands the code to the bot; none where no bot has said its name yet."""
    return {"bot": bot, "link": f"{SERVICE}/{bot}?start={code}"} if re.fullmatch(r"\w{3,64}", bot, re.ASCII) else {}


def _source(call: Call, whose: str, life: Length) -> tuple[Source, int]:
    """Where the code is made, and how long it lasts (ms). Refuses not_yours, invalid_argument."""
    if call.me == OPERATOR:
        if whose == OPERATOR:
            raise Refused("invalid_argument", "Say for which person. Nothing was made.", argument="person")
        low, high = MINUTE, LIFE["command"]
        lasts = duration(life, low=low, high=high, name="life") if life != "" else LIFE["terminal"]
        return ("terminal" if lasts <= LIFE["terminal"] else "command"), lasts
    if whose != call.me or call.caller.via != "console":
        raise Refused(
            "not_yours", f"A code for {whose} is made by them in the console, or by the operator. Nothing was made."
        )
    if life != "":
        raise Refused("invalid_argument", "Your own code lasts 10 minutes. Nothing was made.", argument="life")
    return "console", LIFE["console"]


async def claim(store: Store, code: str, sender: Sender) -> Claim:
    """Let an account claim a code. Nothing is paired by it: who made the code confirms it.

    Refuses not_yours, rate_limited, unauthenticated (no such code), id_taken (it is another person's account).
    """
    check_sender(sender)
    user = sender.user
    accounts = store.shared.accounts
    with told_plainly():
        id = claim_id(code[:CODE_LIMIT])
        before = await accounts.claim(id)
        if before and (before.account, before.update) == (user, sender.update):  # the same message, handed over again
            return await _listed(store, before, code)
        if (tries := await accounts.tried(user, sender.update)) > TRIES:
            raise locked()
        content = await accounts.peek_code(code) if len(plain(code)) <= CODE_LIMIT and before is None else None
        if content is None:
            raise _no_code(tries)
        other = await accounts.person(user)
        if other not in ("", content["person"]):
            raise _taken(other)
        expires = await store.shared.clock() + CLAIM_LIFE
        made = Claim(
            id=id, person=content["person"], source=_known(content["source"]), space=content["space"], account=user,
            name=sender.name[:NAME_LIMIT], username=sender.username[:NAME_LIMIT], update=sender.update, expires=expires,
        )  # fmt: skip
        if not await accounts.begin_claim(made):
            raise _no_code(tries)
        return await _listed(store, made, code)


async def _listed(store: Store, claim: Claim, code: str) -> Claim:
    """The claim, with all that follows from its being made, however often that is done."""
    accounts = store.shared.accounts
    await accounts.list_claim(claim, claim.person, f"space:{claim.space}")
    await accounts.forgive(claim.account)
    await accounts.drop_code(code)
    return claim


def _known(source: str) -> Source:
    return source if source in ("console", "terminal") else "command"  # type: ignore[return-value] # one of the three


def _no_code(tries: int) -> Refused:
    rest = TRIES - tries
    left = "1 more try is left." if rest == 1 else f"{rest} more tries are left."
    then = left if rest else "That was the last try for an hour."
    return Refused(
        "unauthenticated",
        f"This code is not known: it is wrong, was used already, or is too old. Nothing changed. {then}",
        tries_left=rest,
    )


def _taken(other: str) -> Refused:
    return Refused("id_taken", f"This account is paired with {other} already. Nothing changed. First send /unpair yes")


async def claims(call: Call) -> Result:
    """Who claims to be you on Telegram and waits for your word; for owners and the operator also others of the space.

    Compare the account with the one that you used: the number is Telegram's, the name is anybody's choice. latest: it
    was made by that person's latest code from there.
    """
    await call.admit()
    accounts, space = call.store.shared.accounts, call.caller.space
    manages = "manage" in call.may
    found = await accounts.claims(call.me, *((f"space:{space}",) if manages else ()))
    rows = []
    for each in found:
        try:
            check_confirms(each, by=call.me, via=call.caller.via, manages=manages, space=space)
        except Refused:
            continue
        had = await accounts.of(each.person)
        replaces = {"replaces": had.number} if had and had.number != each.account else {}
        latest = {"latest": True} if await accounts.latest(each.person, each.source) == each.id else {}
        rows.append(_shown(each) | latest | replaces)
    return {"claims": rows}


def _shown(claim: Claim) -> Result:
    username = {"username": claim.username} if claim.username else {}
    who = {"claim": claim.id, "person": claim.person, "account": claim.account, "name": claim.name, **username}
    return {**who, "from": claim.source, "expires_at": iso(claim.expires)}


async def confirm(call: Call, *, claim: str, yes: bool) -> Commit:
    """Say that a claimed account is the person's (yes: true), which pairs it, or that it is not."""
    await call.admit()
    accounts, space = call.store.shared.accounts, call.caller.space
    found = await accounts.claim(claim) if CLAIM.fullmatch(claim) else None
    if found is None or await _is_over(call.store, found):
        raise Refused("not_found", "There is no such claim (any more); each waits for 10 minutes. Nothing changed.")
    check_confirms(found, by=call.me, via=call.caller.via, manages="manage" in call.may, space=space)
    if await accounts.word(claim, yes) != yes:
        raise _said_before(found, yes=not yes, whose=await accounts.person(found.account))
    told = {"claim": claim, "person": found.person, "account": found.account}
    if not yes:
        await accounts.put_claim(replace(found, state="refused"))
        return Commit(result={**told, "paired": False})
    had = await call.once("had", lambda: accounts.of(found.person))
    # The account first: from then on each space reads whose it is, and what is noted is done even if nobody comes back.
    spaces = await call.store.shared.joined(found.person.partition(":")[2])
    await _note(call, found.person, spaces)
    if not await accounts.pair(Account(found.account, found.name, found.username, found.person)):
        raise _taken(await accounts.person(found.account))
    await _elsewhere(call, found.person, spaces)
    member = await call.read(Doc(Member, found.person))
    here = await joined(call, found.person, member, account=found.account) if member and member.role else None
    await accounts.put_claim(replace(found, state="paired"))
    replaced = {"replaced": had.number} if had and had.number != found.account else {}
    return Commit(
        result={**told, "paired": True, **replaced},
        puts=here.puts if here else (),
        entries=(_paired(call, found.person), *here.entries) if here else (),
        cards=here.cards if here else (),
        once={"name": found.name, **({"username": found.username} if found.username else {})},
    )


def _said_before(found: Claim, *, yes: bool, whose: str) -> Refused:
    """The refusal of a word against the one before; `whose` the account is now, '' for nobody's.

    That word may have paired nothing: the account was another's by then, or whoever said it is at it still.
    """
    stands = whose == found.person
    undo = f"{found.person} sends /unpair yes, or unpairs in the console"
    then = f" To undo it, {undo}." if stands else f" Nothing is paired by it so far; should that change, {undo}."
    if whose and not stands:
        then = " Nothing is paired by it, as the account is another person's by now, so there is nothing to undo."
    then = then if yes else " Get a new code."
    return Refused(
        "already_settled",
        f"It was said before that this is {'' if yes else 'not '}{found.person}. Nothing changed.{then}",
        status="refused" if not yes else "paired" if stands else found.state,
    )


def _paired(call: Call, person: str) -> Entry:
    return call.entry(person, "paired", f"A Telegram account is paired with {person}")


async def _is_over(store: Store, claim: Claim) -> bool:
    """Whether nobody has confirmed it in time."""
    return claim.state == "waiting" and claim.expires <= await store.shared.clock()


async def _note(call: Call, person: str, spaces: Iterable[str]) -> None:
    """Note that these spaces, and this one, are to reach a person by the account that is theirs then."""
    here = dict.fromkeys([*spaces, call.caller.space])
    await call.store.shared.accounts.note_chores(*(chore(PAIR, each, person=person) for each in here), wait=WAIT)


async def _elsewhere(call: Call, person: str, spaces: Iterable[str]) -> None:
    """Have the other ones of these spaces do that."""
    others = [each for each in spaces if each != call.caller.space]
    await everywhere(call.store, PAIR, others, client=call.caller.client, person=person)


async def _pair(call: Call, *, person: str) -> Commit | Result:
    """Reach a person in this space by the account that is theirs now, or by none."""
    account = await call.store.shared.accounts.of(person)
    member, reach = await call.read(Doc(Member, person), Doc(Reach, person))
    number = account.number if account and member and member.role else 0
    if number == (reach.account if reach else 0):
        return {"changed": False}
    if account and member and number:
        here, said = await joined(call, person, member, account=number, lost=account.lost), _paired(call, person)
    else:
        here, said = await left(call, person), _unpaired(call, person)
    entries = (said, *here.entries)
    return Commit(result={"changed": True}, puts=here.puts, entries=entries, cards=here.cards)


PAIR = Row("pair", "manage", _pair)


async def unpair(call: Call, *, person: str = "") -> Commit:
    """End the pairing with a Telegram account: yours everywhere; as an owner, another person's in this space."""
    await call.admit()
    whose = principal(person, kinds=("human",), default="human", name="person") if person else call.me
    mine = call.me in (whose, OPERATOR)
    if not mine and "manage" not in call.may:
        raise Refused("not_yours", f"{whose} unpairs their account, or an owner does. Nothing changed.")
    had = await call.once("had", lambda: call.store.shared.accounts.of(whose)) if mine else None
    here = await left(call, whose)
    if not here.puts and not had:
        raise Refused("not_found", f"{whose} has no Telegram account in {call.caller.space}. Nothing changed.")
    if mine:
        # The account first: whoever holds the phone is nobody from then on, whatever a space says.
        spaces = await call.store.shared.joined(whose.partition(":")[2])
        await _note(call, whose, spaces)
        await call.store.shared.accounts.unpair(whose)
        await _elsewhere(call, whose, spaces)
    return Commit(
        result={"person": whose, "paired": False},
        puts=here.puts,
        entries=(_unpaired(call, whose), *here.entries) if here.puts else (),
        cards=here.cards,
    )


def _unpaired(call: Call, person: str) -> Entry:
    return call.entry(person, "unpaired", f"No Telegram account is paired with {person} any more")


async def claim_state(store: Store, id: str) -> Result:
    """How a claim stands, for the bot: waiting, paired, refused or expired; and what to say of that."""
    with told_plainly():
        found = await store.shared.accounts.claim(id) if CLAIM.fullmatch(id) else None
        state = "expired" if found is None or await _is_over(store, found) else found.state
    return {"claim": id, "state": state, "person": found.person if found else "", "says": STATES[state]}
