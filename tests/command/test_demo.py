"""`logmem demo`: the story is played to its end, wherever and how often, and nothing of it is left running."""

import json
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.surfaces.browser import Browser

from .running import PATIENCE, Command, Told, Up, until
from .terminal import COLUMNS, terminal

AGENTS = ("claude-code", "codex", "muse", "grok")
Events = list[dict[str, Any]]


def events(told: Told) -> Events:
    """What it printed with --json."""
    return [json.loads(line) for line in told.out.splitlines()]


def steps(found: Events, verb: str, who: str = "") -> Events:
    """The steps with this verb."""
    return [e for e in found if e["event"] == "step" and e.get("verb") == verb and who in ("", e["who"])]


def keys(operator: Command, space: str) -> list[tuple[str, str]]:
    """Whose keys there are, and their states."""
    return sorted((key["name"], key["state"]) for key in operator.json("keys", "--space", space)["keys"])


def processes(folder: Path) -> list[str]:
    """What runs with this folder for its temporary files."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment, line = (process / "environ").read_bytes(), (process / "cmdline").read_bytes()
        except OSError:  # it has ended, or is another's
            continue
        if f"TMPDIR={folder}\0".encode() in environment:
            found.append(line.replace(b"\0", b" ").decode())
    return found


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder for temporary files; at the end nothing runs with it, and no home is left in it.

    Its path is short, as that of a socket must be.
    """
    with tempfile.TemporaryDirectory(prefix="lm-") as name:
        folder = Path(name)
        yield folder
        until(lambda: not processes(folder), f"still running: {processes(folder)}")
        assert list(folder.glob("logmem-demo-*")) == []


@pytest.fixture(scope="module")
def played(server: Up) -> Events:
    """A demo on the server that is up, as JSON."""
    told = Command(server.home).run("demo", "--auto", "--json")
    assert told.code == 0, told.err
    return events(told)


def test_it_needs_no_server(command: Command, scratch: Path) -> None:
    """On a fresh home it starts a server for itself, says so, plays all of it, and leaves nothing behind."""
    told = command.run("demo", "--auto", TMPDIR=str(scratch))
    assert told.code == 0, told.err
    assert "the demo starts one for itself" in told.out
    assert "accounts for it: midday of" in told.out
    assert re.search(r"demo-\w+: \d+ entries: numbers, leaves and links are right\.", told.out)
    assert not command.home.exists()
    assert "\x1b" not in told.out


def test_its_story_is_whole(played: Events) -> None:
    """Four clients begin with a Brief; work is assigned, handed over, accepted, answered, remembered and recapped."""
    assert {e["who"].partition(":")[2] for e in steps(played, "start")} == set(AGENTS)
    accepted = steps(played, "accept")[0]["result"]
    assert (accepted["by"], accepted["assignee"]) == ("agent:codex", "agent:codex")
    refused = {(e["verb"], e["refused"]) for e in played if e.get("refused")}
    assert refused == {
        ("handoff", "skill_missing"),
        ("stage", "open_obligations"),
        ("redeem", "not_approved"),
        ("redeem", "already_redeemed"),
        ("note", "reserved_kind"),
    }
    assert [e["result"]["status"] for e in steps(played, "note") if "huddle" in e["result"]][-1] == "closed"
    hits = steps(played, "recall")[0]["result"]["hits"]
    assert any("superseded_by" in hit for hit in hits)
    assert {e["who"].partition(":")[2] for e in steps(played, "recap")} == set(AGENTS)


def test_each_window_has_its_check_ins(played: Events) -> None:
    """All check in by midday, one of them late, and one does not come to closeout; what is carried over is shown."""
    receipts = [e["result"] for e in steps(played, "sync") if e["args"].get("receipt")]
    assert [each["slot"] for each in receipts if each["late"]] == ["midday"]
    first = receipts[0]["day"]
    came = {"morning": len(AGENTS), "midday": len(AGENTS), "closeout": len(AGENTS) - 1}
    assert Counter(each["slot"] for each in receipts if each["day"] == first) == came
    (reminded,) = [e["result"] for e in steps(played, "sync") if not e["args"]]
    assert reminded["carried"]["open"] == ["job:social-broadcast"]


def test_a_person_decides_and_no_key_does(played: Events) -> None:
    """The decision is of a person's session; the approval is used once, for exactly what was shown."""
    (decided,) = steps(played, "decide")
    assert (decided["who"], decided["result"]["via"]) == ("human:demo-owner", "console")
    (asked,) = [e["result"] for e in steps(played, "ask")]
    (used,) = [e["result"] for e in steps(played, "redeem") if not e["refused"]]
    assert used["digest"] == decided["result"]["digest"] == asked["digest"]
    assert "lmk_" not in json.dumps(played)


