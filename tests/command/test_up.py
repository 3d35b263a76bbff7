"""`logmem up`: ready, alone, on its port, and alive whatever dies."""

import asyncio
import contextlib
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from logmem.children import Api, cut
from logmem.fault import Fault
from store.engine.embedded import Embedded, stop
from store.settings import load

from .running import PATIENCE, Command, Up, children, lives, runs, until, up


def minted(command: Command, name: str = "grok") -> str:
    """The token of a new key."""
    return str(command.json("mint", name, "--space", "fleet")["token"])


def note(server: Up, token: str, n: int) -> httpx.Response:
    """A note under an action id of its own, so that it can be repeated."""
    head = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"n{n}"}
    args = {"where": "job:x", "kind": "progress", "summary": f"note {n}"}
    return httpx.post(f"{server.url}/api/tools/note", json=args, headers=head, timeout=PATIENCE)


def noted(server: Up, token: str, n: int) -> None:
    """Repeat a note until it is acknowledged."""

    def acknowledged() -> bool:
        try:
            return note(server, token, n).status_code == 200
        except httpx.HTTPError:
            return False

    until(acknowledged, f"note {n} was never acknowledged")


def established(pid: int) -> set[str]:
    """The TCP connections of a process."""
    mine = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            mine.add(str(each.readlink()))
    rows = [row.split() for row in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return {row[9] for row in rows if row[3] == "01" and f"socket:[{row[9]}]" in mine}


def summaries(server: Up, token: str) -> list[str]:
    """What stands in the Log, as its readers see it."""
    found: dict[str, Any] = server.post(token, "view", what="job:x").json()
    return [entry["summary"] for entry in found["log"]]


def test_ready_in_one_line(command: Command) -> None:
    """When ready it prints one line of JSON that says where everything is, and the space has an owner to sign in."""
    with up(command) as server:
        ready = server.ready
        assert set(ready) == {"url", "mcp_url", "space", "console_login_url", "pid", "home", "durability"}
        assert ready["url"].startswith("http://127.0.0.1:")
        assert ready["mcp_url"] == ready["url"] + "/mcp"
        assert ready["console_login_url"].startswith(ready["url"] + "/sign-in/")
        assert (ready["space"], ready["durability"]) == ("fleet", "always")
        assert (ready["pid"], ready["home"]) == (server.process.pid, str(command.home))
        assert httpx.get(f"{ready['url']}/readyz").status_code == 200
        assert command.home.stat().st_mode & 0o777 == 0o700
        assert [p["person"] for p in command.json("human", "list")["people"]] == ["human:owner"]
        link = ready["console_login_url"]
    assert link.rpartition("/")[2] not in (command.home / "logs" / "api.log").read_text()


def test_login_link_only_while_nobody_can_sign_in(command: Command) -> None:
    """Once the owner has signed in the next start prints no link, and the space keeps its people."""
    with up(command, "--space", "lab") as server, httpx.Client(follow_redirects=False) as browser:
        link = server.ready["console_login_url"]
        assert browser.get(link).status_code == 200
        form = browser.post(link, headers={"Origin": server.url})
        assert form.status_code == 303, form.text
    with up(command, LOGMEM_SPACE="lab") as server:
        assert server.ready["space"] == "lab"
        assert server.ready["console_login_url"] is None
        assert command.json("space")["spaces"] == ["lab"]


def test_what_a_person_is_told(command: Command) -> None:
    """For eyes it names the owner who is there, with the command for another link, whether signed in or not."""
    with command.started("up", "--port", "0") as process, httpx.Client() as browser:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(8)]
        link = lines[1].split()[1]
        assert "human link owner --space fleet" in lines[2]
        assert browser.post(link, headers={"Origin": link.partition("/sign-in/")[0]}).status_code == 303
    with command.started("up", "--port", "0") as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(8)]
        assert "owner is signed in" in lines[2]
        assert "human link owner --space fleet" in lines[2]


def test_a_second_one_is_told_who_runs(command: Command) -> None:
    """A second `up` from the same folder starts nothing and says who runs where."""
    with up(command) as server:
        second = command.run("up", "--json", "--port", "0")
        assert second.code == 1
        assert second.out == ""
        assert f"process {server.process.pid}, at {server.url}" in second.err
        assert httpx.get(f"{server.url}/readyz").status_code == 200


