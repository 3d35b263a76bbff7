"""Servers of each kind with the store's users in force."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis

from store.engine import acl
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from store.engine.embedded import Embedded, ensure, stop
from tests.world import swept

from .servers import ask, bundled, connect, oldest, plain
from .users import SEGMENT, USERS, Command, as_user


@pytest.fixture
async def bot(engine: Embedded) -> AsyncIterator[BotStore]:
    """The bot's store, with nothing in it."""
    await swept(engine)
    store = open_bot_store(Target.embedded(engine))
    yield store
    await store.close()


@pytest.fixture(scope="module", params=[bundled, oldest], ids=["bundled", "oldest"])
def program(request: pytest.FixtureRequest) -> Path:
    """Each kind of server that the file must load in."""
    found: Path = request.param()
    return found


@pytest.fixture(scope="module")
def server(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """An embedded engine with one entry, one document and the users in force."""
    server = ensure(tmp_path_factory.mktemp("acl"), program=program)
    with as_user(server, "lm-api") as client:
        client.hsetnx(SEGMENT, "1", "first")
        client.hset("lm:{w}:doc:ask:a1", "rev", "1")
    yield server
    stop(server.home)


@pytest.fixture(scope="module")
def judge(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    """The same users on a server whose default user may ask what they may do."""
    folder = tmp_path_factory.mktemp("judge")
    with plain(program, folder, watched(folder)) as socket, connect(socket) as client:
        yield client


@pytest.fixture
def hurried(program: Path, tmp_path: Path) -> Iterator[Path]:
    """The socket of a server with the same users that takes a script for endless after 50 ms."""
    with plain(program, tmp_path, [*watched(tmp_path), "--busy-reply-threshold", "50"]) as socket:
        yield socket


def watched(folder: Path) -> list[str]:
    """Options of a server with the store's users, their password `x`, and a default user who may do all."""
    rendered = acl.render(dict.fromkeys(USERS, "x")).splitlines()
    lines = ["user default on nopass ~* &* +@all", *(line for line in rendered if " default " not in line)]
    (folder / "users.acl").write_text("\n".join(lines) + "\n")
    return ["--aclfile", str(folder / "users.acl")]


@pytest.fixture(scope="module")
def commands(judge: redis.Redis) -> list[Command]:
    """Every command that the server has, subcommands one by one."""
    names = ask(judge, "COMMAND LIST", "FILTERBY", "PATTERN", "*")
    rows = ask(judge, "COMMAND INFO", *names)  # name, arity, flags, three of keys, categories, tips, keys, subcommands
    return [Command(row[0], frozenset(row[6]), row[1]) for row in rows if not row[9]]
