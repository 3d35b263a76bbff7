"""No line of a script could go: with any of them missing or bent, one of its direct tests fails."""

import inspect
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import redis

from store.engine import client
from store.engine.lease import LeaseLost
from store.engine.script import FOLDER, text_of
from tests.own_engine import OwnEngine, own_engine

from . import test_card, test_claim, test_commit, test_keep, test_lease, test_own, test_reach, test_settled
from .bot import bot_script
from .conftest import SMALL_NODES
from .script import script

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
    ("field == '#' and redis.call('ZCARD', k)\n    or ", ""),
    ("from and redis.call('ZCOUNT', k, from, '+inf')\n    or ", ""),
    ("k, from, '+inf'", "k, '-inf', '+inf'"),
    ("k, from, '+inf'", "k, from, from"),
    ("member or field) or ''", "member or field)"),
    ("redis.call(member and 'ZSCORE' or 'HGET', k, member or field) or ", ""),
    ("member and 'ZSCORE' or 'HGET'", "'HGET'"),
    ("member and 'ZSCORE' or 'HGET'", "'ZSCORE'"),
    ("member or field", "field"),
    ("field:match('^@(.+)$')", "nil"),
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

NOW = (
    ("t[1] * 1000 + ", ""),
    ("math.floor(t[2] / 1000)", "0"),
    ("math.floor(t[2] / 1000)", "t[2] / 1000"),
)
BENT_LEASE = (
    *NOW,
    ("ARGV[1] == 'take'", "ARGV[1] ~= 'take'"),
    ("is[1] ~= ARGV[2] and now", "now"),
    ("and now < tonumber(is[3] or 0)", ""),
    ("now < tonumber(is[3] or 0)", "now > tonumber(is[3] or 0)"),
    ("is[3] or 0", "is[3]"),
    ("is[2] or 0", "is[2]"),
    ("epoch + 1", "1"),
    ("is[1] ~= ARGV[2] or ", ""),
    (" or epoch ~= tonumber(ARGV[3])", ""),
    ("epoch ~= tonumber(ARGV[3])", "epoch < tonumber(ARGV[3])"),
    ("ARGV[1] == 'drop' and 0 or ", ""),
    ("and 0 or ARGV[4]", "and -now or ARGV[4]"),
    (" or ARGV[4]", " or 0"),
    ("now + (", "("),
    ("'owner', ARGV[2], ", ""),
    ("'epoch', epoch, ", ""),
    (", 'until', ends", ""),
    ("then return 0 end", "then return epoch end"),
)
BENT_KEEP = (
    ("#!lua\n", ""),
    *NOW,
    ("ARGV[1] ~= '' and ", ""),
    (" and redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1]", ""),
    ("'epoch') ~= ARGV[1]", "'epoch') > ARGV[1]"),
    ("return -1", "return 0"),
    ("now - ARGV[2]", "now"),
    ("now - ARGV[2]", "0"),
    ("#ARGV, 2", "#ARGV, 4"),
    (" == 1", " >= 0"),
    ("now, ARGV[i]", "0, ARGV[i]"),
    ("ARGV[i + 1]", "ARGV[i]"),
    ("new + 1", "1"),
)
BENT_CLAIM = (
    ("~= ARGV[1]", "< ARGV[1]"),
    ("~= ARGV[1]", "> ARGV[1]"),
    ("return -1", "return 0"),
    ("'-inf', ARGV[2]", "ARGV[2], '+inf'"),
    ("0, ARGV[3]", "1, ARGV[3]"),
    (", 'LIMIT', 0, ARGV[3]", ""),
    (", 'WITHSCORES'", ""),
    ("then return 0 end", "then return 1 end"),
    ("#found, 2", "#found"),
    ("#found, 2", "2, 2"),
    ("found[i + 1], found[i]", "0, found[i]"),
    ("return #gone", "return #queue"),
)
FENCE = (
    ("ARGV[1] ~= ''", "true"),
    ("ARGV[1] ~= ''", "false"),
    ("KEYS[1]) or 0", "KEYS[1])"),
    ("or 0) > tonumber", "or 0) >= tonumber"),
    ("or 0) > tonumber", "or 0) < tonumber"),
    ("tonumber(ARGV[1])", "0"),
    ("tonumber(redis.call('GET', KEYS[1]) or 0) > tonumber(ARGV[1])", "(redis.call('GET', KEYS[1]) or '0') > ARGV[1]"),
    ("return -1", "return 0"),
)
BENT_SETTLED = (
    *FENCE,
    ("ARGV[3] == '0'", "true"),
    ("ARGV[3] == '0'", "false"),
    ("tonumber(ARGV[4])", "ARGV[4]"),
    ("~= tonumber", "< tonumber"),
    ("~= tonumber", "> tonumber"),
    ("return 0 end", "end"),
    ("return redis.call('ZREM'", "redis.call('ZREM'"),
)
BENT_CARD = (
    *FENCE,
    ("#ARGV == 2", "false"),
    ("#ARGV == 2", "true"),
    ("3, #ARGV", "1, #ARGV"),
    ("3, #ARGV, 2", "3, 4, 2"),
    ("3, #ARGV, 2", "5, #ARGV, 2"),
    ("KEYS[2], ARGV[2])", "KEYS[2], 1)"),
)
BENT_OWN = (
    ("is and ", ""),
    ("is ~= ARGV[1] and ", ""),
    (" and is ~= ARGV[2]", ""),
    ("return is end", "return '' end"),
    ("#ARGV == 2", "true"),
    ("#ARGV == 2", "false"),
    ("return '' end", "return ARGV[1] end"),
    ("ARGV, 3", "ARGV, 5"),
    ("return redis.call('HGET'", "redis.call('HGET'"),
)
BENT_REACH = (
    ("== 0", "== 1"),
    ("t[1] * 1000", "t[1] * 1001"),
    (" - ARGV[2]", ""),
    ("at <= ", "at >= "),
    ("KEYS[1], ARGV[1]) or 0", "KEYS[1], 'x') or 0"),
    (", ARGV[1], at", ", 'lost', at"),
    ("return 1", "return 0"),
)

