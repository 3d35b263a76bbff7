"""Which scripts a user may run: those of its own, by their hashes, and no other, on each kind of server."""

import asyncio
import re
import threading
import time
from pathlib import Path

import pytest
import redis

from store.domain.copy import Copy
from store.engine import acl
from store.engine.botstore import BotStore, open_bot_store
from store.engine.claim import Claim
from store.engine.client import Target, open_client
from store.engine.embedded import Embedded, ensure, stop
from store.engine.keys import Keys
from store.engine.script import FOLDER, sha_of, text_of

from .servers import ask, connect
from .users import USERS, allowed, as_user

FREE = {"lm-admin", "lm-api"}  # who may run any script
SCRIPTS = {
    "lm-scheduler": {"commit", "claim", "lease"},
    "lm-bot": {"lease", "keep", "card", "settled"},
}
BOUND = sorted(SCRIPTS)
NAMES = sorted(path.stem for path in FOLDER.glob("*.lua"))
ENDLESS = "while true do end"
LIBRARY = "#!lua name=x\nredis.register_function('f', function() while true do end end)"
ELSEWHERE = "lm:{w}:tg:card:ask:a1"
PATIENCE = 20.0  # seconds
COPY = Copy(token="abcdefgh-_12", ref="ask:a1", to="human:ana", chat=1001, state="sending", digest="d", pages=1)


