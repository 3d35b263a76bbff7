"""`logmem up` at a terminal: it asks who the owner is, once, and says what comes next."""

import re
from pathlib import Path

import httpx
import pytest

from logmem.first import days, suggested
from logmem.zone import of_machine
from store.domain.space import Space

from .admin import operated
from .running import Command, up
from .terminal import COLUMNS, terminal

PORT = ("--port", "0", "--no-bot")
LAST = "(SECURITY.md)"  # how all that is said ends


def people(command: Command) -> list[tuple[str, str]]:
    """Who is there, with their roles."""
    return [(p["person"], p["role"]) for p in command.json("human", "list")["people"]]


def link_in(text: str) -> str:
    """The sign-in link, at the end of its line."""
    (found,) = re.findall(r"(http://\S+/sign-in/\S+)$", text, re.M)
    return str(found)


def test_the_first_run_asks_and_guides(command: Command) -> None:
    """It asks the owner's name, then shows the link and its life, how agents connect, how to stop, in 80 columns."""
    with terminal(command.home, "up", *PORT) as screen:
        screen.read_until("Your name [")
        screen.type("Ana López\n")
        text = screen.read_until(LAST, "Promise  always")
        link = link_in(text)
        url = link.partition("/sign-in/")[0]
        assert "You are human:ana-lopez, the owner of the space fleet." in text
        assert re.search(r"works once, within 10 minutes \(until \d\d:\d\d\):", text)
        assert f"{url}/mcp" in text
        for words in ("connect claude-code", "connect codex", "mint NAME", "human link ana-lopez", "human add NAME"):
            assert words in text
        assert "--space" not in text  # there is only one
        assert not [line for line in text.splitlines() if len(line) > COLUMNS and str(command.home) not in line]
        assert people(command) == [("human:ana-lopez", "owner")]
        assert httpx.get(link).status_code == 200
        assert screen.end() == 0
        assert screen.text.rstrip().endswith("Stopping …")


def test_later_runs_are_short(command: Command) -> None:
    """Nobody is asked a second time; while the owner has not signed in there is a new link, then none."""
    with terminal(command.home, "up", *PORT) as screen:
        screen.read_until("Your name [")
        screen.type("ana\n")
        first = screen.read_until(LAST)
        assert screen.end() == 0
    with terminal(command.home, "up", *PORT) as screen:
        again = screen.read_until(LAST)
        assert "Your name" not in again
        assert "signs ana in, once, within 10 minutes" in again
        assert len(again.splitlines()) <= 9 < len(first.splitlines())
        url = link_in(again).partition("/sign-in/")[0]
        assert httpx.post(link_in(again), headers={"Origin": url}).status_code == 303
        assert screen.end() == 0
    with terminal(command.home, "up", *PORT) as screen:
        third = screen.read_until(LAST)
        assert "/sign-in/" not in third
        assert "(ana is signed in)" in third
        assert screen.end() == 0


def test_enter_takes_the_account_and_a_wrong_name_is_asked_again(command: Command) -> None:
    """A name that no id can be made of is told with the rule and asked again; Enter alone takes the account's name."""
    with terminal(command.home, "up", *PORT, USER="bo", LOGNAME="bo") as screen:
        screen.read_until("Your name [bo]: ")
        screen.type("!!!\n")
        text = screen.read_until("Your name is ", "was written")
        assert "a-z, 0-9" in text
        screen.type("\n")
        assert "You are human:bo, the owner" in screen.read_until(LAST)
        assert screen.end() == 0


def test_what_is_made_of_a_name_is_told(command: Command) -> None:
    """A name with a blank and an umlaut is an id from then on, which is said; so is what other terminals are to set."""
    telegram = "http://127.0.0.1:9"
    with terminal(command.home, "up", *PORT, LOGMEM_TELEGRAM_API_URL=telegram) as screen:
        screen.read_until("Your name [")
        screen.type("Ana Müller\n")
        text = screen.read_until(LAST)
        assert "That is human:ana-muller here: names are a-z, 0-9" in text
        assert f"There too: export LOGMEM_TELEGRAM_API_URL={telegram}\n" in text
        assert screen.end() == 0


def test_the_question_can_be_left(command: Command) -> None:
    """Ctrl-C at the question stops all and makes no owner; the next start asks again, and takes Ctrl-D as Enter."""
    with terminal(command.home, "up", *PORT) as screen:
        screen.read_until("Your name [")
        assert screen.end() == 0
    assert people(command) == []
    with terminal(command.home, "up", *PORT, LOGNAME="cy") as screen:
        screen.read_until("Your name [cy]: ")
        screen.type("\x04")
        text = screen.read_until(LAST)
        assert "You are human:cy, the owner" in text
        assert "check-ins 09:00" in text  # nobody was told by the start that made the space


