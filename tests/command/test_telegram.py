"""Telegram from the command: set up at a terminal down to the first tap, by a file, with a wrong token, and off."""

import io
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from logmem import botkeys
from logmem.pairing import Code, tell
from logmem.qr import drawn
from store.engine.keys import of_bot
from tests.telegram.phone import Telegram
from tests.telegram.running import UNLIMITED, running

from .admin import as_admin, operated
from .phones import bots, later, phone_of, upped
from .running import PATIENCE, Command, children, lives, until, up
from .terminal import COLUMNS, terminal

LAST = "(SECURITY.md)"
ACTIONS = 9  # of the person, BotFather's three included, as docs/telegram.md counts them


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    """An emulator without floods."""
    async with running(**UNLIMITED) as made:
        yield made


def code_in(text: str) -> str:
    """The last code that was shown."""
    return str(re.findall(r"/start ([0-9a-z]{5}-[0-9a-z]{5})", text)[-1])


def traceless(home: Path) -> None:
    """The practice's agent is not in the fleet any more, and is not expected to check in."""
    fleet = operated(home, "fleet", "fleet")
    assert "agent:practice" not in json.dumps(fleet)
    day = operated(home, "sync", "fleet")
    assert "agent:practice" not in json.dumps(day)


def variables(pid: int) -> set[str]:
    """The names in a process's environment."""
    return {each.partition(b"=")[0].decode() for each in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")}


async def test_from_nothing_to_the_first_tap(command: Command, telegram: Telegram) -> None:
    """Name, three messages to BotFather, token, code, Start, yes, tap: nine actions, and each is told what is next."""
    done = 0
    with terminal(command.home, "up", "--port", "0", LOGMEM_TELEGRAM_API_URL=telegram.url) as screen:
        await later(screen.read_until, "Your name [")
        screen.type("Ana\n")
        done += 1
        text = await later(screen.read_until, "Token [Enter: later]: ")
        done += len(re.findall(r"^   [1-9]\. .*(?:[Ss]end)", text, re.M))  # what BotFather is sent
        screen.type(f"{telegram.token}\n")
        done += 1
        text = await later(screen.read_until, "Waiting for Start")
        assert telegram.token not in screen.raw
        done += 1  # the camera
        ana = await telegram.person("Ana", id=4455, username="ana")
        await ana.start(code_in(text))
        done += 1
        await later(screen.read_until, 'Is this you: "Ana" (@ana), id 4455? [y/N] ')
        screen.type("y\n")
        done += 1
        card = await ana.until(lambda m: "Shall I say hello?" in m.text)
        toast = await ana.tap(card, "Approve")
        done += 1
        assert done == ACTIONS
        assert "approved" in toast.text
        await later(screen.read_until, "human:ana approved it, via telegram.", LAST)
        assert (command.home / "secrets" / "bot-token").stat().st_mode & 0o777 == 0o600
        (key,) = (await later(command.json, "keys"))["keys"]
        assert (key["name"], key["state"]) == ("practice", "revoked")
        await ana.until(lambda m: "Shall I say hello?" in m.text and not m.labels)  # used: nothing is left to take back
        await later(traceless, command.home)
        said = await later(lambda: command.json("telegram", LOGMEM_TELEGRAM_API_URL=telegram.url))
        assert (said["token"], said["state"], said["people"]) == ("saved", "polling", {"human:ana": "paired"})
        assert await later(screen.end) == 0
    for log in ("api.log", "bot.log"):
        assert telegram.token.partition(":")[2] not in (command.home / "logs" / log).read_text()
    assert await telegram.violations() == ()


async def test_each_step_can_be_left_for_later(command: Command, telegram: Telegram) -> None:
    """Enter leaves the token, and then the phone; `telegram` goes on where it was left; no is no."""
    url = {"LOGMEM_TELEGRAM_API_URL": telegram.url}
    with terminal(command.home, "up", "--port", "0", **url) as screen:
        await later(screen.read_until, "Your name [")
        screen.type("ana\n")
        await later(screen.read_until, "Token [Enter: later]: ")
        screen.type("\n")
        text = await later(screen.read_until, LAST)
        assert "Left for later: " in text
        assert re.search(r"telegram +asks come to your phone", text)
        with terminal(command.home, "telegram", **url) as second:
            await later(second.read_until, "Token [Enter: later]: ")
            second.type("nonsense\n")
            await later(second.read_until, "That is not a bot's token")
            second.type("12345:never-heard-of-this-one\n")
            await later(second.read_until, "Telegram knows no bot with this token")
            second.type(f"{telegram.token}\n")
            await later(second.read_until, "Waiting for Start")
            second.type("\n")
            await later(second.read_all)
            assert second.process.wait(PATIENCE) == 0
        with terminal(command.home, "human", "pair", "ana", **url) as third:
            text = await later(third.read_until, "Waiting for Start")
            mallory = await telegram.person("Mallory")
            await mallory.start(code_in(text))
            await later(third.read_until, '"Mallory", id')
            third.type("\n")
            await later(third.read_all)
            assert third.process.wait(PATIENCE) == 0
        assert (await later(command.json, "telegram"))["people"] == {}
        assert await later(screen.end) == 0


async def test_a_practice_ask_can_be_left(command: Command, telegram: Telegram) -> None:
    """Enter takes the practice ask back, and its key is gone all the same."""
    url = {"LOGMEM_TELEGRAM_API_URL": telegram.url}
    async with upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        with terminal(command.home, "human", "pair", "owner", **url) as screen:
            text = await later(screen.read_until, "Waiting for Start")
            ana = await telegram.person("Ana")
            await ana.start(code_in(text))
            await later(screen.read_until, "[y/N] ")
            screen.type("y\n")
            await later(screen.read_until, "practice ask")
            await ana.until(lambda m: "Shall I say hello?" in m.text)
            text = await later(screen.read_until, "(Enter: never")
            assert "Shall I say hello?" in text  # which card it is
            screen.type("\n")
            await later(screen.read_until, "Taken back.")
            await later(screen.read_all)
            assert screen.process.wait(PATIENCE) == 0
        await ana.until(lambda m: "Shall I say hello?" in m.text and "Approve" not in m.labels)
        assert [k["state"] for k in (await later(command.json, "keys"))["keys"]] == ["revoked"]
        await later(traceless, command.home)


async def test_a_refused_account_is_told_so(command: Command, telegram: Telegram) -> None:
    """The question names the person; n says that the account is not paired, and the command that makes another code."""
    url = {"LOGMEM_TELEGRAM_API_URL": telegram.url}
    async with upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        await later(command.json, "human", "add", "carol")
        with terminal(command.home, "human", "pair", "carol", **url) as screen:
            text = await later(screen.read_until, "Waiting for Start")
            assert "Pair the phone of human:carol" in text
            mallory = await telegram.person("Mallory")
            await mallory.start(code_in(text))
            await later(screen.read_until, "Is this human:carol:", "[y/N] ")
            screen.type("n\n")
            text = await later(screen.read_all)
            assert "Refused: that account is not paired" in text
            assert re.search(r"Try again: \S+ human pair carol\n", text)
            assert all(len(each) <= COLUMNS for each in text.splitlines() if "https://" not in each)


async def test_a_bad_token_that_is_saved_is_asked_for_again(command: Command, telegram: Telegram) -> None:
    """Set-up says that Telegram does not know it, and takes another one; who is paired is not paired again."""
    url = {"LOGMEM_TELEGRAM_API_URL": telegram.url}
    (command.home / "secrets").mkdir(parents=True, mode=0o700)
    (command.home / "secrets" / "bot-token").write_text("12345:nobodys-token\n")
    async with upped(command, telegram):
        await later(until, lambda: "does not know the bot's token" in command.errors.read_text(), "nothing was told")
        with terminal(command.home, "telegram", "set-up", **url) as screen:
            await later(screen.read_until, "knows no bot with the token that is saved", "Token [Enter: later]: ")
            screen.type(f"{telegram.token}\n")
            text = await later(screen.read_until, "Waiting for Start")
            ana = await telegram.person("Ana", username="ana")
            await ana.start(code_in(text))
            await later(screen.read_until, "[y/N] ")
            screen.type("y\n")
            await later(screen.read_until, "(Enter: never")
            screen.type("\n")
            await later(screen.read_all)
        assert (await later(command.json, "telegram", "off"))["was"] is True
        (command.home.parent / "token").write_text(telegram.token)
        give = ("telegram", "--token-file", str(command.home.parent / "token"))
        await later(lambda: command.json(*give, **url))
        with terminal(command.home, "telegram", "set-up", **url) as screen:
            text = await later(screen.read_all)
            assert "human:owner is paired already, with" in text
            assert "/start " not in text


async def test_a_bot_that_is_gone_is_not_at_work(command: Command, telegram: Telegram) -> None:
    """Stopped or killed, it is not said to be at work, and no code is offered that nobody would hear of."""
    url = {"LOGMEM_TELEGRAM_API_URL": telegram.url}
    async with upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        await later(until, lambda: command.json("telegram")["works"], "it is not at work")
        there = await later(command.run, "telegram")
        assert "@logmem_test_bot, at work" in there.out
        assert "logmem human pair NAME" in there.out
    gone = await later(command.run, "telegram")
    assert "@logmem_test_bot, not running" in gone.out
    assert "human pair" not in gone.out
    async with upped(command, telegram, "--no-bot"):
        await as_admin(command.home, "HSET", of_bot("state"), "state", "polling", "alive", 1)  # as one that was killed
        said = await later(command.json, "telegram")
        assert (said["works"], said["state"]) == (False, "not running")
        with terminal(command.home, "human", "pair", "owner", **url) as screen:
            text = await later(screen.read_all)
            assert "The bot is not at work (not running)" in text
            assert "/start " not in text


async def test_the_bot_runs_with_a_token_and_without_one_not(command: Command, telegram: Telegram) -> None:
    """A token that is saved starts the bot of an `up` that runs, forgetting it ends it, and --no-bot starts none."""
    (command.home.parent / "token").write_text(f"{telegram.token}\n")
    url = {"LOGMEM_TELEGRAM_API_URL": telegram.url}
    async with upped(command, telegram) as server:
        assert bots(server.process.pid) == []
        told = await later(lambda: command.json("telegram", "--token-file", str(command.home.parent / "token"), **url))
        assert told["bot"] == "logmem_test_bot"
        await later(until, lambda: bool(bots(server.process.pid)), "no bot was started")
        assert await later(lambda: command.json("telegram", "off", **url)) == {"off": True, "was": True}
        await later(until, lambda: not bots(server.process.pid), "the bot goes on")
    async with upped(command, telegram, "--no-bot", LOGMEM_BOT_TOKEN=telegram.token) as server:
        assert bots(server.process.pid) == []


async def test_a_bot_that_dies_is_started_again(command: Command, telegram: Telegram) -> None:
    """After kill -9 another one is at work, which ends with `up`; the token is the bot's alone."""
    async with upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token, LOGMEM_REST_TOKEN="x") as server:
        first = bots(server.process.pid)[0]
        await telegram.wait_until(lambda: telegram.calls("setMyCommands"))
        os.kill(first, signal.SIGKILL)
        await later(until, lambda: bots(server.process.pid) not in ([], [first]), "no bot was started again")
        second = bots(server.process.pid)[0]
        api = next(child for child in children(server.process.pid) if child != second)
        assert not [name for name in variables(api) if name.startswith("LOGMEM_BOT_TOKEN")]
        assert "LOGMEM_BOT_TOKEN" in variables(second)
        assert not variables(second) & {"LOGMEM_REST_TOKEN", "LOGMEM_SPACE"}
        assert await later(server.end) == 0
        assert not lives(second)