@pytest.mark.parametrize("user", BOUND)
def test_only_its_own_scripts(judge: redis.Redis, user: str) -> None:
    """Of all scripts there are, a user may run those of the table, by their hashes, and no other hash or text."""
    may = {name for name in NAMES if allowed(judge, user, ["evalsha", sha_of(text_of(name)), "0"])}
    assert may == SCRIPTS[user]
    for name in NAMES:
        for command in ("eval", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"):
            assert not allowed(judge, user, [command, text_of(name), "0"])
            assert not allowed(judge, user, [command, sha_of(text_of(name)), "0"])
        assert not allowed(judge, user, ["evalsha", text_of(name), "0"])


def test_nobody_else_runs_any(judge: redis.Redis) -> None:
    """A script of somebody's own making is run by whom the table names, and by nobody else."""
    for words in (["eval", ENDLESS, "0"], ["evalsha", sha_of(ENDLESS), "0"]):
        assert {user for user in USERS if allowed(judge, user, words)} == FREE


@pytest.mark.parametrize("user", BOUND)
@pytest.mark.parametrize(
    "command",
    [
        ["EVAL", ENDLESS, "0"],
        ["EVAL", ENDLESS, "1", ELSEWHERE],
        ["EVAL", f"#!lua flags=allow-stale\n{ENDLESS}", "0"],
        ["EVAL_RO", ENDLESS, "0"],
        ["EVALSHA", sha_of(ENDLESS), "0"],
        ["EVALSHA", sha_of(ENDLESS).upper(), "0"],
        ["EVALSHA", sha_of(ENDLESS), "1", ELSEWHERE],
        ["EVALSHA_RO", sha_of(ENDLESS), "0"],
        ["EVALSHA_RO", sha_of(text_of("lease")), "0"],
        ["EVALSHA", sha_of(text_of("own")), "1", "lm:{g:telegram:1}"],
        ["FUNCTION", "LOAD", LIBRARY],
        ["FUNCTION", "LOAD", "REPLACE", LIBRARY],
        ["FUNCTION", "RESTORE", "x"],
        ["FUNCTION", "LIST"],
        ["FCALL", "f", "0"],
        ["FCALL_RO", "f", "0"],
        ["SCRIPT", "FLUSH"],
        ["SCRIPT", "KILL"],
        ["SCRIPT", "DEBUG", "YES"],
        ["MULTI"],
    ],
    ids=" ".join,
)
def test_no_script_of_its_own_making(server: Embedded, user: str, command: list[str]) -> None:
    """What would run another script is refused, also where the server knows that script; and the store goes on."""
    with as_user(server, user) as client:
        assert client.script_load(ENDLESS) == sha_of(ENDLESS)
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.execute_command(*command)
        assert client.time()


@pytest.mark.parametrize("text", [ENDLESS, f"#!lua\n{ENDLESS}", f"local f = (function() {ENDLESS} end)()"])
def test_what_is_made_known_does_not_run(server: Embedded, text: str) -> None:
    """To make the server know a text runs nothing of it."""
    with as_user(server, "lm-bot") as client:
        assert client.script_load(text) == sha_of(text)
        assert client.time()


@pytest.mark.parametrize(
    "text",
    [
        f"end {ENDLESS} do",
        f"end {ENDLESS} function f()",
        f"end) {ENDLESS} (function()",
        f"#!lua\nend {ENDLESS} function f()",
        f"--[[\n]] end {ENDLESS} function f()",
    ],
)
def test_what_would_break_out_does_not_run(server: Embedded, text: str) -> None:
    """A text that closes what it may be put into does not run either: it is no script."""
    with as_user(server, "lm-bot") as client:
        with pytest.raises(redis.ResponseError, match="compiling"):
            client.script_load(text)
        assert client.time()


async def test_its_own_scripts_run_also_after_a_restart(program: Path, tmp_path: Path) -> None:
    """The bot's scripts and the scheduler's run for them, with what they keep, before and after the store's restart."""
    server = ensure(tmp_path, program=program)
    bot = open_bot_store(Target.embedded(server))
    async with open_client(Target.embedded(server), user="lm-scheduler") as scheduler:
        claim, keys = Claim(scheduler), Keys("w")
        try:
            for epoch in (1, 2):
                assert await all_of_the_bot(bot, update=epoch) == epoch
                await scheduler.hset(keys.leader, "epoch", epoch)
                await scheduler.zadd(keys.index("idle", ""), {"agent:a": 5})
                assert await claim(keys, epoch=epoch, before=9) == 1
                assert await asyncio.to_thread(stop, tmp_path)
                assert (await asyncio.to_thread(ensure, tmp_path, program=program)).started
                assert known(server) == []
        finally:
            await bot.close()
            stop(tmp_path)


async def all_of_the_bot(bot: BotStore, *, update: int) -> int:
    """Run each of the bot's scripts; the epoch of its lease."""
    lease = bot.lease(owner="a", life=600_000)
    epoch = await lease.take()
    assert epoch
    assert await lease.renew()
    assert await bot.updates.keep([{"update_id": update}], epoch=epoch) == 1
    copies, outbox = bot.copies.under(epoch, bot=9), bot.outbox.under(epoch)
    await copies.put("w", COPY)
    assert await copies.taken("w", COPY.ref) == [COPY]
    await bot.outbox.mark("w", COPY.ref)
    (dirty,) = await bot.outbox.dirty("w")
    assert await outbox.settled("w", dirty.ref, dirty.mark, again=5)
    return epoch


def known(server: Embedded) -> list[str]:
    """Which scripts the server knows."""
    with as_user(server, "lm-admin") as client:
        there = client.script_exists(*(sha_of(text_of(name)) for name in NAMES))
    return [name for name, found in zip(NAMES, there, strict=True) if found]


def test_an_older_file_is_written_anew(program: Path, tmp_path: Path) -> None:
    """A store that is started by a version with other scripts gets an ACL file with theirs."""
    try:
        ensure(tmp_path, program=program)
        stop(tmp_path)
        path = tmp_path / "store" / "users.acl"
        now = path.read_text()
        path.write_text(now.replace(sha_of(text_of("lease")), "0" * 40))
        server = ensure(tmp_path, program=program)
        assert path.read_text() == now
        with as_user(server, "lm-bot") as client, pytest.raises(redis.exceptions.NoScriptError):
            client.evalsha(sha_of(text_of("lease")), 0)
    finally:
        stop(tmp_path)


def test_every_hash_is_put_in() -> None:
    """No placeholder is left, and every hash in the file is one of a script that there is."""
    text = acl.render(dict.fromkeys(USERS, "x"))
    assert ".lua" not in text
    shas = set(re.findall(r"evalsha\|(\S+?)\)?(?=\s)", text))
    assert shas == {sha_of(text_of(name)) for name in set().union(*SCRIPTS.values())}
    assert {user: set(acl.scripts(user)) for user in USERS} == {user: SCRIPTS.get(user, set()) for user in USERS}


@pytest.mark.parametrize("name", NAMES)
def test_without_keys_a_script_does_nothing(hurried: Path, name: str) -> None:
    """A script that is given no key fails before it writes, so whether somebody may run it can be tried."""
    with connect(hurried) as client:
        with pytest.raises(redis.ResponseError):
            client.evalsha(client.script_load(text_of(name)), 0)
        assert client.dbsize() == 0


def test_admin_ends_an_endless_script(hurried: Path) -> None:
    """lm-admin comes in while a script holds up everybody, and ends it: nothing was written and all goes on."""
    said: list[str] = []

    def hang() -> None:
        with connect(hurried, "lm-admin", "x") as client:
            try:
                client.eval(ENDLESS, 0)
            except redis.ResponseError as ended:
                said.append(str(ended))

    hanging = threading.Thread(target=hang)
    hanging.start()
    bound = time.monotonic() + PATIENCE
    while not held_up(hurried):
        assert time.monotonic() < bound
    with connect(hurried, "lm-admin", "x") as client:
        assert ask(client, "SCRIPT KILL")
    hanging.join(PATIENCE)
    assert ["killed" in each or "SCRIPT KILL" in each for each in said] == [True]
    assert not held_up(hurried)


def held_up(socket: Path) -> bool:
    """Whether the server answers lm-bot that it is busy."""
    with connect(socket, "lm-bot", "x") as client:
        try:
            client.time()
        except redis.ResponseError as said:
            return "busy" in str(said)
        return False
