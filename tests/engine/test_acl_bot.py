"""lm-bot, tried on the engine itself: it reaches its own keys and nothing else, and harms nobody by what it leaves."""

from itertools import chain, product

import pytest
import redis

from store.engine.embedded import Embedded
from store.engine.keys import Keys, shared
from store.engine.script import sha_of, text_of

from .users import REFUSED, TAMPERING, WRITES, Command, allowed, as_user

KEYS = Keys("w")
LABELS = (
    "}:tg:outbox",
    "x}:tg:open",
    "}:tg:card:ask:a1",
    "}:tg:",
    "{g:tg:button:x}",
    "}{g:tg}:inbox",
    "lm:{g:tg}:inbox",
)
SORTED = {"zadd", "zrem", "zremrangebyscore", "zrange", "zscore"}
HASH = {"hset", "hget", "hmget", "hvals", "hgetall"}
STREAM = {"xadd", "xdel", "xread", "xrevrange", "xlen"}

# What lm-bot may do to each class of key, reading it included: the whole list.
BOT = {
    "lm:{w}:tg:outbox": SORTED,
    "lm:{w}:tg:open": SORTED,
    "lm:{w}:tg:card:ask:a1": HASH | {"pexpire"},
    "lm:{g:tg:button:abcdefgh-_12}": {"set", "get"},
    "lm:{g:tg:message:9:1001:7}": {"set", "get"},
    "lm:{g:tg:prompt:1001:7}": {"set", "get"},
    "lm:{w}:tg:term": {"set", "get"},
    "lm:{g:tg}:seen": SORTED,
    "lm:{g:tg}:inbox": STREAM,
    "lm:{g:tg}:dead": STREAM,
    "lm:{g:tg}:words": {"hset", "hgetall", "hdel"},
    "lm:{g:tg}:lease:poller": HASH,
    "lm:{g:tg}:state": HASH,
    "lm:{g:tg}:spaces": {"sadd", "smembers"},
}

# Its scripts, with the keys of each.
SCRIPTS = {
    "lease": ["lm:{g:tg}:lease:poller"],
    "keep": ["lm:{g:tg}:lease:poller", "lm:{g:tg}:seen", "lm:{g:tg}:inbox"],
    "card": ["lm:{w}:tg:term", "lm:{w}:tg:card:ask:a1"],
    "settled": ["lm:{w}:tg:term", "lm:{w}:tg:open", "lm:{w}:tg:outbox"],
}

# Keys of others, some as near to the bot's as a key can come.
NOT_THE_BOTS = (
    *(key for key in WRITES if key not in BOT and ":tg" not in key),
    *("lm:{g:telegram:1001}", "lm:{g:person:ana}", "lm:{g:pair:x}", "lm:{g:claim:x}", "lm:{g:tries:1001}"),
    *("lm:{g:session:x}", "lm:{g:link:x}", "lm:{g:spaces:0}", "lm:{g:tgx:y}", "lm:{g:tg}", "lm:{g:tg}x", "lm:{tg:x}"),
    *(KEYS.place(f"trail:{label}") for label in LABELS),
    *(KEYS.index("same", label) for label in LABELS),
    *(KEYS.done("agent:a", label) for label in LABELS),
    *(KEYS.doc("fact", label) for label in LABELS),
    *(shared("key", label) for label in LABELS),
    *(
        "lm:{w}:tg:other",
        "lm:{w}:tg:outbox:x",
        "lm:{w}:tg:open:x",
        "lm:{w}:tg",
        "lm:{w}:tgx:outbox",
        "lm:{w}:x:tg:open",
    ),
)


@pytest.mark.parametrize("key", BOT)
def test_bot_has_its_own_keys(judge: redis.Redis, commands: list[Command], key: str) -> None:
    """Of all commands on data, lm-bot has on each class of its keys those in the table, all of one type of value.

    So nothing that it leaves there can make a commit fail that marks a ref.
    """
    data = [command for command in commands if command.categories & {"@read", "@write"}]
    assert {c.name for c in data if allowed(judge, "lm-bot", c.words(key))} == BOT[key]


