"""The demo through the composed services: as `docker compose exec api logmem demo` plays it."""

import json
from pathlib import Path
from typing import Any

from tests.engine.servers import needed

from .composed import composed

WHY = "the demo is played through the services of docker-compose.yml"


def same(found: list[dict[str, Any]]) -> tuple[str, str]:
    """The option by which a demo plays in the space of another."""
    return "--space", found[-1]["space"]


def test_the_demo_plays_in_the_services(tmp_path: Path) -> None:
    """Without the password that moves clocks it says so, begins in an open morning, plays the day as it is; twice."""
    needed("redis-server", WHY)
    needed("redis-cli", WHY)
    with composed(tmp_path) as services:
        services.up()
        told = services.run("api", *services.command("api", "logmem", "demo", "--auto", "--json"))
        assert told.code == 0, told.err
        found = [json.loads(line) for line in told.out.splitlines()]
        again = services.run("api", *services.command("api", "logmem", "demo", "--auto", "--json", *same(found)))
        assert again.code == 0, again.err
        assert services.down() == dict.fromkeys(("api", "scheduler", "redis", "users"), 0)
    assert found[0]["url"] == services.url
    assert any("lm-admin" in event["text"] for event in found if event["event"] == "remark")
    checked = [(e["result"].get("slot"), e["refused"]) for e in found if e.get("verb") == "sync"]
    assert checked == [("morning", None)] * 4 + [(None, "window_not_open")] * 2
    (decided,) = [event for event in found if event.get("verb") == "decide"]
    assert decided["who"] == "human:demo-owner"
    assert found[-1]["verified"]["ok"]