def test_what_it_leaves_can_be_looked_at(played: Events, server: Up, operator: Command) -> None:
    """Its keys are revoked, nobody is left signed in, its log is right, and the ask stands in the console."""
    space = played[-1]["space"]
    assert keys(operator, space) == sorted((name, "revoked") for name in AGENTS)
    assert played[-1]["verified"]["ok"]
    assert operator.run("verify", "--space", space).code == 0
    assert [p["signed_in"] for p in operator.json("human", "list", "--space", space)["people"]] == [False]
    link = operator.json("human", "link", "demo-owner", "--space", space)["login_url"]
    trail = steps(played, "ask")[0]["result"]["trail"]
    with httpx.Client(headers={"Origin": server.url}, timeout=PATIENCE) as person:
        assert person.post(link).status_code == 303
        page = person.get(f"{server.url}/s/{space}/ask/{trail}")
    assert page.status_code == 200
    assert "Publish release announcement to X and LinkedIn?" in page.text


def test_twice_at_once_and_once_more(operator: Command) -> None:
    """Two at once, and another in the space of the first, do not trip over each other."""
    with operator.started("demo", "--auto", "--json") as one, operator.started("demo", "--auto", "--json") as other:
        said = [process.communicate(timeout=PATIENCE)[0] for process in (one, other)]
    assert [one.returncode, other.returncode] == [0, 0], operator.errors.read_text()
    ends = [json.loads(out.splitlines()[-1]) for out in said]
    assert ends[0]["space"] != ends[1]["space"]
    again = operator.run("demo", "--auto", "--json", "--space", ends[0]["space"])
    assert again.code == 0, again.err
    assert all(end["verified"]["ok"] for end in (*ends, events(again)[-1]))


async def turn(found: "Waiting", *, ask_back: str, verdict: str) -> None:
    """A person's turn in the console, by its forms: ask something back, then decide."""
    async with httpx.AsyncClient(base_url=found.url, timeout=PATIENCE) as http:
        signed_in = await http.post(found.links["login_url"], headers={"Origin": found.url})
        browser = Browser(http, found.space, signed_in.cookies["logmem_session"])
        await browser.send((await browser.ask(found.trail)).form("/ask-back"), text=ask_back)
        form = (await browser.ask(found.trail)).form("/decide")
        assert (await browser.send(form, verdict)).status == 303
        await browser.send((await browser.inbox()).form("/sign-out"))  # else the next demo shows no link to sign in by


class Waiting:
    """A demo that waits for a person."""

    def __init__(self, url: str, lines: Iterator[str]) -> None:
        self.url, self.lines, self.seen = url, lines, list[dict[str, Any]]()
        for line in lines:
            self.seen.append(json.loads(line))
            if "ask_url" in self.seen[-1]:
                break
        self.links = self.seen[-1]
        self.trail = self.links["ask_url"].rpartition("/")[2]
        self.space = self.links["ask_url"].split("/")[-3]

    def rest(self) -> Events:
        """What it says after that."""
        return [json.loads(line) for line in self.lines]


@pytest.mark.parametrize(("verdict", "used"), [("approve", 1), ("reject", 0)])
async def test_a_person_decides_in_the_console(server: Up, operator: Command, verdict: str, used: int) -> None:
    """It shows the link and waits; what is asked back is answered; a yes is used once, a no publishes nothing."""
    with operator.started("demo", "--json") as process:
        assert process.stdout
        waits = Waiting(server.url, process.stdout)
        await turn(waits, ask_back="Where does it go?", verdict=verdict)
        rest = waits.rest()
        assert process.wait(PATIENCE) == 0, operator.errors.read_text()
    assert [e["args"]["answers"] for e in steps(rest, "note")] == [waits.trail]
    assert len([e for e in steps(rest, "redeem") if not e["refused"]]) == used
    assert len([e for e in rest if e.get("text", "").startswith('publishes "v0.1.0"')]) == used
    assert rest[-1]["verified"]["ok"]


