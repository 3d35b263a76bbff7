"""lm-scheduler, tried on the engine itself: what it writes down for time, and nothing that only callers change."""

import pytest
import redis

from store.engine.embedded import Embedded

from .test_acl import ledger
from .users import REFUSED, TAMPERING, WRITES, Command, allowed, as_user

# What lm-scheduler may do to each class of key besides reading it: the whole list.
ITS = {
    "lm:{w}:log:0": {"hsetnx"},
    "lm:{w}:head": {"hset"},
    "lm:{w}:leader": {"hset"},
    "lm:{w}:doc:ask:a1": {"hset"},
    "lm:{w}:ix:open:agent:a": {"zadd", "zrem"},
    "lm:{w}:due": {"zadd", "zrem"},
    "lm:{w}:idle": {"zadd", "zrem"},
    "lm:{w}:idle:queue": {"zadd", "zrem"},
    "lm:{w}:place:channel:general": {"rpush"},
    "lm:{w}:done:agent:a:x1": {"set"},
    "lm:{w}:feed": {"xadd"},
    "lm:{w}:tg:outbox": {"zadd"},
    "lm:{g:scheduler:leader}": {"hset"},
}


@pytest.mark.parametrize("key", WRITES)
def test_scheduler_writes_nothing_else(judge: redis.Redis, commands: list[Command], key: str) -> None:
    """Of all write commands that the server has, lm-scheduler has on each class of key those in the table."""
    writing = [command for command in commands if "@write" in command.categories]
    assert {c.name for c in writing if allowed(judge, "lm-scheduler", c.words(key))} == ITS.get(key, set())


def test_scheduler_s_table_has_no_other_keys() -> None:
    """Each class of the table is one of those that are tried."""
    assert ITS.keys() <= WRITES.keys()


@pytest.mark.parametrize("command", TAMPERING, ids=" ".join)
def test_scheduler_cannot_tamper(server: Embedded, command: list[str]) -> None:
    """What lm-api may not do to the ledger, the clock and the server, lm-scheduler may not either, nor in a script."""
    before = ledger(server)
    with as_user(server, "lm-scheduler") as client, pytest.raises(redis.exceptions.NoPermissionError):
        client.execute_command(*command)
    with as_user(server, "lm-scheduler") as client, pytest.raises(redis.ResponseError, match=f"{REFUSED}|ermission"):
        client.eval("return redis.call(unpack(ARGV))", 0, *command)
    assert ledger(server) == before


@pytest.mark.parametrize(
    "command",
    [
        ["HSET", "lm:{w}:agent:a:who", "rev", "9"],
        ["HSET", "lm:{w}:human:ana:now", "rev", "9"],
        ["SET", "lm:{w}:mail:m1", "x"],
        ["SET", "lm:{w}:clock", "1"],
        ["HSET", "lm:{g:key:k1}", "principal", "agent:x"],
        ["DEL", "lm:{g:scheduler:leader}"],
        ["SADD", "lm:{g:spaces:0}", "x"],
        ["PUBLISH", "lm:x", "x"],
        ["SUBSCRIBE", "lm:tg:bell"],
    ],
    ids=" ".join,
)
def test_scheduler_leaves_to_callers_what_is_theirs(server: Embedded, command: list[str]) -> None:
    """No slot, no text, no credential, no clock, and no lease that is taken away; it rings the bot and hears nobody."""
    with as_user(server, "lm-scheduler") as client:
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.execute_command(*command)
        assert client.publish("lm:tg:bell", "w") == 0