def test_a_port_in_use_starts_nothing(command: Command) -> None:
    """A port that another program has is one sentence and exit code 2, before the store is started."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        told = command.run("up", "--json", "--port", port)
        assert (told.code, told.out) == (2, "")
        assert f"Port {port} on 127.0.0.1 is in use" in told.err
        assert not command.home.exists()
        alone = command.run("serve", "api", "--port", port)
        assert (alone.code, alone.err) == (2, told.err)


def test_what_dies_is_started_again(command: Command) -> None:
    """After kill -9 of the API and of the store calls go on at the same address, with each acknowledged note."""
    with up(command) as server:
        token = minted(command)
        acknowledged = []
        for n in range(3):
            assert note(server, token, n).status_code == 200
            acknowledged.append(f"note {n}")
        trail = server.post(token, "ask", where="job:y", summary="Go on?").json()["trail"]
        with command.started("wait", trail, LOGMEM_REST_TOKEN=token) as waiting:
            until(lambda: bool(established(waiting.pid)), "nobody waits")
            before = server.api
            os.kill(before, signal.SIGKILL)
            until(lambda: not lives(before), "the killed API has not ended")
            noted(server, token, 3)  # waits in the socket, which `up` holds
            assert server.api != before
            assert server.post(token, "ask", withdraw=trail).status_code == 200
            assert waiting.wait(PATIENCE) == 4  # it went on waiting
            assert "asked something back" not in command.errors.read_text()
        gone = server.scheduler
        os.kill(gone, signal.SIGKILL)
        until(lambda: any(runs(each, "scheduler") for each in children(server.process.pid) if each != gone), "no other")
        gone = server.store
        os.kill(gone, signal.SIGKILL)
        until(lambda: not lives(gone), "the killed store has not ended")
        noted(server, token, 4)
        assert server.store != gone
        assert summaries(server, token) == [*acknowledged, "note 3", "note 4"]
        assert command.run("verify").code == 0


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_all_of_it(command: Command, sign: signal.Signals) -> None:
    """A signal ends the API and the store in good order, with exit code 0, and leaves no process and no lock."""
    with up(command) as server:
        started = [server.api, server.scheduler, server.store]
        assert server.end(sign) == 0
        assert not [pid for pid in started if lives(pid)]
        assert "ready to exit" in (command.home / "store" / "server.log").read_text()
        assert not (command.home / "run" / "up.json").exists()


def test_a_signal_while_calls_wait(command: Command) -> None:
    """Who follows something or reads events keeps nobody from stopping, and the log holds no secret of theirs."""
    with up(command) as server:
        token = minted(command)
        noted(server, token, 0)
        httpx.get(f"{server.url}/k/{token}/mcp")
        server.post(token, "nothing")
        client = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE)
        with client, client.stream("GET", f"{server.url}/api/events") as events:
            assert events.status_code == 200
            assert server.end() == 0
        log = (command.home / "logs" / "api.log").read_text()
        assert '"event": "promise"' in log
        assert token.rpartition("_")[2] not in log


def test_a_signal_while_the_store_hangs(command: Command) -> None:
    """Calls that cannot be finished before the API ends are told to come back, and leave no trace of a fault."""
    with up(command) as server, ThreadPoolExecutor() as pool:
        token = minted(command)
        noted(server, token, 0)
        api, store = server.api, server.store
        os.kill(store, signal.SIGSTOP)
        try:
            cut = [pool.submit(note, server, token, 1), pool.submit(server.post, token, "follow", what="job:x")]
            until(lambda: len(established(api)) >= len(cut), "the calls have not come")
            os.kill(api, signal.SIGTERM)
            answers = [each.result(PATIENCE) for each in cut]
        finally:
            os.kill(store, signal.SIGCONT)
        for answer in answers:
            assert answer.status_code == 503, answer.text
            assert answer.json()["error"]["code"] in ("unconfirmed", "store_unavailable")
            assert "retry-after" in answer.headers
        log = (command.home / "logs" / "api.log").read_text()
        assert "Traceback" not in log
        noted(server, token, 1)  # the API was started again, and the call is done once


def test_a_signal_while_it_starts(command: Command) -> None:
    """A signal that comes before all is ready stops what was started by then."""
    record = command.home / "store" / "server.pid"
    with command.started("up", "--json", "--port", "0") as process:
        until(lambda: record.exists() and record.read_text().strip() != "", "no store was started")
        store = int(record.read_text())
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert not lives(store)


def test_after_kill_the_next_one_joins(command: Command) -> None:
    """When `up` itself is killed its API ends, its store stays, and the next `up` takes both over, on the same port."""
    with up(command) as first:
        token = minted(command)
        noted(first, token, 0)
        api, scheduler, store = first.api, first.scheduler, first.store
        port = first.url.rpartition(":")[2]
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
        until(lambda: not lives(api), "the API has not noticed")
        until(lambda: not lives(scheduler), "the scheduler has not noticed")
        assert lives(store)
        assert command.run("keys").code == 0
        assert lives(store)
        with up(command, "--port", port) as again:
            assert again.url == first.url
            assert (again.store, summaries(again, token)) == (store, ["note 0"])
        assert not lives(store)


async def test_an_api_that_cannot_start(command: Command, tmp_path: Path) -> None:
    """When the API never comes up that is told, after a few tries, with the end of its log."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # on which no server can listen
    log = tmp_path / "api.log"
    with listener:
        listener.bind(("127.0.0.1", 0))
        api = Api(load(home=command.home), listener, log)
        with pytest.raises(Fault, match="does not start") as no:
            await asyncio.wait_for(api.keep(), PATIENCE)
    assert str(log) in str(no.value)
    assert "Stream" in str(no.value)
    assert stop(command.home) is False