def test_nobody_decides(operator: Command) -> None:
    """When time is up it says so, publishes nothing, plays to its end, and has an exit code of its own."""
    told = operator.run("demo", "--wait", "2s")
    assert told.code == 6, told.err
    assert "Nobody decided within 2 s." in told.out
    assert "The ask stayed pending and nothing ran." in told.out
    assert "publishes nothing" in told.out
    assert "numbers, leaves and links are right" in told.out


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_broken_off(server: Up, operator: Command, scratch: Path, sign: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end every process and revoke every key."""
    with operator.started("demo", "--json", TMPDIR=str(scratch)) as process:
        assert process.stdout
        waits = Waiting(server.url, process.stdout)
        assert len([line for line in processes(scratch) if "logmem.demo.cast" in line]) == len(AGENTS)
        process.send_signal(sign)
        assert process.wait(PATIENCE) == 130
    assert keys(operator, waits.space) == sorted((name, "revoked") for name in AGENTS)


def test_its_own_server_is_broken_off_too(command: Command, scratch: Path) -> None:
    """A server that it has started for itself ends with it."""
    with command.started("demo", "--json", TMPDIR=str(scratch)) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line, command.errors.read_text()
        Waiting(json.loads(line)["url"], process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130


def test_a_failing_step_is_named(server: Up, operator: Command) -> None:
    """When a step does not go as it should the demo says which, tries nothing again, and puts all away."""
    with operator.started("demo", "--json", "--space", "demo-broken") as process:
        assert process.stdout
        waits = Waiting(server.url, process.stdout)
        operator.json("revoke", "grok", "--space", waits.space)
        assert waits.rest() == []
        assert process.wait(PATIENCE) == 1
    said = operator.errors.read_text().splitlines()[-1]
    assert said.startswith("The step agent:grok follow was refused: key_revoked:")
    assert {state for _, state in keys(operator, waits.space)} == {"revoked"}


def test_where_it_does_not_play(server: Up, operator: Command) -> None:
    """It plays in no space that people work in, nor in one where another demo is playing."""
    told = operator.run("demo", "--auto", "--space", str(server.ready["space"]))
    assert (told.code, "is not simulated. Nothing was done" in told.err) == (1, True)
    assert keys(operator, str(server.ready["space"])) == []
    operator.json("space", "demo-busy", "--simulated")
    operator.json("human", "add", "ana", "--role", "owner", "--space", "demo-busy")
    operator.json("mint", "claude-code", "--space", "demo-busy")
    told = operator.run("demo", "--auto", "--space", "demo-busy")
    assert (told.code, "agent:claude-code has another live key" in told.err) == (1, True)
    assert Counter(keys(operator, "demo-busy"))[("claude-code", "live")] == 1


def test_a_server_of_another_store(command: Command, server: Up) -> None:
    """Where the address is one of another store's server the demo says so: keys that are made here do not open it."""
    told = command.run("demo", "--auto", LOGMEM_REST_URL=server.url)
    assert (told.code, "there is none yet. Nothing was done." in told.err) == (1, True)
    command.json("space", "lab")
    told = command.run("demo", "--auto", "--space", "demo-elsewhere", LOGMEM_REST_URL=server.url)
    assert (told.code, f"Is {server.url} a server of another store" in told.err) == (1, True)
    assert {state for _, state in keys(command, "demo-elsewhere")} == {"revoked"}


@pytest.mark.parametrize("words", [("--pace", "61"), ("--pace", "-1"), ("--wait", "soon"), ("--wait", "2 days")])
def test_options_that_cannot_be(command: Command, words: tuple[str, str]) -> None:
    """An option that cannot be is told before anything is begun."""
    told = command.run("demo", "--auto", *words)
    assert (told.code, words[0] in told.err) == (2, True)
    assert not command.home.exists()


def test_at_a_terminal(operator: Command) -> None:
    """At a terminal there is colour, without it with NO_COLOR, and every line says who and what in the same words.

    How long the log is at the end is left out, since time passes meanwhile, and when they connected.
    """
    shown = []
    for env in ({}, {"NO_COLOR": "1"}):
        with terminal(operator.home, "demo", "--auto", **env) as screen:
            screen.read_all()
            assert screen.process.wait(PATIENCE) == 0
            assert bool(re.search(r"\x1b\[(?:\d+;)*3[0-7]m", screen.raw)) != bool(env)
            told = [line for line in screen.text.splitlines() if re.match(r"  \d\d:\d\d  | {22}\S", line)]
            assert max(map(len, told)) <= COLUMNS
            story = " ".join(screen.text.split()).partition("connects by")[2]
            story = re.sub(r"\b\d+ entries: numbers|\b\d\d:\d\d (?=\S+ connects)", "…", story)
            shown.append(re.sub(r"\b(demo-|fa_|ci_|hd_|digest )\w+", "…", story))
    assert shown[0] == shown[1]


def test_help_fits(command: Command) -> None:
    """Its help is one screen."""
    told = command.run("demo", "--help", COLUMNS=str(COLUMNS))
    assert told.code == 0
    assert len(told.out.splitlines()) <= 64