async def test_a_wrong_token_stops_nothing_else(command: Command, telegram: Telegram) -> None:
    """With a token that Telegram does not know `up` is ready, says so, and works."""
    async with upped(command, telegram, LOGMEM_BOT_TOKEN="12345:nobodys-token") as server:
        await later(until, lambda: "does not know the bot's token" in command.errors.read_text(), "nothing was told")
        assert "12345:nobodys-token" not in command.errors.read_text()
        token = (await later(command.json, "mint", "grok"))["token"]
        assert (await later(server.post, token, "connection")).status_code == 200
        said = await later(command.json, "telegram")
        assert (said["works"], said["up"]) == (False, True)
        told = await later(lambda: command.run("telegram", LOGMEM_BOT_TOKEN="12345:nobodys-token"))
        assert "Bot     not at work: Telegram does not know its token\n" in told.out
        assert told.out.endswith("Set another one in LOGMEM_BOT_TOKEN, and start what has it anew.\n")


async def test_what_helps_a_bot_is_told_by_its_cause(command: Command, telegram: Telegram) -> None:
    """Where Telegram is not reached no other token is offered; its log is named in full, and who is paired in short."""
    async with upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        await later(until, lambda: command.json("telegram")["works"], "it is not at work")
        await phone_of(command.home, telegram, "owner")
        assert re.search(r"^Paired +human:owner$", (await later(command.run, "telegram")).out, re.M)
    botkeys.save(command.home, telegram.token)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with up(command, LOGMEM_TELEGRAM_API_URL=nowhere):
        said = "The Telegram bot does not reach Telegram (cannot connect), and tries again."
        await later(until, lambda: said in command.errors.read_text(), "nothing was told")
        told, doctor = await later(command.run, "telegram"), await later(command.run, "doctor")
    log = f"{command.home}/logs/bot.log"
    assert await later(os.path.exists, log)
    for text in (told.out, doctor.out):
        assert log in text
        assert "look at the network, and at LOGMEM_TELEGRAM_API_URL" in text
        assert "set-up" not in text


