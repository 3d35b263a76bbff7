"""`store-users`: passwords and the ACL file for a server that somebody else runs, such as the one in docker compose.

Beside them stand the secrets that are no user's of the store: what the API and the bot share, and the bot's token.
"""

import os
import secrets
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from . import show
from .fault import REFUSED, USAGE, Fault
from .options import Json

ACL_FILE = "users.acl"
TURN = 30.0  # seconds for another process to finish the same


def store_users(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the passwords and users.acl are kept.")],
    copy: Annotated[
        list[str] | None,
        typer.Option(metavar="FOLDER=FILE,…", help="Copy these files there, for a process that may have no others."),
    ] = None,
    bot_token: Annotated[
        bool, typer.Option("--bot-token", help="Take the Telegram bot's token from standard input, and keep it there.")
    ] = False,
    json: Json = False,
) -> None:
    """Make the store's users: a random password for each that has none yet, and the ACL file for the server.

    FOLDER is what LOGMEM_REDIS_SECRETS names; users.acl is what the server's `aclfile` names. Beside them it makes
    bot-secret, which the API and the Telegram bot share; bot-token is there once it was given. No secret is printed.
    """
    from store.engine import acl
    from store.engine import home as state

    from . import botkeys

    known = acl.users()
    given = _given() if bot_token else ""
    copies = [_copy(each, known=(ACL_FILE, *known, botkeys.SECRET, botkeys.TOKEN)) for each in copy or ()]
    with state.usable(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with state.turn(folder, time.monotonic() + TURN):
            made = [name for name in (*known, botkeys.SECRET) if _made(folder / name)]
            if given:
                _written(folder / botkeys.TOKEN, given + "\n")
            changed = _written(folder / ACL_FILE, acl.render({user: _password(folder / user) for user in known}))
    for target, names in copies:
        with state.usable(target):
            target.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in names:
                if name != botkeys.TOKEN or (folder / name).exists():  # there is one where there is a bot
                    _written(target / name, state.text(folder / name))
    if json:
        show.as_json({"folder": str(folder), "users": list(known), "made": made, "acl_changed": changed})
        return
    show.line(f"The store's users are {', '.join(known)}; their passwords and users.acl are in {folder}.")
    show.line(f"Secrets made now: {', '.join(made) or 'none, all were there'}.")
    if given:
        show.line(f"The bot's token is in {folder / botkeys.TOKEN}.")
    if changed:
        show.line("users.acl is new: a server that runs already takes it up when it is started again.")


def _given() -> str:
    """The token on standard input. Fault: it is none."""
    from .botapi import LIKE

    token = sys.stdin.readline().strip()
    if not LIKE.fullmatch(token):
        raise Fault(
            "What standard input says is not a bot's token, such as 123456789:AAE…. Nothing was made.", code=USAGE
        )
    return token


def _copy(given: str, *, known: tuple[str, ...]) -> tuple[Path, list[str]]:
    """A folder and what goes there. Fault: what was given is neither."""
    folder, _, names = given.partition("=")
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if not folder or not wanted or unknown:
        raise Fault(
            f"--copy {given[:80]!r} is not FOLDER=FILE,… with files among {', '.join(known)}. Nothing was made.",
            code=USAGE,
        )
    return Path(folder), wanted


def _made(path: Path) -> bool:
    """Make a password where there is none."""
    from store.engine import home as state

    if os.path.lexists(path):
        return False
    state.write(path, secrets.token_hex(32) + "\n")
    return True


def _password(path: Path) -> str:
    """Fault: the file holds none, as when its writing was cut off by somebody else."""
    found = path.read_text().strip()
    if not found:
        raise Fault(f"{path} is empty: put a password there, or remove it to have one made.", code=REFUSED)
    return found


def _written(path: Path, text: str) -> bool:
    """Write a file if it says something else, so that what is right already is left alone."""
    from store.engine import home as state

    if path.exists() and state.text(path) == text:
        return False
    state.write(path, text)
    return True
