"""The bot's two secrets in the state folder: its token, which a person brings, and the credential that we make for it.

secrets/bot-token    what BotFather gave; the token of the environment goes before it
secrets/bot-secret   what the bot shows the API at each call, known to those two alone
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from store.engine import home as state
from store.settings import PREFIX, Settings

TOKEN, SECRET = "bot-token", "bot-secret"  # files
BYTES = 32  # of a credential, in hex twice as many characters
LOGGING = ("LOG_LEVEL", "SCHEDULER_")  # of the scheduler's
PASSED = ("BOT_", "TELEGRAM_", "WEBHOOK_", "LOG_LEVEL")  # what of the environment is the bot's business


def token_file(home: Path) -> Path:
    """Where a token that was saved lies."""
    return home / "secrets" / TOKEN


def saved(home: Path) -> str:
    """The token that was saved, or ''."""
    return state.text(token_file(home)).strip()


def save(home: Path, token: str) -> None:
    """Keep a token, for this user's eyes only."""
    with state.usable(home):
        token_file(home).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        state.write(token_file(home), token + "\n")


def forget(home: Path) -> bool:
    """Remove the token that was saved; whether there was one."""
    there = bool(saved(home))
    token_file(home).unlink(missing_ok=True)
    return there


def token(settings: Settings) -> str:
    """The token in force: the environment's, else the one that was saved; '' for none."""
    return settings.bot_token.get_secret_value() if settings.bot_token else saved(settings.home)


def made(home: Path) -> Path:
    """The file of the credential, made if it is not there."""
    path = home / "secrets" / SECRET
    with state.usable(home):
        if not state.text(path).strip():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            state.write(path, secrets.token_hex(BYTES) + "\n")
    return path


def credential(settings: Settings) -> dict[str, str]:
    """The variable by which the API and the bot get the credential; made if none is set."""
    return {} if settings.bot_secret else {f"{PREFIX}BOT_SECRET_FILE": str(made(settings.home))}


def known(settings: Settings) -> dict[str, str]:
    """For one process alone: the variables of the secrets that lie in the state folder and that nothing else names."""
    given = {"BOT_SECRET": settings.bot_secret, "BOT_TOKEN": settings.bot_token}
    files = {"BOT_SECRET": settings.home / "secrets" / SECRET, "BOT_TOKEN": token_file(settings.home)}
    return {f"{PREFIX}{name}_FILE": str(files[name]) for name in files if not given[name] and files[name].exists()}


def without_token(env: Mapping[str, str]) -> dict[str, str]:
    """An environment for whoever has no business with the token."""
    ours = (f"{PREFIX}BOT_TOKEN", f"{PREFIX}BOT_TOKEN_FILE", f"{PREFIX}WEBHOOK_SECRET", f"{PREFIX}WEBHOOK_SECRET_FILE")
    return {name: value for name, value in env.items() if name not in ours}


def only_ours(env: Mapping[str, str], passed: tuple[str, ...] = PASSED) -> dict[str, str]:
    """An environment for the bot, or for another child: of our variables those alone that are its business."""
    ours = tuple(PREFIX + each for each in passed)
    return {name: value for name, value in env.items() if not name.startswith(PREFIX) or name.startswith(ours)}


def from_environment() -> bool:
    """Whether the environment names a token, so that what is saved is not looked at."""
    return bool(os.environ.get(f"{PREFIX}BOT_TOKEN") or os.environ.get(f"{PREFIX}BOT_TOKEN_FILE"))