@pytest.mark.parametrize(
    ("words", "text", "said", "code"),
    [
        (("--token-file", "-"), "", "not a bot's token", 2),
        (("--token-file", "nowhere"), "", "cannot be read", 2),
        (("set-up",), "", "--token-file FILE", 2),
        (("off", "--token-file", "x"), "", "goes with set-up", 2),
        (("later",), "", "later", 2),
    ],
)
def test_what_cannot_be_done_is_told(command: Command, words: tuple[str, ...], text: str, said: str, code: int) -> None:
    """What cannot be is one sentence, and makes no folder."""
    told = command.run("telegram", *words)
    assert (told.code, said in told.err) == (code, True), told.err
    assert not command.home.exists()


async def test_a_token_that_cannot_be_checked_is_not_kept(command: Command, telegram: Telegram) -> None:
    """A Bot API server that is not there, or answers otherwise, is told without the token."""
    (command.home.parent / "token").write_text(telegram.token)
    give = ("telegram", "--token-file", str(command.home.parent / "token"))
    gone = await later(lambda: command.run(*give, LOGMEM_TELEGRAM_API_URL="http://127.0.0.1:9"))
    assert (gone.code, "cannot be reached" in gone.err) == (5, True)
    await telegram.fault("html", "getMe")
    odd = await later(lambda: command.run(*give, LOGMEM_TELEGRAM_API_URL=telegram.url))
    assert (odd.code, "not as Telegram does" in odd.err) == (1, True)
    assert telegram.token not in gone.err + odd.err
    assert not (command.home / "secrets" / "bot-token").exists()


