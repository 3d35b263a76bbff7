"""The store's users, tried on the engine itself: what each may do, and that it may do nothing else."""

from itertools import chain
from pathlib import Path

import pytest
import redis

from store.engine import acl
from store.engine.embedded import Embedded, ensure, stop

from .servers import connect
from .users import (
    CHANNELS,
    COMMON,
    FOR_ALL,
    KNOWING,
    REFUSED,
    SCRIPTS,
    SEGMENT,
    TAMPERING,
    TRANSACTION,
    USERS,
    WRITES,
    Command,
    allowed,
    as_user,
)

# All that is neither a read nor a write of data, for each user: the whole list.
OTHERS = {
    "lm-api": COMMON | SCRIPTS | CHANNELS | {"wait"},
    "lm-scheduler": COMMON | KNOWING | {"wait"},  # one on a channel, and its scripts: see test_acl_scripts.py
    "lm-bot": FOR_ALL
    | {
        "hello",
        "auth",
        "ping",
        "client|setname",
        "client|id",
        "time",
        "script|load",
        "unsubscribe",
    },  # two on channels, and its scripts
    "lm-read": COMMON,
    "lm-admin": COMMON | SCRIPTS | CHANNELS | TRANSACTION | {"wait", "script|kill"},
}


def ledger(server: Embedded) -> tuple[object, object]:
    """All that the ledger's segment is."""
    with as_user(server, "lm-read") as client:
        return client.hgetall(SEGMENT), client.ttl(SEGMENT)


def test_template_names_its_users() -> None:
    """The users that need a password are those of the file, in its order, each on one line of its own."""
    assert acl.users() == USERS
    lines = acl.render(dict.fromkeys(USERS, "x")).splitlines()
    assert [line.split()[:3] for line in lines] == [["user", "default", "off"], *(["user", u, "on"] for u in USERS)]


def test_a_user_without_a_password_is_refused() -> None:
    """A file is never rendered with a user left open."""
    with pytest.raises(KeyError):
        acl.render({"lm-api": "x"})


@pytest.mark.parametrize("command", TAMPERING, ids=" ".join)
def test_api_cannot_tamper(server: Embedded, command: list[str]) -> None:
    """The engine refuses lm-api whatever would change the ledger, the clock or the server itself."""
    before = ledger(server)
    with as_user(server, "lm-api") as client, pytest.raises(redis.exceptions.NoPermissionError):
        client.execute_command(*command)
    assert ledger(server) == before


@pytest.mark.parametrize("command", TAMPERING, ids=" ".join)
def test_api_cannot_tamper_in_a_script(server: Embedded, command: list[str]) -> None:
    """A script has no more rights than its caller: not with the key declared, and not with it hidden."""
    before = ledger(server)
    script = "return redis.call(unpack(ARGV))"
    for keys in ([], [SEGMENT]):
        with as_user(server, "lm-api") as client, pytest.raises(redis.ResponseError, match=REFUSED):
            client.eval(script, len(keys), *keys, *command)
    assert ledger(server) == before


def test_api_appends_once(server: Embedded) -> None:
    """A ledger field can be written once, by command and by script, and not a second time."""
    with as_user(server, "lm-api") as client:
        assert client.hsetnx("lm:{w}:log:1", "1025", "kept") == 1
        assert client.eval("return redis.call('HSETNX', KEYS[1], '1025', 'other')", 1, "lm:{w}:log:1") == 0
        assert client.hgetall("lm:{w}:log:1") == {"1025": "kept"}


@pytest.mark.parametrize("key", WRITES)
def test_api_writes_nothing_else(judge: redis.Redis, commands: list[Command], key: str) -> None:
    """Of all write commands that the server has, lm-api has on each class of key those in the table."""
    writing = [command for command in commands if "@write" in command.categories]
    assert len(writing) > 100
    assert {c.name for c in writing if allowed(judge, "lm-api", c.words(key))} == WRITES[key]


def test_read_has_no_write_command(judge: redis.Redis, commands: list[Command]) -> None:
    """The engine refuses lm-read every write command there is, whatever its key, and every script."""
    refused = [c for c in commands if c.categories & {"@write", "@scripting"}]
    assert len(refused) > 100
    tried = chain.from_iterable((c.words(key) for c in refused) for key in WRITES)
    assert not [words for words in tried if allowed(judge, "lm-read", words)]


