"""What `up` says of the bot, whatever stands in the bot's own records: it goes on, and nothing in them acts."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from logmem import children
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded
from store.engine.keys import of_bot
from tests.world import swept

LATER = 10**14  # ms: after the beginning of any test
PATIENCE = 20.0  # seconds


@pytest.fixture
async def bot(engine: Embedded, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """A client of lm-bot's, and no state yet; it is looked at often."""
    monkeypatch.setattr(children, "STATE_LOOK", 0.01)
    await swept(engine)
    async with open_client(Target.embedded(engine), user="lm-bot") as client:
        yield client


async def looks(admin: Any) -> int:
    """How often the state of the bot was read, by whomever."""
    return int((await admin.info("commandstats")).get("cmdstat_hmget", {}).get("calls", 0))


async def said(bot: Any, engine: Embedded, out: pytest.CaptureFixture[str], *states: dict[str, Any]) -> list[str]:
    """The lines of who watches while these states come one after the other, the last of which is told."""
    watching = asyncio.create_task(children.watch_bot(Target.embedded(engine)))
    heard = ""
    try:
        async with asyncio.timeout(PATIENCE), open_client(Target.embedded(engine), user="lm-admin") as admin:
            for state in states:
                await bot.hset(of_bot("state"), mapping=state)
                seen = await looks(admin)
                while await looks(admin) < seen + 2:  # one may have been under way
                    assert not watching.done()
                    await asyncio.sleep(0.01)
            while not heard.endswith("\n"):
                assert not watching.done()
                heard += out.readouterr().err
                await asyncio.sleep(0.01)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    return heard.splitlines()


@pytest.mark.parametrize("odd", [{"at": "x"}, {"at": b"\xff"}, {"at": "9" * 400}, {"at": ""}, {"alive": "x"}])
async def test_nonsense_in_its_state_ends_nothing(
    bot: Any, engine: Embedded, capsys: pytest.CaptureFixture[str], odd: dict[str, Any]
) -> None:
    """What the bot's user writes there is passed over, and what it writes next is told."""
    sound = {"at": str(LATER), "state": "unauthorized"}
    lines = await said(bot, engine, capsys, {"state": "away", **odd}, sound)
    assert lines[-1].startswith("Telegram does not know the bot's token.")


async def test_what_it_says_of_itself_acts_nowhere(
    bot: Any, engine: Embedded, capsys: pytest.CaptureFixture[str]
) -> None:
    """No escape and no line of its own gets to the terminal, and no name but a user name of Telegram's."""
    evil = "\x1b]0;pwn\x07\x1b[2J\nAll is well\u202e"
    away = {"at": str(LATER), "state": "away", "why": evil, "username": f"evil{evil}"}
    (line,) = await said(bot, engine, capsys, away)
    assert line == (
        r'The Telegram bot does not reach Telegram ("\u001b]0;pwn\u0007\u001b[2J\nAll is well\u202e"), and tries again.'
    )
    *_, line = await said(bot, engine, capsys, {"why": "x", "at": str(LATER)}, {"state": "polling", "why": ""})
    assert line == "The Telegram bot is at work again."