FAILED = (
    *(AssertionError, redis.ResponseError, ValueError, TypeError, LookupError, LeaseLost),
    pytest.fail.Exception,
)

Case = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class Subject:
    """A script: its direct tests, how they get at it, and its bent forms. `least` is how many tests there are."""

    name: str
    direct: ModuleType
    opened: Callable[[OwnEngine, str], AbstractAsyncContextManager[Any]]
    bent: tuple[tuple[str, str], ...]
    least: int

    @property
    def text(self) -> str:
        return text_of(self.name)

    @property
    def cases(self) -> list[tuple[str, Case]]:
        found = inspect.getmembers(self.direct, inspect.iscoroutinefunction)
        return [(name, case) for name, case in found if name.startswith("test_")]

    def mutants(self) -> Iterator[tuple[str, str]]:
        """Each mutant with a name."""
        lines = self.text.splitlines()
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith(("--", "#!")):
                yield f"{number}: {line.strip()[:60]}", "\n".join(lines[: number - 1] + lines[number:])
        for old, new in self.bent:
            assert self.text.count(old) >= 1, f"the script has no {old!r} any more"
            yield f"{old.strip()[:40]} -> {new.strip()[:40]}", self.text.replace(old, new, 1)


SUBJECTS = (
    Subject("commit", test_commit, script, BENT, 20),
    Subject("claim", test_claim, partial(script, user="lm-scheduler"), BENT_CLAIM, 5),
    Subject("lease", test_lease, bot_script, BENT_LEASE, 6),
    Subject("keep", test_keep, bot_script, BENT_KEEP, 6),
    Subject("settled", test_settled, bot_script, BENT_SETTLED, 6),
    Subject("card", test_card, bot_script, BENT_CARD, 3),
    Subject("own", test_own, script, BENT_OWN, 4),
    Subject("reach", test_reach, script, BENT_REACH, 4),
)


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnEngine]:
    """An engine that mutants may hang, and whose users may run them: a mutant's hash stands in no ACL file."""
    with own_engine(tmp_path_factory.mktemp("mutants"), SMALL_NODES) as engine:
        for user in ("lm-bot", "lm-scheduler"):
            engine.root("ACL", "SETUSER", user, "(~lm:* +evalsha)")
        engine.root("ACL", "SAVE")  # so that they may after a restart too
        yield engine


async def noticed(engine: OwnEngine, subject: Subject, text: str) -> str:
    """The first of the direct tests that fails with this script, or ''."""
    for name, case in subject.cases:
        try:
            async with subject.opened(engine, text) as made:
                await case(made)
        except (redis.TimeoutError, redis.ConnectionError):
            freed(engine)
            return name
        except FAILED:
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


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
async def test_the_script_itself_passes(victim: OwnEngine, subject: Subject) -> None:
    """Unaltered, a script fails none of them: what the mutants fail is due to what they lack."""
    assert len(subject.cases) >= subject.least
    assert await noticed(victim, subject, subject.text) == ""


@pytest.mark.parametrize(
    ("subject", "text"),
    [pytest.param(each, text, id=f"{each.name} {name}") for each in SUBJECTS for name, text in each.mutants()],
)
async def test_mutant_is_noticed(
    victim: OwnEngine, monkeypatch: pytest.MonkeyPatch, subject: Subject, text: str
) -> None:
    """A script with a line or a part of one missing is noticed by a direct test."""
    monkeypatch.setattr(client, "TIMEOUT", TIMEOUT)
    assert await noticed(victim, subject, text), "it passed every test: the line does nothing, or a test is missing"


def test_every_script_has_direct_tests() -> None:
    """A new script in Lua comes with tests of its own and with mutants."""
    assert {path.stem for path in FOLDER.glob("*.lua")} == {subject.name for subject in SUBJECTS}
