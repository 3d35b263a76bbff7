"""docker-compose.yml: a compose file, and as closed as the operator is told that it is."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from api.hosts import Hosts

from .files import ROOT, compose

OURS = ("users", "api", "scheduler", "bot")


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    """The services, with nothing set by the operator."""
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def options(service: dict[str, Any]) -> dict[str, str]:
    """The options of redis-server by their names."""
    words = service["command"][1:]
    return dict(zip((word.removeprefix("--") for word in words[::2]), words[1::2], strict=True))


def test_it_is_a_compose_file() -> None:
    """The file is what the compose specification says that one is."""
    command = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [*command, str(ROOT / "docker-compose.yml")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_process_has_more_than_it_needs(services: dict[str, dict[str, Any]]) -> None:
    """Each service runs as a user who is not root, without capabilities or a way to any, on a read-only file system."""
    for name, service in services.items():
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"]), name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.keys() & {"privileged", "cap_add", "devices", "pid", "ipc"}, name


def test_only_the_api_is_reached_and_only_from_here(services: dict[str, dict[str, Any]]) -> None:
    """Nothing but the API publishes a port, on loopback; the store's network leads nowhere else."""
    assert [name for name, service in services.items() if "ports" in service] == ["api"]
    assert services["api"]["ports"] == ["127.0.0.1:8765:8765"]
    assert compose({"LOGMEM_PORT": "9000"})["services"]["api"]["ports"] == ["127.0.0.1:9000:8765"]
    assert services["redis"]["networks"] == ["store"]
    assert compose()["networks"]["store"] == {"internal": True}
    assert services["users"]["network_mode"] == "none"


def test_the_bot_reaches_the_api_and_the_outside_alone(services: dict[str, dict[str, Any]]) -> None:
    """The bot runs where its profile is wanted, meets nobody but the API on its way out, and mounts its own secrets."""
    assert services["bot"]["profiles"] == ["telegram"]
    assert services["bot"]["networks"] == ["store", "bot"]
    assert [name for name, service in services.items() if "bot" in service.get("networks", ())] == ["api", "bot"]
    assert not (compose()["networks"]["bot"] or {}).get("internal")
    assert services["bot"]["volumes"] == ["secrets-bot:/secrets/bot:ro"]
    assert services["bot"]["environment"]["LOGMEM_API_URL"] == services["api"]["environment"]["LOGMEM_API_URL"]
    hosts = Hosts.of(None, None, services["api"]["environment"]["LOGMEM_API_URL"])
    assert hosts.fault("api:8765", "") is None  # the name by which the bot calls the API
    asked = compose({"LOGMEM_TELEGRAM_API_URL": "http://telegram.internal:8081"})["services"]["bot"]["environment"]
    assert asked["LOGMEM_TELEGRAM_API_URL"] == "http://telegram.internal:8081"


def test_the_scheduler_reaches_the_store_alone(services: dict[str, dict[str, Any]]) -> None:
    """It has no way out and no way in, and mounts the passwords of its own user and of who only reads."""
    assert services["scheduler"]["networks"] == ["store"]
    assert services["scheduler"]["volumes"] == ["secrets-scheduler:/secrets/scheduler:ro"]
    assert "--copy=/secrets/scheduler=lm-scheduler,lm-read" in services["users"]["command"]
    assert "profiles" not in services["scheduler"]


def test_links_lead_where_the_operator_says(services: dict[str, dict[str, Any]]) -> None:
    """Links begin with LOGMEM_PUBLIC_URL, or with the port that is published on this machine."""
    assert services["api"]["environment"]["LOGMEM_PUBLIC_URL"] == "http://127.0.0.1:8765"
    for given, url in (
        ({"LOGMEM_PORT": "9000"}, "http://127.0.0.1:9000"),
        ({"LOGMEM_PORT": "9000", "LOGMEM_PUBLIC_URL": "https://logmem.example.com"}, "https://logmem.example.com"),
    ):
        assert compose(given)["services"]["api"]["environment"]["LOGMEM_PUBLIC_URL"] == url


def test_the_store_keeps_what_it_acknowledges(services: dict[str, dict[str, Any]]) -> None:
    """Redis writes each command to disk before it answers, drops nothing, and lets in the ACL file's users alone."""
    said = options(services["redis"])
    wanted = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction", "save": ""}
    assert said | wanted == said
    assert said["dir"] == "/data"
    assert said["aclfile"] == "/secrets/redis/users.acl"
    assert "store:/data" in services["redis"]["volumes"]


def test_secrets_are_files(services: dict[str, dict[str, Any]]) -> None:
    """No setting holds a password, and each process mounts its own passwords alone, which only `users` may write."""
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            assert not re.search(r"://[^/]*@|password", value, re.I), name
    mounts = {name: service["volumes"] for name, service in services.items()}
    assert [m for m in mounts["api"] if "secrets" in m] == ["secrets-api:/secrets/api:ro"]
    assert [m for m in mounts["redis"] if "secrets" in m] == ["secrets-redis:/secrets/redis:ro"]
    assert "--copy=/secrets/api=lm-api,lm-read,bot-secret" in services["users"]["command"]
    assert "--copy=/secrets/bot=lm-bot,bot-secret,bot-token" in services["users"]["command"]
    assert "--copy=/secrets/redis=users.acl,lm-read" in services["users"]["command"]


def test_a_volume_has_one_place(services: dict[str, dict[str, Any]]) -> None:
    """A volume is at the same place in each service and no two share one, so that one table can map all of them."""
    places = {tuple(mount.split(":")[:2]) for service in services.values() for mount in service["volumes"]}
    assert {volume for volume, _ in places} == set(compose()["volumes"])
    assert len(places) == len({volume for volume, _ in places}) == len({place for _, place in places})


def test_images_are_pinned(services: dict[str, dict[str, Any]]) -> None:
    """Redis has a whole version in its tag, and ours that of the project."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.fullmatch(r"redis:\d+\.\d+\.\d+-\w+", services["redis"]["image"])
    assert {services[name]["image"] for name in OURS} == {f"logmem:{version}"}
    assert {services[name]["build"] for name in OURS} == {"."}


def test_everybody_waits_for_whom_they_need(services: dict[str, dict[str, Any]]) -> None:
    """The store starts when its users are made, the API when the store answers, the bot when both do; all come back."""
    assert services["redis"]["depends_on"] == {"users": {"condition": "service_completed_successfully"}}
    assert services["api"]["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert services["scheduler"]["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert services["bot"]["depends_on"] == {name: {"condition": "service_healthy"} for name in ("redis", "api")}
    lasting = ("redis", "api", "scheduler", "bot")
    assert [services[name]["restart"] for name in ("users", *lasting)] == ["no", *["unless-stopped"] * 4]
    assert all("healthcheck" in services[name] for name in lasting)