async def test_somebody_is_invited_by_the_command(command: Command, telegram: Telegram) -> None:
    """`human add --telegram` prints a code for a day, whose claim waits for an owner; `human unpair` ends it."""
    async with upped(command, telegram, LOGMEM_BOT_TOKEN=telegram.token):
        await telegram.wait_until(lambda: telegram.calls("setMyCommands"))
        made = await later(command.json, "human", "add", "bo", "--telegram")
        assert made["telegram"]["link"].startswith("https://t.me/logmem_test_bot?start=")
        assert made["telegram"]["message"] == f"/start {made['telegram']['code']}"
        told = await later(command.run, "human", "add", "bo", "--telegram")
        assert code_in(told.out) != made["telegram"]["code"]
        assert re.search(
            r"pair a phone, once, within 24 h.*sign in to the console, once, within 10 min", told.out, re.S
        )
        assert "human link bo" in told.out  # for when that is over, before the code is
        bo = await telegram.person("Bo")
        await bo.start(made["telegram"]["code"])
        await bo.until(lambda m: m.by_bot)
        said = await later(command.json, "telegram")
        assert said["people"] == {}  # an owner has the word
        (waits,) = said["waiting"]
        assert (waits["person"], waits["name"], waits["account"]) == ("human:bo", "Bo", bo.id)
        assert (await later(command.json, "human", "list"))["waiting"] == [waits]
        for words in (("telegram",), ("human", "list")):
            shown = (await later(command.run, *words)).out
            assert f'human:bo waits to be paired, with "Bo", id {bo.id}: for an owner in the console' in shown
        gone = await later(command.run, "human", "unpair", "bo")
        assert gone.code == 1
        assert "has no Telegram account" in gone.err


def test_a_code_for_a_camera(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is drawn on a terminal that knows the letters, and left out elsewhere, where link and line say the same."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    monkeypatch.setenv("NO_COLOR", "1")
    lines = drawn("https://t.me/logmem_test_bot?start=bd2bq-fyvr6")
    assert {len(line) for line in lines} == {33}
    assert set("".join(lines)) <= set(" ▀▄█")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert drawn("x") == []
    monkeypatch.undo()
    tell(Code("human:ana", "aaaaa-bbbbb", "c" * 24, "", "10 min", ""))
    assert "Or send the bot:  /start aaaaa-bbbbb" in capsys.readouterr().out


def test_a_bot_without_a_token_is_no_bot(command: Command) -> None:
    """`serve bot` says in a sentence what it cannot do without, and takes what lies in the state folder."""
    told = command.run("serve", "bot")
    assert (told.code, told.out) == (2, "")
    assert "LOGMEM_BOT_TOKEN is not set" in told.err
    (command.home / "secrets").mkdir(parents=True)
    (command.home / "secrets" / "bot-token").write_text("12345:abc\n")
    assert "LOGMEM_BOT_SECRET is not set" in command.run("serve", "bot").err
