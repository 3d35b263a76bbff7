"""The users, the classes of keys, and a server that tells what each user may do: for the tests of the ACL file."""

from dataclasses import dataclass

import redis

from store.engine.embedded import Embedded

from .servers import ask, connect

SEGMENT = "lm:{w}:log:0"
USERS = ("lm-api", "lm-scheduler", "lm-bot", "lm-read", "lm-admin")

SHARED = {"hset", "set", "getdel", "del", "pexpire", "expire", "sadd", "srem", "zadd", "zrem", "incr"}

# What lm-api may do to each class of key besides reading it: the whole list.
WRITES = {
    SEGMENT: {"hsetnx"},
    "lm:{w}:head": {"hset"},
    "lm:{w}:clock": set(),
    "lm:{w}:doc:ask:a1": {"hset"},
    "lm:{w}:agent:a:who": {"hset"},
    "lm:{w}:human:ana:now": {"hset"},
    "lm:{w}:job:x:now": {"hset"},
    "lm:{w}:ix:open:agent:a": {"zadd", "zrem"},
    "lm:{w}:due": {"zadd", "zrem"},
    "lm:{w}:idle": {"zadd", "zrem"},
    "lm:{w}:idle:queue": set(),
    "lm:{w}:leader": set(),
    "lm:{w}:place:channel:general": {"rpush"},
    "lm:{w}:done:agent:a:x1": {"set"},
    "lm:{w}:mail:m1": {"set"},
    "lm:{w}:feed": {"xadd"},
    "lm:{w}:tg:outbox": {"zadd"},
    "lm:{w}:tg:open": set(),
    "lm:{w}:tg:term": set(),
    "lm:{w}:tg:card:ask:a1": set(),
    "lm:{g:key:k1}": SHARED,
    "lm:{g:tg:button:x}": SHARED,
    "lm:{g:scheduler:leader}": SHARED,
    "lm:{g:tg}:inbox": set(),
    "lm:{g:tg}:lease:poller": set(),
    "lm:{w}:new:thing": set(),
    "lm:loose": set(),
    "elsewhere": set(),
}

FOR_ALL = {"quit", "reset"}  # no ACL can take these away; `reset` ends as the default user, who is off
COMMON = FOR_ALL | {"hello", "auth", "ping", "client|setname", "client|id", "info", "config|get", "time"}
KNOWING = {"script|load", "script|exists"}
SCRIPTS = KNOWING | {"eval", "evalsha"}
CHANNELS = {"publish", "subscribe", "unsubscribe"}
TRANSACTION = {"multi", "exec", "discard", "watch", "unwatch"}


TAMPERING = [
    ["HSET", SEGMENT, "1", "forged"],
    ["HSETNX", "lm:{w}:head", "seq", "9"],
    ["HMSET", SEGMENT, "1", "forged"],
    ["HDEL", SEGMENT, "1"],
    ["DEL", SEGMENT],
    ["DEL", "lm:{g:key:k1}", SEGMENT],
    ["UNLINK", SEGMENT],
    ["EXPIRE", SEGMENT, "1"],
    ["PEXPIRE", SEGMENT, "1"],
    ["EXPIREAT", SEGMENT, "1"],
    ["PERSIST", SEGMENT],
    ["RENAME", SEGMENT, "lm:{w}:doc:x:y"],
    ["RENAME", "lm:{w}:doc:ask:a1", SEGMENT],
    ["RENAMENX", SEGMENT, "lm:{w}:log:9"],
    ["COPY", "lm:{w}:doc:ask:a1", SEGMENT, "REPLACE"],
    ["MOVE", SEGMENT, "1"],
    ["SET", SEGMENT, "forged"],
    ["GETSET", SEGMENT, "forged"],
    ["HINCRBY", SEGMENT, "2", "1"],
    ["HINCRBYFLOAT", SEGMENT, "2", "1"],
    ["RESTORE", SEGMENT, "0", "x", "REPLACE"],
    ["SORT", SEGMENT, "STORE", SEGMENT],
    ["SUNIONSTORE", SEGMENT, "lm:{g:spaces:0}"],
    ["BITOP", "NOT", SEGMENT, SEGMENT],
    ["SET", "lm:{w}:clock", "1000"],
    ["DEL", "lm:{w}:clock"],
    ["FLUSHALL"],
    ["FLUSHDB"],
    ["SWAPDB", "0", "0"],
    ["CONFIG", "SET", "appendonly", "no"],
    ["SHUTDOWN", "NOSAVE"],
    ["KEYS", "*"],
    ["SCAN", "0"],
    ["RANDOMKEY"],
    ["DBSIZE"],
    ["FUNCTION", "FLUSH"],
    ["SCRIPT", "FLUSH"],
    ["SCRIPT", "KILL"],
    ["ACL", "SETUSER", "lm-api", "+@all"],
    ["ACL", "LIST"],
    ["CLIENT", "KILL", "TYPE", "normal"],
    ["CLIENT", "LIST"],
    ["MONITOR"],
    ["PUBLISH", "other", "x"],
    ["SUBSCRIBE", "other"],
    ["GET", "elsewhere"],
]


# How a script is refused a command: by Valkey, by Redis 7.0, and where scripts may not call it whoever runs them.
REFUSED = r"ACL failure|The user executing the script can't|not allowed from script"


@dataclass(frozen=True)
class Command:
    """A command of the server, with enough arguments of one kind."""

    name: str
    categories: frozenset[str]
    arity: int

    def words(self, filling: str) -> list[str]:
        """The command with every argument the same."""
        if self.name in ("xread", "xreadgroup"):  # whose keys the server finds only where the rest is right
            group = ["GROUP", "x", "x"] if self.name == "xreadgroup" else []
            return [self.name, *group, "STREAMS", filling, "0"]
        name = self.name.split("|")
        return name + [filling] * (abs(self.arity) - len(name))


def as_user(server: Embedded, user: str) -> redis.Redis:
    """A connection of one of the users."""
    return connect(server.socket, user, server.password(user))


def allowed(judge: redis.Redis, user: str, words: list[str]) -> bool:
    """Whether the server would let a user do that."""
    return bool(ask(judge, "ACL DRYRUN", user, *words) == "OK")
