"""What people type in their own chat. Each command is a row of a table; all of them ask the door, none decides."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from store.domain.errors import Refused

from .. import lists
from ..context import Context
from ..incoming import Press, Said
from ..saying import LIMIT, answered, is_idle, refusal, sentence
from ..text import Text
from ..words import Offer, Words
from .pairing import started

__all__ = ["COMMANDS", "commanded", "here"]

OFFERED = 20  # cards of each space that one /pending sends anew
ON_CALL = "Say /oncall on or /oncall off. Nothing changed."
SWITCH = {"on": True, "off": False}
UNPAIR = "This ends the pairing: no card comes here any more. To do it, send /unpair yes"
CODE = "Say which: /{} and the code that stands on the card."
UNKNOWN = "There is no such command. /help lists those there are."

Result = Mapping[str, Any]
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Command:
    """`about` says what it does; `shown` is how it is written in the help, where that is more than its name.

    `idle`: the answer is the same for everybody.
    """

    about: str
    act: "Callable[[Context, Said, Sequence[str]], Awaitable[Text | str | Words]]"
    shown: str = ""
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command came to in one space: what was found or done, or why nothing was."""

    space: str | None
    found: Result | None = None
    no: Refused | None = None


async def commanded(ctx: Context, said: Said, text: str = "") -> Words:
    """Do what a command says (the message, or `text` in its place), and answer. What is refused is logged with why."""
    first, *words = (text or said.text).split()
    name, _, bot = first[1:].lower().partition("@")
    if bot and bot != str(ctx.me.get("username", "")).lower():
        return ()
    command = TABLE.get(name)
    if command is None:
        return (answered(said, UNKNOWN, idle=True),)
    try:
        answer = await command.act(ctx, said, words)
    except Refused as no:
        _log(said, name, no)
        return (answered(said, refusal(no), idle=is_idle(no)),)
    return answer if isinstance(answer, tuple) else (answered(said, answer, idle=command.idle and not words),)


def _log(said: Said, name: str, no: Refused) -> None:
    log.warning("a command was refused", command=name, why=no.code, user=said.user, update=said.update)


async def spaces(ctx: Context, said: Said, named: Sequence[str]) -> list[str]:
    """The spaces that are meant: the one that is named, else all of the person's. Refused for nobody's account."""
    try:
        own = [str((await _ask(ctx, said, "connection"))["space"])]
    except Refused as no:
        if no.code != "scope_undeclared" or not no.facts.get("spaces"):
            raise
        own = [str(space) for space in no.facts["spaces"]]  # type: ignore[attr-defined] # it is a list of names
    return [name.lower() for name in named[:1]] or own


async def _ask(ctx: Context, said: Said | Press, verb: str, space: str | None = None, **args: Any) -> dict[str, Any]:
    found = await ctx.door.verb(
        update=said.update, user=said.user, chat=said.chat, chat_type=said.chat_type, verb=verb, args=args, space=space
    )
    return {"space": space, **found}


async def _each(ctx: Context, said: Said, verb: str, named: Sequence[str] = (), **args: Any) -> list[Outcome]:
    """The same in each space: what is refused in one hides nothing of the others. Refused if it is so everywhere."""
    outcomes = []
    for space in await spaces(ctx, said, named):
        try:
            outcomes.append(Outcome(space, found=await _ask(ctx, said, verb, space, **args)))
        except Refused as no:
            _log(said, verb, no)
            outcomes.append(Outcome(space, no=no))
    outcomes = _real_first(outcomes)
    refused = [each.no for each in outcomes if each.no]
    if refused and len(refused) == len(outcomes) and len({refusal(no) for no in refused}) == 1:
        raise refused[0]
    return outcomes


