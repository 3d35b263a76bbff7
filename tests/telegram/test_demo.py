"""`logmem demo`, decided by a tap on the owner's phone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.engine.embedded import stop
from tests.command.phones import later, phone_of, upped
from tests.command.running import PATIENCE, Command
from tests.telegram.running import UNLIMITED, running

Events = list[dict[str, Any]]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """A command whose state folder does not exist yet."""
    made = Command(tmp_path / "home")
    yield made
    if made.home.is_dir():
        stop(made.home)


def until_asked(lines: Iterator[str]) -> Events:
    """What it says up to the person's turn."""
    found: Events = []
    for line in lines:
        found.append(json.loads(line))
        if "ask_url" in found[-1]:
            break
    return found


@pytest.mark.parametrize(("label", "used"), [("Approve", 1), ("Reject", 0)])
async def test_a_tap_decides_the_demo(command: Command, label: str, used: int) -> None:
    """The printed line names the bot; the tap is the person's decision, via Telegram, and the demo goes on by it."""
    async with running(**UNLIMITED) as telegram, upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        ana = await phone_of(command.home, telegram, "owner")
        with command.started("demo", "--json", LOGMEM_TELEGRAM_API_URL=telegram.url) as process:
            assert process.stdout
            seen = await later(until_asked, process.stdout)
            assert seen[-1]["bot"] == "logmem_test_bot"
            assert "on your phone (@logmem_test_bot)" in seen[-1]["text"]
            card = await ana.until(lambda m: "Publish release announcement" in m.text and label in m.labels)
            await ana.tap(card, label)
            if label == "Reject":
                card = await ana.until(lambda m: m.id == card.id and "Not now" in m.labels)
                await ana.tap(card, "Not now")
            rest = [json.loads(line) for line in await later(process.stdout.readlines)]
            assert await later(process.wait, PATIENCE) == 0, command.errors.read_text()
        assert len([e for e in rest if e.get("verb") == "redeem" and not e["refused"]]) == used
        (told,) = [e["result"] for e in rest if e.get("verb") == "follow" and "decided_by" in e["result"]]
        assert (told["decided_by"], told["via"]) == ("human:owner", "telegram")
        assert rest[-1]["verified"]["ok"]
        await ana.until(lambda m: m.id == card.id and label not in m.labels)
        assert await telegram.violations() == ()


async def test_without_a_phone_the_console_alone_is_named(command: Command) -> None:
    """A bot that runs is not named to an owner who is not paired."""
    async with running(**UNLIMITED) as telegram, upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        told = await later(lambda: command.run("demo", "--wait", "1s"))
        assert told.code == 6
        assert "decide it in the console, within" in told.out