def test_without_colour_it_says_the_same(command: Command) -> None:
    """With NO_COLOR nothing is styled with colour, and where there are several spaces the commands name theirs."""
    command.json("space", "lab")
    with terminal(command.home, "up", *PORT, NO_COLOR="1") as screen:
        screen.read_until("Your name [")
        screen.type("ana\n")
        text = screen.read_until(LAST)
        assert not re.search(r"\x1b\[(?:\d+;)*[39][0-7]m", screen.raw)
        assert "human link ana --space fleet" in text
        assert "connect codex --space fleet" in text


def test_a_demo_leaves_the_commands_short(command: Command) -> None:
    """A simulated space beside the real one does not make the commands that are printed longer."""
    operated(command.home, "space", "demo-a", simulated=True)
    with terminal(command.home, "up", *PORT) as screen:
        screen.read_until("Your name [")
        screen.type("ana\n")
        assert "--space" not in screen.read_until(LAST)
        assert "/sign-in/" in command.json("human", "link", "ana")["login_url"]
        assert screen.end() == 0


def test_the_space_is_made_where_the_machine_is(command: Command) -> None:
    """A space that is made has the machine's zone, or the one that is said, and it is told; a later --zone is not."""
    with terminal(command.home, "up", *PORT, TZ="Europe/Berlin") as screen:
        screen.read_until("Your name [")
        screen.type("ana\n")
        text = " ".join(screen.read_until(LAST).split())
        assert "The space fleet is in Europe/Berlin; check-ins 09:00, 13:00, 17:30." in text
        assert re.search(r"To change that: \S+ sync zone ZONE, or \S+ sync times 09:00 13:00 17:30 1\.", text)
        assert screen.end() == 0
    with up(command, "--zone", "Asia/Tokyo"):
        assert "The space fleet was made in Europe/Berlin and stays there" in command.errors.read_text()
    with up(command, "--space", "lab", "--zone", "Asia/Tokyo", TZ="Europe/Berlin"):
        assert "The space lab is in Asia/Tokyo; check-ins 09:00, 13:00, 17:30." in command.errors.read_text()
        assert "sync zone ZONE --space lab, or " in command.errors.read_text()
    wrong = command.run("up", "--zone", "Berlin")
    assert (wrong.code, wrong.out) == (2, "")
    assert '"Berlin" is none' in wrong.err


def test_the_zone_where_nothing_is_known_is_told() -> None:
    """Where no zone is known it is the default, which `space --help` names, and the way to another one is told."""
    assert "names no zone" in days("fleet", Space.zone, known=False)


@pytest.mark.parametrize(
    ("variable", "file", "link", "zone"),
    [
        ("Europe/Berlin", "Asia/Tokyo", None, "Europe/Berlin"),
        (":/usr/share/zoneinfo/posix/Europe/Berlin", None, None, "Europe/Berlin"),
        ("CET-1CEST", "Asia/Tokyo\n", None, "Asia/Tokyo"),
        ("../../etc/passwd", "", "/usr/share/zoneinfo/Asia/Kolkata", "Asia/Kolkata"),
        (None, "nowhere", "/var/db/timezone/zoneinfo/America/Argentina/Salta", "America/Argentina/Salta"),
        (":/etc/localtime", None, "../usr/share/zoneinfo/UTC", "UTC"),
        (None, None, "/nowhere/zoneinfo/localtime", ""),
        (None, None, None, ""),
    ],
)
def test_the_zone_of_the_machine(
    tmp_path: Path, variable: str | None, file: str | None, link: str | None, zone: str
) -> None:
    """The variable comes first, then the file, then where the link leads; what names no zone is passed over."""
    if file is not None:
        (tmp_path / "timezone").write_text(file)
    if link:
        (tmp_path / "localtime").symlink_to(link)
    assert of_machine({"TZ": variable} if variable else {}, tmp_path) == zone


def test_json_at_a_terminal_asks_nobody(command: Command) -> None:
    """--json is for programs wherever it is read: the owner is human:owner."""
    with terminal(command.home, "up", "--json", *PORT) as screen:
        text = screen.read_until('"durability"', "}")
        assert "Your name" not in text
        assert people(command) == [("human:owner", "owner")]


def test_another_folder_is_told(command: Command) -> None:
    """Who has chosen a state folder is told to choose it in the second terminal too."""
    with terminal(command.home, "up", *PORT) as screen:
        screen.read_until("Your name [")
        screen.type("ana\n")
        assert f"export LOGMEM_HOME={command.home}" in screen.read_until(LAST)


@pytest.mark.parametrize(
    ("account", "name"), [("ana", "ana"), ("root", "owner"), ("", "owner"), ("CORP\\Bo.Li", "bo.li")]
)
def test_the_account_suggests_a_name(account: str, name: str) -> None:
    """What is offered is the account's name, unless it is one that no person has."""
    assert suggested(account) == name