def test_a_log_that_cannot_be_written(command: Command) -> None:
    """A folder in a log's place is one sentence, and nothing is left behind."""
    (command.home / "logs" / "api.log").mkdir(parents=True)
    told = command.run("up", "--json", "--port", "0")
    assert (told.code, told.out) == (1, "")
    assert "api.log" in told.err
    assert stop(command.home) is False


def test_serve_alone(command: Command) -> None:
    """`serve api` runs one process over the store of the settings, and stops the store that it started."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with command.started("serve", "api", "--port", port) as process:

        def ready() -> bool:
            assert process.poll() is None, command.errors.read_text()
            try:
                return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
            except httpx.HTTPError:
                return False

        until(ready, "it is not ready")
        store = int((command.home / "store" / "server.pid").read_text())
        assert command.json("space", "lab")["made"] == "lab"
        assert lives(store)
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert not lives(store)


def test_up_over_a_store_elsewhere(command: Command, engine: Embedded) -> None:
    """With LOGMEM_REDIS_URI `up` starts no store, and leaves the one that it used alone."""
    elsewhere = {"LOGMEM_REDIS_URI": f"unix://{engine.socket}", "LOGMEM_REDIS_SECRETS": str(engine.home / "secrets")}
    with up(command, "--space", "elsewhere", **elsewhere) as server:
        token = command.json("mint", "grok", "--space", "elsewhere", **elsewhere)["token"]
        assert server.post(token, "connection").json()["space"] == "elsewhere"
        assert server.end() == 0
    assert lives(engine.pid)
    assert not (command.home / "store").exists()


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    """A long log is cut while it is written: its end is kept beside it, and what follows begins anew."""
    log = tmp_path / "api.log"
    with log.open("ab", buffering=0) as child:
        child.write(b"old " * 1000)
        cut(log, 5000)
        assert log.stat().st_size == 4000
        cut(log, 100)
        child.write(b"new")
    assert log.read_bytes() == b"new"
    assert (tmp_path / "api.log.1").read_bytes() == b"old " * 25


def test_a_store_elsewhere_that_is_down(command: Command, tmp_path: Path) -> None:
    """With LOGMEM_REDIS_URI it starts no store; one that does not answer is one sentence and exit code 5."""
    told = command.run("space", LOGMEM_REDIS_URI=f"unix://{tmp_path}/none")
    assert told.code == 5
    assert ".." not in told.err
    assert ".." not in command.run("space", LOGMEM_REDIS_URI="redis://127.0.0.1:9/0").err
    assert "The store does not answer" in told.err
    assert len(told.err.splitlines()) == 1
    assert not command.home.exists()
