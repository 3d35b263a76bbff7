"""`telegram`: set the bot up, see how it does, turn it off."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from . import botkeys, show
from .fault import REFUSED, USAGE, Fault
from .options import Json, Space

WRONG = {  # what the bot says of itself, in a sentence
    "unauthorized": "Telegram does not know its token",
    "conflict": "another process asks Telegram with its token",
    "away": "it does not reach Telegram",
    "webhook": "the webhook brings nothing",
    "store away": "it does not reach the store",
}
SET_UP = "logmem telegram set-up"
DO = {  # about it
    "unauthorized": f"For another one: {SET_UP}",
    "conflict": f"Stop that one, or make this one a bot of its own: {SET_UP}",
    "away": "It tries again by itself: look at the network, and at LOGMEM_TELEGRAM_API_URL where that is set.",
    "webhook": "It tries again by itself: look at LOGMEM_WEBHOOK_URL, and at the web server in front of it.",
    "starting": "Look again in a few seconds.",
}
STANDARD_INPUT = "-"


def telegram(
    what: Annotated[
        Literal["set-up", "status", "off"] | None,
        typer.Argument(
            metavar="[set-up|status|off]", help="Default: set-up at a terminal without a token, else status."
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Take the bot's token from there; - is standard input."),
    ] = None,
    space: Space = None,
    json: Json = False,
) -> None:
    """Set the Telegram bot up, see how it does, or turn it off.

    The token is checked with Telegram and kept in the state folder, for your user's eyes only. `up` starts the bot
    within a second; off forgets the token, and people stay paired.
    """
    from .asking import attended
    from .setting import quiet, settings

    found = settings(space=space)
    quiet(found)
    if token_file is not None:
        _only("--token-file", what, "set-up")
        _take(found, token_file, json=json)
        return
    there = bool(botkeys.token(found))
    guided = attended() and not json
    match what or ("status" if there or not guided else "set-up"):
        case "off":
            _off(found, json=json)
        case "set-up":
            if not guided:
                raise Fault("Where nobody can be asked, give the token with --token-file FILE.", code=USAGE)
            _guided(found, space)
        case _:
            _status(found, space, json=json)


def _only(option: str, what: str | None, fits: str) -> None:
    if what not in (None, fits):
        raise Fault(f"{option} goes with {fits}, not with {what}. Nothing was done.", code=USAGE)


def _take(found: Any, file: Path, *, json: bool) -> None:
    """Check the token of a file and keep it. Fault: it cannot be read, or is none."""
    from .botapi import whose

    if botkeys.from_environment():
        raise Fault("LOGMEM_BOT_TOKEN is set, and goes before what is saved. Nothing was saved.", code=REFUSED)
    try:
        token = sys.stdin.readline() if str(file) == STANDARD_INPUT else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise Fault(f"{file} cannot be read: {why}.", code=USAGE) from None
    bot = asyncio.run(whose(found, token.strip()))
    botkeys.save(found.home, token.strip())
    kept = str(botkeys.token_file(found.home))
    if json:
        show.as_json({"bot": bot.username, "id": bot.id, "token_file": kept})
        return
    show.line(f"@{bot.username} is the bot now; its token is in {kept}.")
    show.line("A server that is up starts it within a second. To pair somebody: logmem human pair NAME")


def _off(found: Any, *, json: bool) -> None:
    was = botkeys.forget(found.home)
    if json:
        show.as_json({"off": True, "was": was})
        return
    show.line("The token that was saved is forgotten; a bot that ran with it ends." if was else "No token was saved.")
    if botkeys.from_environment():
        show.line("LOGMEM_BOT_TOKEN is set: what is started with it goes on. Unset it, and start that anew.")


def _guided(found: Any, space: str | None) -> None:
    """Take whoever sits here through it. Fault: nothing is up that would start the bot."""
    from .first import command_name
    from .guide import Guide
    from .operate import Operator, operate
    from .server import here

    url = here(found)

    async def work(operator: Operator) -> None:
        people = (await operator.every("people"))["people"]
        owner = next((each["person"] for each in people if each["role"] == "owner"), "")
        if not owner:
            raise Fault(f"There is no owner in {operator.space or 'this space'} whose phone could be paired.")
        await Guide(found, operator, url, command_name()).all(owner)

    operate(work, space=space)


def _status(found: Any, space: str | None, *, json: bool) -> None:
    """What is known of the token, the bot, and who is paired."""
    from store.engine.botstore import WELL, bot_state, standing

    from . import pairing
    from .home import running
    from .operate import Operator, operate
    from .setting import log_of

    async def work(operator: Operator) -> dict[str, Any]:
        found = await operator.every("people")
        state = await bot_state(operator.store.reader)
        return {
            "bot": state.get("username", ""),
            "state": standing(state, now=await operator.store.shared.clock()),
            "people": {p["person"]: p["telegram"] for p in found["people"] if p.get("telegram")},
            "waiting": await pairing.waiting(operator, found["space"]),
        }

    known = operate(work, space=space)
    said: dict[str, Any] = {
        "token": "environment" if botkeys.from_environment() else "saved" if botkeys.saved(found.home) else "",
        **known,
        "works": known["state"] == WELL,
        "up": running(found.home) is not None,
    }
    if json:
        show.as_json(said)
        return
    _tell(said, log=log_of(found, "bot"))


def to_do(state: str) -> str:
    """What to do about a bot that is not at work."""
    if state == "unauthorized" and botkeys.from_environment():
        return "Set another one in LOGMEM_BOT_TOKEN, and start what has it anew."
    return DO.get(state, "It runs while LogMem is up, unless that was told --no-bot: logmem up")


def _tell(said: dict[str, Any], *, log: str) -> None:
    from . import pairing

    tokens = {"environment": "of LOGMEM_BOT_TOKEN", "saved": "saved in the state folder", "": "none"}
    show.styled(("Token   ", "bold"), tokens[said["token"]])
    known = [f"@{said['bot']}"] if said["bot"] else []
    known += [_doing(said)] if known or said["state"] in WRONG else []
    show.styled(("Bot     ", "bold"), ", ".join(known) or "none has run here")
    paired = ", ".join(who if how == "paired" else f"{who} ({how})" for who, how in said["people"].items())
    how = ": logmem human pair NAME" if said["works"] else ""
    show.styled(("Paired  ", "bold"), paired or f"nobody yet{how}")
    pairing.tell_waiting(said["waiting"])
    if not said["token"]:
        show.line("To set it up: logmem telegram set-up, or logmem telegram --token-file FILE")
    elif not said["works"]:
        show.line(f"Its log: {log}")
        show.prose(to_do(said["state"]))


def _doing(said: dict[str, Any]) -> str:
    if said["works"]:
        return "at work"
    why = WRONG.get(said["state"])
    return f"not at work: {why}" if why else str(said["state"])