def _real_first(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The same, with the simulated spaces last."""
    return sorted(outcomes, key=lambda each: bool(each.found and each.found.get("simulated")))


def _listed(verb: str, show: Callable[[Result], Text]) -> "Callable[[Context, Said, Sequence[str]], Awaitable[Text]]":
    async def act(ctx: Context, said: Said, words: Sequence[str]) -> Text:
        return shown(await _each(ctx, said, verb, words), show)

    return act


def shown(outcomes: Sequence[Outcome], show: Callable[[Result], Text]) -> Text:
    """Each space with what was found there, or with why nothing was."""
    return joined([one(each, show) for each in outcomes])


def one(outcome: Outcome, show: Callable[[Result], Text]) -> Text:
    """A space with what was found there, or with why nothing was."""
    if outcome.no is not None:
        return lists.refused(outcome.space or "", refusal(outcome.no))
    return show(outcome.found or {})


def joined(texts: Sequence[Text], *, apart: bool = True) -> Text:
    """Several texts, as many as a message has room for; `apart` by an empty line."""
    whole = Text()
    for n, text in enumerate(texts):
        if whole.size + text.size > LIMIT:
            return whole.line().add(f"{len(texts) - n} more spaces: name one after the command.")
        if n and apart:
            whole.line()
        whole.join(text)
    return whole


async def _pending(ctx: Context, said: Said, words: Sequence[str]) -> Words:
    """What waits, and then its cards anew: presses on old ones may have been lost."""
    outcomes = await _each(ctx, said, "inbox", words)
    found = [each.found for each in outcomes if each.found is not None]
    offers = {each["space"]: _offers(said, each) for each in found}
    text = shown(outcomes, lambda found: lists.pending(found, offered=len(offers[found["space"]])))
    return answered(said, text), *(offer for each in offers.values() for offer in each)


def _offers(said: Said | Press, found: Result) -> Words:
    """The cards of what is due first."""
    refs = [(one["deadline"], f"ask:{one['trail']}") for one in found.get("asks") or ()]
    refs += [(one["deadline"], f"item:{one['trail']}") for one in found.get("handed") or ()]
    due = sorted(refs)[:OFFERED]
    return tuple(Offer(chat=said.chat, space=found["space"], ref=ref, who=found["caller"]) for _, ref in due)


async def here(ctx: Context, press: Press, space: str) -> tuple[Text, Words]:
    """What `/sync` and `/pending` say of one space, and then the cards of what waits there."""
    day, found = await _ask(ctx, press, "sync", space), await _ask(ctx, press, "inbox", space)
    offers = _offers(press, found)
    return joined([lists.sync(day), lists.pending(found, offered=len(offers))]), offers


async def _sync(ctx: Context, said: Said, words: Sequence[str]) -> Text:
    """The day as it stands; with on or off, whether one takes part in it."""
    first, *named = [word.lower() for word in words] or [""]
    if first in SWITCH:
        return shown(await _each(ctx, said, "attend", named, on=SWITCH[first]), lists.attends)
    return shown(await _each(ctx, said, "sync", words), lists.sync)


async def _on_call(ctx: Context, said: Said, words: Sequence[str]) -> Text | str:
    """Go on call, or off; alone it shows who is."""
    if not words:
        return shown(await _each(ctx, said, "quiet"), lists.on_call)
    if words[0].lower() not in SWITCH:
        return ON_CALL
    return shown(await _each(ctx, said, "oncall", on=SWITCH[words[0].lower()]), lists.on_call)


async def _snooze(ctx: Context, said: Said, words: Sequence[str]) -> Text:
    """Cards without a sound for a while; alone it shows until when they are."""
    until = {"snooze": " ".join(words)} if words else {}
    return shown(await _each(ctx, said, "quiet", **until), lists.snooze)


async def _quiet(ctx: Context, said: Said, words: Sequence[str]) -> Text:
    return shown(await _each(ctx, said, "quiet", hours="".join(words)), lists.hours)


async def _whoami(ctx: Context, said: Said, words: Sequence[str]) -> Text:
    outcomes = await _each(ctx, said, "connection", words)
    who = next((str(each.found["caller"]) for each in outcomes if each.found is not None), "")
    text = lists.whoami(who, account=said.user) if who else Text()
    rights = [one(each, lists.rights) for each in outcomes]
    ways = {each.space: lists.ways(each.found) for each in await _ways(ctx, said, outcomes) if each.found is not None}
    both = [right.join(ways.get(each.space, Text())) for right, each in zip(rights, outcomes, strict=True)]
    return text.join(joined(both, apart=False))


async def _ways(ctx: Context, said: Said, where: Sequence[Outcome]) -> list[Outcome]:
    """How cards come to somebody, in these spaces; nothing of those where none do."""
    found = []
    for each in where:
        try:
            found.append(Outcome(each.space, found=await _ask(ctx, said, "quiet", each.space)))
        except Refused:
            continue
    return _real_first(found)


async def _unpair(ctx: Context, said: Said, words: Sequence[str]) -> str:
    (first, *_) = await spaces(ctx, said, ())
    if [word.lower() for word in words[:1]] != ["yes"]:
        return UNPAIR
    await _ask(ctx, said, "unpair", first)
    return "This account is not paired any more. No card comes here."


def _typed(verb: str) -> "Callable[[Context, Said, Sequence[str]], Awaitable[str]]":
    async def act(ctx: Context, said: Said, words: Sequence[str]) -> str:
        if not words:
            return CODE.format(verb)
        done = await ctx.door.typed(
            update=said.update, user=said.user, chat=said.chat, chat_type=said.chat_type, code=words[0], verb=verb
        )
        return sentence(str(done.get("says") or "Done."))

    return act


async def _help(ctx: Context, said: Said, words: Sequence[str]) -> Text:
    """The commands; and to somebody of a space, how cards come to them now."""
    text = Text().add(HELP)
    try:
        own = [Outcome(space) for space in await spaces(ctx, said, ())]
    except Refused:
        return text
    ways = [
        lists.heading(each.found).add(". ").join(lists.ways(each.found))
        for each in await _ways(ctx, said, own)
        if each.found is not None
    ]
    return text.line().line().join(joined(ways, apart=False)) if ways else text


TABLE: Mapping[str, Command] = {
    "pending": Command("what waits for you, as cards", _pending, "/pending [SPACE]"),
    "fleet": Command("agents and people, and what they do", _listed("fleet", lists.fleet), "/fleet [SPACE]"),
    "jobs": Command("jobs by stage", _listed("board", lists.board), "/jobs [SPACE]"),
    "sync": Command(
        "the day’s windows; on: a message of each day, and you are expected; off: neither",
        _sync,
        "/sync [SPACE], /sync on [SPACE], /sync off [SPACE]",
    ),
    "oncall": Command("get asks before others do", _on_call, "/oncall on, /oncall off"),
    "snooze": Command("cards without a sound for a while", _snooze, "/snooze 2h, /snooze off"),
    "quiet": Command("hours without a sound, each day", _quiet, "/quiet 22:00-07:00, /quiet off"),
    "whoami": Command("who you are here", _whoami, "/whoami [SPACE]"),
    "unpair": Command("end the pairing with this account", _unpair),
    "approve": Command("approve what a card shows", _typed("approve"), "/approve CODE"),
    "reject": Command("reject what a card shows", _typed("reject"), "/reject CODE"),
    "start": Command("pair this account with a code", started, "/start CODE", idle=True),
    "help": Command("the commands", _help, idle=True),
}
HELP = (
    "Asks come here as cards; the buttons decide, and a reply asks back.\n"
    + "\n".join(f"{command.shown or f'/{name}'} – {command.about}" for name, command in TABLE.items())
    + "\nWithout SPACE it is all of your spaces."
)
COMMANDS = tuple((name, command.about) for name, command in TABLE.items())
