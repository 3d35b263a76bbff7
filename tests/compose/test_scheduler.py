"""The composed scheduler at work: what it writes down, as whom it comes to the store, and its health."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.engine.keys import Keys
from tests.command.running import PATIENCE, until
from tests.engine.servers import needed

from .composed import Composed, composed

WHY = "the scheduler of docker-compose.yml is run over it"
SPACE, HALF_AN_HOUR = "fleet", 31 * 60_000


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Composed]:
    """The services, up, with a simulated space that a key opens."""
    needed("redis-server", WHY)
    needed("redis-cli", WHY)
    with composed(tmp_path) as made:
        made.up()
        logmem(made, "space", SPACE, "--simulated")
        yield made


def logmem(services: Composed, *words: str, **env: str) -> Any:
    """What a command in the API's container prints with --json."""
    return services.run("api", *services.command("api", "logmem", *words, "--json"), **env).json


def pass_time(services: Composed, ms: int) -> None:
    """Move the space's clock, as the store's administrator may."""
    password = (services.folder / "secrets" / "all" / "lm-admin").read_text().strip()
    words = ("--user", "lm-admin", "--no-auth-warning", "INCRBY", Keys(SPACE).clock, str(ms))
    told = services.run("redis", "redis-cli", "-p", services.table["6379"], *words, REDISCLI_AUTH=password)
    assert int(told.out) >= ms, told.out


def recaps(services: Composed, agent: dict[str, str]) -> list[dict[str, Any]]:
    """The recaps in the agent's own Log."""
    log = logmem(services, "call", "view", "what=agent:grok", **agent)["log"]
    return [entry for entry in log if entry["kind"] == "recap"]


def silent(services: Composed, agent: dict[str, str], shift: str) -> None:
    """The agent begins and falls silent, and half an hour goes by."""
    logmem(services, "call", "start", "agent=grok", **agent)
    logmem(services, "call", "note", "where=job:x", "kind=memo", f"summary=At it, {shift}", **agent)
    pass_time(services, HALF_AN_HOUR)


def killed(services: Composed, name: str) -> None:
    """A service is killed, and its health check finds out."""
    process = services.running[name]
    os.kill(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)
    assert not services.healthy(name)


def test_it_writes_down_what_time_brings_and_recovers(services: Composed) -> None:
    """It recaps who falls silent, is unhealthy when killed, and goes on when started again."""
    agent = {"LOGMEM_REST_TOKEN": logmem(services, "mint", "grok", "--space", SPACE)["token"]}
    agent["LOGMEM_REST_URL"] = services.url
    silent(services, agent, "first")
    until(lambda: len(recaps(services, agent)) == 1, services.log("scheduler"))
    (said,) = recaps(services, agent)
    assert (said["by"], "ended by itself" in said["summary"]) == ("system:scheduler", True)
    assert services.healthy("scheduler")
    killed(services, "scheduler")
    silent(services, agent, "second")
    assert len(recaps(services, agent)) == 1
    services.start("scheduler")  # as `restart: unless-stopped` does
    services.wait("scheduler", "service_healthy")
    until(lambda: len(recaps(services, agent)) == 2, services.log("scheduler"))
    assert services.run("api", *services.command("api", "logmem", "verify", "--space", SPACE)).code == 0
    assert services.down() == dict.fromkeys(("api", "scheduler", "redis", "users"), 0)


def test_it_is_unhealthy_without_its_store_and_comes_in_with_its_own_password_alone(services: Composed) -> None:
    """Its folder has no other user's password; without that one it does not start, and says why."""
    folder = services.folder / "secrets" / "scheduler"
    assert sorted(path.name for path in folder.iterdir()) == ["lm-read", "lm-scheduler"]
    killed(services, "scheduler")
    own = folder / "lm-scheduler"
    right = own.read_text()
    own.write_text("wrong\n")
    services.start("scheduler")
    assert services.running["scheduler"].wait(PATIENCE) == 5
    assert "The store does not let LogMem in" in services.log("scheduler")
    own.write_text(right)
    services.start("scheduler")
    services.wait("scheduler", "service_healthy")