@pytest.mark.parametrize("user", USERS)
def test_commands_beside_data(judge: redis.Redis, commands: list[Command], user: str) -> None:
    """What a user may do besides reading and writing keys is the list in the table, and no more."""
    others = [c for c in commands if not c.categories & {"@read", "@write"}]
    assert {c.name for c in others if allowed(judge, user, c.words("lm:{w}:x"))} == OTHERS[user]


@pytest.mark.parametrize("user", USERS)
def test_keys_of_others_stay_closed(judge: redis.Redis, commands: list[Command], user: str) -> None:
    """No user reads or writes a key outside lm:, should the server be shared."""
    for words in (["get", "elsewhere"], ["hgetall", "elsewhere"], ["set", "elsewhere", "1"], ["dump", "elsewhere"]):
        assert not allowed(judge, user, words)


def test_nobody_walks_the_keys(judge: redis.Redis) -> None:
    """Only lm-admin can list keys."""
    for words in (["keys", "*"], ["scan", "0"]):
        assert [user for user in USERS if allowed(judge, user, words)] == ["lm-admin"]


def test_read_writes_nothing(server: Embedded) -> None:
    """lm-read sees the ledger and can add nothing to it, not even what lm-api may."""
    with as_user(server, "lm-read") as client:
        assert client.hget(SEGMENT, "1") == "first"
        for command in (["HSETNX", SEGMENT, "2", "x"], ["PUBLISH", "lm:x", "x"], ["EVAL", "return 1", "0"]):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)


def test_what_scripts_wrote_is_there_after_a_restart(program: Path, tmp_path: Path) -> None:
    """The server takes back all of its append-only file, in which what a script wrote is a transaction."""
    script = "redis.call('HSET', KEYS[1], 'rev', '1') return redis.call('HSETNX', KEYS[2], '1', 'kept')"
    try:
        with as_user(ensure(tmp_path, program=program), "lm-api") as client:
            assert client.eval(script, 2, "lm:{w}:doc:ask:a1", SEGMENT) == 1
            client.hset("lm:{w}:head", "seq", "1")
        assert stop(tmp_path)
        with as_user(ensure(tmp_path, program=program), "lm-read") as client:
            found = [client.hgetall(key) for key in ("lm:{w}:doc:ask:a1", SEGMENT, "lm:{w}:head")]
        assert found == [{"rev": "1"}, {"1": "kept"}, {"seq": "1"}]
    finally:
        stop(tmp_path)


def test_admin_sets_the_clock_and_mends(server: Embedded) -> None:
    """lm-admin can set a clock, take a ledger field away and put a key back from its dump."""
    with as_user(server, "lm-admin") as client:
        assert client.set("lm:{m}:clock", "86400000")
        client.hset("lm:{m}:log:0", mapping={"1": "a", "2": "b"})
        assert client.hdel("lm:{m}:log:0", "2") == 1
        assert set(client.scan_iter("lm:{m}:*")) == set(client.keys("lm:{m}:*")) == {"lm:{m}:clock", "lm:{m}:log:0"}
    raw = redis.Redis(
        unix_socket_path=str(server.socket), username="lm-admin", password=server.password("lm-admin"), driver_info=None
    )
    with raw:
        dump = raw.dump("lm:{m}:log:0")
        assert dump
        assert raw.delete("lm:{m}:log:0") == 1
        raw.restore("lm:{m}:log:0", 0, dump)
        assert raw.hgetall("lm:{m}:log:0") == {b"1": b"a"}


def test_admin_is_no_master_of_the_server(server: Embedded) -> None:
    """lm-admin has the data, not the server: no users, modules, settings, flushing or shutting down."""
    refused = [
        ["ACL", "LIST"],
        ["ACL", "WHOAMI"],
        ["MODULE", "LIST"],
        ["CONFIG", "SET", "appendfsync", "no"],
        ["CONFIG", "REWRITE"],
        ["FLUSHALL"],
        ["FLUSHDB"],
        ["SHUTDOWN"],
        ["FUNCTION", "LIST"],
        ["REPLICAOF", "NO", "ONE"],
        ["BGREWRITEAOF"],
    ]
    with as_user(server, "lm-admin") as client:
        for command in refused:
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)


@pytest.mark.parametrize(
    "login", [(None, None), ("default", "x"), ("lm-api", "wrong"), ("lm-bot", "x"), ("lm-x", "x")], ids=str
)
def test_nobody_comes_in_otherwise(server: Embedded, login: tuple[str | None, str | None]) -> None:
    """Without a user's password the server answers nothing; the default user is off."""
    with connect(server.socket, *login) as client, pytest.raises(redis.AuthenticationError):
        client.ping()
