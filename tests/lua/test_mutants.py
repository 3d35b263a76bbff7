"""No line of commit.lua could go: with any of them missing or bent, one of the direct tests fails."""

import inspect
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from store.engine import client
from store.engine.commit import SCRIPT
from tests.own_engine import OwnEngine, own_engine

from . import test_commit
from .conftest import SMALL_NODES
from .script import Script, script

TIMEOUT = 1.0  # seconds: a mutant may run for ever

# Statements that share their line with others, or that deleting a line would not reach: the text and what it becomes.
BENT = (
    ("#!lua\n", ""),
    ("ARGV[1] ~= '0' and now > tonumber(ARGV[1])", "now > tonumber(ARGV[1])"),
    ("ARGV[1] ~= '0' and now > tonumber(ARGV[1])", "false"),
    ("now > tonumber(ARGV[1])", "now < tonumber(ARGV[1])"),
    ("t[1] * 1000 + ", ""),
    ("math.floor(t[2] / 1000)", "0"),
    ("math.floor(t[2] / 1000)", "t[2] / 1000"),
    (" + (redis.call('GET', KEYS[3]) or 0)", ""),
    ("(redis.call('GET', KEYS[3]) or 0)", "redis.call('GET', KEYS[3])"),
    ("return {'again', ''}", "return {'again', KEYS[1]}"),
    ("field == '#' and redis.call('ZCARD', k) or ", ""),
    ("from and redis.call('ZCOUNT', k, from, '+inf')\n    or ", ""),
    ("k, from, '+inf'", "k, '-inf', '+inf'"),
    ("k, from, '+inf'", "k, from, from"),
    ("redis.call('HGET', k, field) or ''", "redis.call('HGET', k, field)"),
    (" or redis.call('HGET', k, field)", ""),
    ("tostring(is) ~= value", "is ~= value"),
    ("tostring(is) ~= value", "tostring(is) < value"),
    ("tostring(is) ~= value", "tostring(is) > value"),
    ("math.max(now, tonumber(head[2] or 0))", "now"),
    ("math.max(now, tonumber(head[2] or 0))", "tonumber(head[2] or 0)"),
    ("tonumber(head[1] or 0)", "0"),
    ("head[3] or ''", "''"),
    ("SEGMENT = 1024", "SEGMENT = 1000"),
    ("(n - 1) / SEGMENT", "n / SEGMENT"),
    ("n == 1 and seq > 0", "seq > 0"),
    ("n == 1 and seq > 0 and ", "n == 1 and "),
    ("n == 1 and seq > 0", "n == 2 and seq > 0"),
    ("h .. ids[n] .. l", "ids[n] .. l"),
    ("h .. ids[n] .. l", "h .. l"),
    ("h .. ids[n] .. l", "h .. ids[n]"),
    ("now = math.max(now, tonumber(head[2] or 0))", "now = now"),
    ("{ids[n], l, h, s, e}", "{ids[n], l, h, s}"),
    ("#ids > 0", "true"),
    ("'ms', now, ", ""),
    (", 'h', h)", ")"),
    ("'seq', seq, ", ""),
    ("ARGV[6] ~= ''", "true"),
    ("ARGV[6] ~= ''", "#ids > 0"),
    ("'MAXLEN', '~', ARGV[5], ", ""),
    (", 'i', table.concat(ids, ' ')", ""),
    ("{ARGV[2], table.concat(ids, ' '), ARGV[3]}", "{ARGV[2], table.concat(ids, ' ')}"),
    ("{ARGV[2], table.concat(ids, ' '), ARGV[3]}", "{table.concat(ids, ' '), ARGV[3]}"),
    ("{ARGV[2], table.concat(ids, ' '), ARGV[3]}", "{ARGV[2], '', ARGV[3]}"),
    (", 'PX', ARGV[4])", ")"),
    ("type(a) == 'string' and ", ""),
    ("a:sub(1, 1) == '\\0' and ", ""),
    ("ids[tonumber(a:sub(2))] or a", "ids[tonumber(a:sub(2))]"),
    ("ids[tonumber(a:sub(2))]", "ids[1]"),
    ("w[1], w[2]}", "w[1]}"),
    ("{'ok', unpack(ids)}", "{'ok'}"),
    ("{'done', done}", "{'done'}"),
    ("{'again', k}", "{'again', ''}"),
    # Written as it is checked, which leaves half of a plan behind when a later command is denied.
    ("return {'denied', w[1], w[2]} end\nend", "return {'denied', w[1], w[2]} end\nredis.call(unpack(w)) end"),
)


def mutants() -> Iterator[tuple[str, str]]:
    """Each mutant with a name."""
    lines = SCRIPT.splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith(("--", "#!")):
            yield f"{number}: {line.strip()[:60]}", "\n".join(lines[: number - 1] + lines[number:])
    for old, new in BENT:
        assert SCRIPT.count(old) >= 1, f"the script has no {old!r} any more"
        yield f"{old.strip()[:40]} -> {new.strip()[:40]}", SCRIPT.replace(old, new, 1)


Case = Callable[[Script], Awaitable[None]]
CASES: list[tuple[str, Case]] = [
    (name, case)
    for name, case in inspect.getmembers(test_commit, inspect.iscoroutinefunction)
    if name.startswith("test_")
]


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnEngine]:
    """An engine that mutants may hang."""
    with own_engine(tmp_path_factory.mktemp("mutants"), SMALL_NODES) as engine:
        yield engine


async def noticed(engine: OwnEngine, text: str) -> str:
    """The first of the direct tests that fails with this script, or ''."""
    for name, case in CASES:
        try:
            async with script(engine, text) as made:
                await case(made)
        except (redis.TimeoutError, redis.ConnectionError):
            freed(engine)
            return name
        except (AssertionError, redis.ResponseError, ValueError, TypeError, LookupError, pytest.fail.Exception):
            engine.set("maxmemory", 0)
            return name
    return ""


def freed(engine: OwnEngine) -> None:
    """End a script that runs for ever; one that has written cannot be ended without its engine."""
    with suppress(redis.RedisError):
        engine.root("SCRIPT", "KILL")
    with suppress(redis.RedisError):
        if engine.root("PING"):
            engine.set("maxmemory", 0)
            return
    engine.end(signal.SIGKILL)
    engine.start()


async def test_the_script_itself_passes(victim: OwnEngine) -> None:
    """Unaltered, the script fails none of them: what the mutants fail is due to what they lack."""
    assert len(CASES) >= 20
    assert await noticed(victim, SCRIPT) == ""


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in mutants()])
async def test_mutant_is_noticed(victim: OwnEngine, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A script with a line or a part of one missing is noticed by a direct test."""
    monkeypatch.setattr(client, "TIMEOUT", TIMEOUT)
    assert await noticed(victim, text), "it passed every test: the line does nothing, or a test is missing"


def test_every_script_has_direct_tests() -> None:
    """A new script in Lua comes with tests of its own and with mutants."""
    folder = Path(test_commit.__file__).parent
    scripts = (folder.parents[1] / "store" / "engine" / "lua").glob("*.lua")
    assert [s.name for s in scripts if not (folder / f"test_{s.stem}.py").exists()] == []
