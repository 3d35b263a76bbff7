"""What an ok is worth: read from servers that run with each setting."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from store.engine.client import Promise, StoreProblem, Target, durability, open_client
from store.engine.embedded import Embedded, ensure, stop
from store.engine.promise import promise
from store.engine.store import open_store

from .servers import bundled, oldest, plain


async def promised(target: Target) -> Promise:
    """The promise of a server, as its readers get it."""
    client = open_client(target, user="lm-read")
    try:
        return await durability({"lm-read": client})
    finally:
        await client.aclose()


async def of_plain(folder: Path, options: Sequence[str], program: Path | None = None) -> Promise:
    """The promise of a server that somebody set up by hand."""
    with plain(program or bundled(), folder, options) as socket:
        return await promised(Target.parse(f"unix://{socket}"))


async def test_always(engine: Embedded) -> None:
    """The embedded engine promises that an ok survives, and warns of nothing."""
    found = await promised(Target.embedded(engine))
    assert found.text == "an ok survives a kill of any process, and power loss if the disk honours fsync"
    assert (found.level, found.warnings) == ("always", ())
    assert found.server.startswith("valkey 9")


async def test_everysec(tmp_path: Path) -> None:
    """With `everysec` the promise says what may be lost."""
    server = ensure(tmp_path / "home", fsync="everysec")
    found = await promised(Target.embedded(server))
    stop(server.home)
    assert found.text == "up to about 2 s of acknowledged writes may be lost, even by a process kill"
    assert (found.level, found.warnings) == ("everysec", ())


async def test_no_append_only_file(tmp_path: Path) -> None:
    """Without an append-only file the promise is none, with a loud warning of what to set."""
    found = await of_plain(tmp_path, ["--appendonly", "no", "--appendfsync", "always"])
    assert found.level == "none"
    assert "lost when the server ends" in found.text
    assert "NO APPEND-ONLY FILE: set `appendonly yes`" in found.warnings[0]


async def test_whenever(tmp_path: Path) -> None:
    """With `appendfsync no` the promise says what a power loss takes, and what to set."""
    found = await of_plain(tmp_path, ["--appendonly", "yes", "--appendfsync", "no"])
    assert (found.level, "power loss" in found.text) == ("no", True)
    assert "set it to `always`" in found.warnings[0]


async def test_without_our_users(tmp_path: Path) -> None:
    """A server without the store's users is used, with a warning that it guards nothing."""
    found = await of_plain(tmp_path, ["--appendonly", "yes", "--appendfsync", "always"])
    assert found.level == "always"
    assert [w for w in found.warnings if "connected as 'default'" in w] == list(found.warnings)


async def test_one_user_for_all(engine: Embedded) -> None:
    """Where readers come in as the user that commits, because nothing says how else, a warning names both."""
    password = (engine.home / "secrets" / "lm-api").read_text().strip()
    target = Target.parse(f"unix://lm-api:{password}@{engine.socket}")
    store = open_store(target)
    try:
        found = await store.check()
    finally:
        await store.close()
    (warning,) = found.warnings
    assert "connected as 'lm-api' where lm-read was meant" in warning
    assert "LOGMEM_REDIS_SECRETS" in warning
    assert password not in warning


async def test_who_commits_must_come_in_too(engine: Embedded, tmp_path: Path) -> None:
    """A store that lets only readers in is found at the start."""
    (tmp_path / "lm-read").write_text((engine.home / "secrets" / "lm-read").read_text())
    (tmp_path / "lm-api").write_text("wrong")
    store = open_store(Target.parse(f"unix://{engine.socket}", secrets=tmp_path))
    try:
        with pytest.raises(StoreProblem, match="as lm-api: invalid username-password pair"):
            await store.check()
    finally:
        await store.close()


async def test_settings_that_are_hidden(tmp_path: Path) -> None:
    """Where the server does not let its settings be read, nothing is promised."""
    options = ["--appendonly", "yes", "--appendfsync", "always", "--rename-command", "CONFIG", ""]
    found = await of_plain(tmp_path, options)
    assert found.level == "unknown"
    assert "hides its settings" in found.warnings[0]


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl", "allkeys-random"])
async def test_eviction_is_refused(tmp_path: Path, policy: str) -> None:
    """A server that may drop keys of its own accord is refused, with what to set."""
    with pytest.raises(StoreProblem, match=rf"'{policy}'.*Set `maxmemory-policy noeviction`"):
        await of_plain(tmp_path, ["--maxmemory-policy", policy])


async def test_eviction_is_refused_where_settings_are_hidden(tmp_path: Path) -> None:
    """The policy is read from INFO too."""
    with pytest.raises(StoreProblem, match="'allkeys-lru'"):
        await of_plain(tmp_path, ["--maxmemory-policy", "allkeys-lru", "--rename-command", "CONFIG", ""])


def test_a_cluster_is_refused() -> None:
    """A server in cluster mode is refused until LogMem can use one."""
    with pytest.raises(StoreProblem, match="is a cluster"):
        promise({"redis_version": "7.2.4", "cluster_enabled": "1"}, {}, users={"lm-api": "lm-api"})


async def test_redis_names_itself(tmp_path: Path) -> None:
    """Redis 7 is good enough, and is called by its own name."""
    found = await of_plain(tmp_path, ["--appendonly", "yes"], oldest())
    assert found.server.startswith("redis 7.0")


@pytest.mark.parametrize("told", [{"redis_version": "6.2.14"}, {"redis_version": "6.2.0", "valkey_version": "6.9"}])
def test_too_old(told: dict[str, str]) -> None:
    """A server without ACL selectors is refused by what it says of itself, with the versions that will do."""
    with pytest.raises(StoreProblem, match=r"6\..*needs Redis 7.0 or newer, or Valkey 8 or newer.*selectors"):
        promise(told, {}, users={"lm-api": "lm-api"})
