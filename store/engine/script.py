"""A script of lua/ as a function: run by its hash, which the server is told the text of where it does not know it.

It is never run by its text: the store's users may run the scripts whose hashes users.acl names, and no others.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import redis
from redis.asyncio import Redis

from .exchange import exchange
from .reads import Command

FOLDER = Path(__file__).parent / "lua"

Argument = str | int | bytes


def text_of(name: str) -> str:
    """The text of `lua/<name>.lua`."""
    return (FOLDER / f"{name}.lua").read_text(encoding="utf-8")


def sha_of(text: str) -> str:
    """The hash by which the server knows a script."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class Script:
    """One script; its KEYS, ARGV and replies stand in its header."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = sha_of(text)

    async def __call__(
        self, client: Redis, keys: Sequence[str], argv: Sequence[Argument], *, then: Sequence[Command] = ()
    ) -> Any:
        """Its reply. `then` are commands that go along in the same round trip and are done after it."""
        run = [("EVALSHA", self.sha, len(keys), *keys, *argv), *then]
        try:
            reply, *_ = await exchange(client, run)
        except redis.exceptions.NoScriptError:  # the server was started anew; the script did not run
            _, reply, *_ = await exchange(client, [("SCRIPT LOAD", self.text), *run])
        return reply