def test_bot_has_no_other_key(judge: redis.Redis, commands: list[Command]) -> None:
    """lm-bot reads and writes no key but its own, whatever names agents have chosen."""
    data = [c for c in commands if c.categories & {"@read", "@write"}]
    tried = chain.from_iterable((c.words(key) for c in data) for key in NOT_THE_BOTS)
    assert not [words for words in tried if allowed(judge, "lm-bot", words)]
    scripts = (["evalsha", sha_of(text_of(name)), "1", key] for name, key in product(SCRIPTS, NOT_THE_BOTS))
    assert not [words for words in scripts if allowed(judge, "lm-bot", words)]


@pytest.mark.parametrize("key", NOT_THE_BOTS)
def test_bot_reaches_no_other_key_in_a_script(server: Embedded, key: str) -> None:
    """No script of lm-bot's takes a key of others in place of any of its own."""
    for name, own in SCRIPTS.items():
        with as_user(server, "lm-bot") as client:
            sha = client.script_load(text_of(name))
            for at in range(len(own)):
                keys = [*own[:at], key, *own[at + 1 :]]
                with pytest.raises(redis.exceptions.NoPermissionError):
                    client.evalsha(sha, len(keys), *keys, "", "1", "x", "1")


@pytest.mark.parametrize("command", TAMPERING, ids=" ".join)
def test_bot_cannot_tamper(server: Embedded, command: list[str]) -> None:
    """What lm-api may not do, lm-bot may not either, and it has neither transactions nor other channels."""
    with as_user(server, "lm-bot") as client, pytest.raises(redis.exceptions.NoPermissionError):
        client.execute_command(*command)


@pytest.mark.parametrize(
    "command",
    [
        ["MULTI"],
        ["WATCH", "lm:{w}:tg:outbox"],
        ["PUBLISH", "lm:x", "x"],
        ["PUBLISH", "lm:tg", "x"],
        ["SUBSCRIBE", "lm:x"],
        ["PSUBSCRIBE", "*"],
        ["PSUBSCRIBE", "lm:tg:*"],
        ["SSUBSCRIBE", "lm:tg:bell"],
        ["PUBSUB", "CHANNELS"],
        ["CONFIG", "GET", "*"],
        ["INFO"],
        ["SELECT", "1"],
        ["FCALL", "f", "0"],
        ["EVAL", "return redis.call('PUBLISH', 'lm:x', 'x')", "0"],
        ["EVAL", "return redis.call('KEYS', '*')", "0"],
        ["EVAL", "return redis.call('INFO')", "0"],
        ["EVAL", "return redis.call('CONFIG', 'GET', '*')", "0"],
        ["EVAL", "return redis.call('SCAN', '0')", "0"],
        ["EVAL", "return redis.call('DBSIZE')", "0"],
    ],
    ids=" ".join,
)
def test_bot_has_nothing_beside_its_keys(server: Embedded, command: list[str]) -> None:
    """lm-bot has no transactions, no other channels, no patterns of them, and learns nothing of the server."""
    with as_user(server, "lm-bot") as client, pytest.raises(redis.ResponseError, match=f"{REFUSED}|ermission"):
        client.execute_command(*command)


def test_what_the_bot_leaves_breaks_no_mark(server: Embedded) -> None:
    """Whatever scores the bot has given, and whatever it tries to put in place of its outbox, a ref is marked."""
    key = "lm:{w}:tg:outbox"
    with as_user(server, "lm-bot") as bot, as_user(server, "lm-api") as api:
        for score in ("inf", "-inf", "1e308", "0"):
            bot.execute_command("ZADD", key, score, "ask:a")
            assert api.execute_command("ZADD", key, 1_732_982_400_123_456, "ask:a") == 0
            assert api.zscore(key, "ask:a") == 1_732_982_400_123_456
        bot.zrem(key, "ask:a")
        assert api.execute_command("ZADD", key, 1, "ask:a") == 1
