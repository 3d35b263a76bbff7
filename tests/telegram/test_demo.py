"""`logmem demo`, decided by a tap on the owner's phone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.domain.day import day_ref
from store.domain.moments import DAY
from store.domain.occurrence import Occurrence
from store.engine.embedded import stop
from store.verbs.cards import card as day_card
from tests.command.phones import later, phone_of, upped
from tests.command.running import PATIENCE, Command
from tests.command.test_demo_day import space_of
from tests.contract.scheduled import occurrences
from tests.telegram.running import UNLIMITED, running
from tests.telegram.test_days import of_day
from tests.telegram.together import eventually
from tests.world import World

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


async def silent_afterwards(home: Path, space: str) -> None:
    """A day after its end nobody is expected in the demo's space, and its message is for nobody."""
    async with space_of(home, space) as world:
        before = [*await occurrences(world)][-1]
        await world.pass_time(DAY)
        morning = await eventually(lambda: newest(world, "open", but=before), what="no window has opened")
        await world.pass_time(DAY // 4)
        await eventually(lambda: newest(world, "open", but=morning.id), what="the next one has not opened")
        over = await eventually(lambda: ended(world, morning.id), what="it is not accounted for")
        assert (over.slot, over.reason) == ("morning", "nobody_expected")
        view = await day_card(world.store, space=space, ref=day_ref(morning.day), holding=())
        assert (view["state"], view["to"]) == ("open", [])


async def newest(world: World, state: str, *, but: str) -> Occurrence | None:
    """The window that opened last, once that is another one, and in this state."""
    last = [*(await occurrences(world)).values()][-1]
    return last if last.id != but and last.state == state else None


async def ended(world: World, id: str) -> Occurrence | None:
    """The window, once it is accounted for."""
    found = (await occurrences(world))[id]
    return found if found.ended else None


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
        await ana.until(of_day)  # of the day that was played
        await silent_afterwards(command.home, rest[-1]["space"])
        assert await telegram.violations() == ()


async def test_without_a_phone_the_console_alone_is_named(command: Command) -> None:
    """A bot that runs is not named to an owner who is not paired."""
    async with running(**UNLIMITED) as telegram, upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        told = await later(lambda: command.run("demo", "--wait", "1s"))
        assert told.code == 6
        assert "decide it in the console, within" in told.out
