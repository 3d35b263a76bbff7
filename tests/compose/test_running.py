"""The services as processes: made from nothing, used, stopped, and begun again, over a Redis server of the system."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from store.engine import acl
from tests.command.running import PATIENCE, Told, until
from tests.engine.servers import needed

from .composed import Composed, composed, readable_by_others
from .files import ROOT

WHY = "the services of docker-compose.yml are run with it"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Composed]:
    """The services, none of them started."""
    needed("redis-server", WHY)
    needed("redis-cli", WHY)
    with composed(tmp_path) as made:
        yield made


def command(services: Composed, *words: str) -> Told:
    """A command as `docker compose exec api …` runs it."""
    done = services.run("api", *services.command("api", "logmem", *words))
    assert done.code == 0, done.err
    return done


def said(services: Composed, *words: str) -> Any:
    """What a command prints with --json."""
    return command(services, *words, "--json").json


class Owner:
    """The person of these tests, signed in."""

    def __init__(self, link: str, url: str) -> None:
        self._client = httpx.Client(base_url=url, headers={"Origin": url, "X-LogMem-CSRF": "1"}, timeout=PATIENCE)
        assert self._client.post(link).status_code == 303

    def __enter__(self) -> "Owner":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def approve(self, ask: dict[str, Any]) -> None:
        """Approve an ask."""
        verdict = {"space": "fleet", "trail": ask["trail"], "digest": ask["digest"], "verdict": "approve"}
        answer = self._client.post("/api/decide", json=verdict)
        assert answer.status_code == 200, answer.text


def main_job(url: str, token: str, owner: Owner) -> list[dict[str, Any]]:
    """An agent over MCP: it asks, the owner approves, it redeems. The steps as it tells them."""
    agent = [sys.executable, "-m", "tests.surfaces.agent", f"{url}/mcp", "auto", token]
    steps: list[dict[str, Any]] = []
    with subprocess.Popen(agent, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            steps.append(json.loads(line))
            if steps[-1]["step"] == "redeem" and steps[-1]["refused"]:
                owner.approve(next(step["structure"] for step in steps if step["step"] == "ask"))
        assert process.wait(PATIENCE) == 0
    return steps


def test_from_nothing_to_a_decision_and_on(services: Composed) -> None:
    """The services come up, a person lets an agent go on, all stops in order, and is there at the next start."""
    services.up()
    command(services, "space", "fleet")
    with Owner(said(services, "human", "add", "ana", "--role", "owner")["login_url"], services.url) as owner:
        token = said(services, "mint", "grok")["token"]
        steps = main_job(services.url, token, owner)
    used = [step for step in steps if step["step"] == "redeem"][-1]["structure"]
    assert used["decision"]["by"] == "human:ana"
    assert services.down() == dict.fromkeys(("api", "scheduler", "redis", "users"), 0)
    services.up()
    agent = {"LOGMEM_REST_TOKEN": token, "LOGMEM_REST_URL": services.url}
    told = services.run("api", "logmem", "call", "view", "what=job:release", "--json", **agent)
    assert "Built v1.4.0" in told.json["log"][0]["summary"]
    again = services.run("api", "logmem", "call", "redeem", f"trail={used['trail']}", **agent)
    assert "already_redeemed" in again.err
    assert command(services, "verify").code == 0
    assert services.down() == dict.fromkeys(("api", "scheduler", "redis", "users"), 0)


def test_the_log_is_lines_of_json_without_secrets(services: Composed) -> None:
    """The API's log is lines of JSON, its promise is `always` without a warning, and no password is in a log."""
    services.up()
    services.down()
    lines = [json.loads(line) for line in services.log("api").splitlines()]
    (promise,) = [line for line in lines if line["event"] == "promise"]
    assert (promise["durability"], promise["level"]) == ("always", "info")
    passwords = [path.read_text().strip() for path in (services.folder / "secrets" / "all").glob("lm-*")]
    assert [len(each) for each in passwords] == [64] * len(acl.users())
    for name in ("users", "redis", "api", "scheduler"):
        assert not [each for each in passwords if each in services.log(name)]


def test_each_process_has_its_own_passwords(services: Composed) -> None:
    """The API, the bot and Redis get the passwords that they need, not lm-admin's; nobody else can read the files."""
    services.up()
    folders = {name: services.folder / "secrets" / name for name in ("redis", "api", "scheduler", "bot")}
    found = {name: sorted(path.name for path in folder.iterdir()) for name, folder in folders.items()}
    assert found == {
        "redis": ["lm-read", "users.acl"], "api": ["bot-secret", "lm-api", "lm-read"],
        "scheduler": ["lm-read", "lm-scheduler"], "bot": ["bot-secret", "lm-bot"],
    }  # fmt: skip
    files = [path for path in (services.folder / "secrets").rglob("*") if path.is_file() and path.name != "lock"]
    assert not readable_by_others(files)
    before = {path: path.read_text() for path in files}
    services.down()
    services.up()
    assert {path: path.read_text() for path in files} == before


def test_health_demands_an_answer(services: Composed) -> None:
    """Redis is healthy only if it answers PONG to lm-read, the API only if its store does, and both recover."""
    services.up()
    password = services.folder / "secrets" / "redis" / "lm-read"
    right = password.read_text()
    password.write_text("wrong\n")
    assert not services.healthy("redis")
    password.write_text(right)
    assert services.healthy("redis")
    store = services.running["redis"]
    os.kill(store.pid, signal.SIGKILL)
    store.wait(PATIENCE)
    assert not services.healthy("redis")
    assert not services.healthy("api")
    services.start("redis")  # as `restart: unless-stopped` does
    services.wait("redis", "service_healthy")
    until(lambda: services.healthy("api"), "the API does not find its store again")


def test_the_store_lets_nobody_else_in(services: Composed) -> None:
    """The users of users.acl are in force: nobody comes in without a password, and lm-read writes nothing."""
    services.up()
    where = ("redis-cli", "-p", services.table["6379"])
    assert "NOAUTH" in services.run("redis", *where, "ping").out
    password = (services.folder / "secrets" / "redis" / "lm-read").read_text().strip()
    asked = ("--user", "lm-read", "--pass", password, "--no-auth-warning")
    assert "NOPERM" in services.run("redis", *where, *asked, "set", "lm:{g:x}", "1").out
    assert services.run("redis", *where, *asked, "ping").out == "PONG\n"
