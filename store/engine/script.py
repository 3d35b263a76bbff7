"""A script of lua/ as a function: run by its hash, sent whole only where the server does not know it."""

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
    return (FOLDER / f"{name}.lua").read_text()


class Script:
    """One script; its KEYS, ARGV and replies stand in its header."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()

    async def __call__(
        self, client: Redis, keys: Sequence[str], argv: Sequence[Argument], *, then: Sequence[Command] = ()
    ) -> Any:
        """Its reply. `then` are commands that go along in the same round trip and are done after it."""
        tail = (len(keys), *keys, *argv)
        try:
            reply, *_ = await exchange(client, [("EVALSHA", self.sha, *tail), *then])
        except redis.exceptions.NoScriptError:  # the server was started anew; the script did not run
            reply, *_ = await exchange(client, [("EVAL", self.text, *tail), *then])
        return reply
