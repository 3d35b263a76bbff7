"""Runs the services of docker-compose.yml as processes of this machine: same commands, environment, health checks.

What differs between a container and this machine stands in one table: hosts, bind addresses, ports, folders.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.command.running import PATIENCE, Told, until

from .files import argument, compose, image_environment, seconds


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


class Composed:
    """The services over one folder; `up` starts those that do not run, in the order that they depend on each other.

    Those of a profile are there only where it is named; `variables` are what the operator has set.
    """

    def __init__(self, folder: Path, *profiles: str, **variables: str) -> None:
        self.folder = folder
        self.file = compose(variables)
        self.names = [
            name
            for name, service in self.file["services"].items()
            if not service.get("profiles") or {*profiles} & {*service["profiles"]}
        ]
        store, api, bot, scheduler = free_port(), free_port(), free_port(), free_port()
        self.url = f"http://127.0.0.1:{api}"
        self.table = {
            "redis:6379": f"127.0.0.1:{store}",
            "http://api:8765": self.url,
            "0.0.0.0": "127.0.0.1",
            "6379": str(store),
            "8765": str(api),
            "8766": str(bot),
            "8767": str(scheduler),
            "/data": str(folder / "data"),
            "/secrets": str(folder / "secrets"),
            "/var/lib/logmem": str(folder / "home"),
            "/tmp/logmem": str(folder / "scratch"),
            "/opt/logmem": sys.prefix,
        }
        secrets = (f"secrets/{name}" for name in ("all", "redis", "api", "scheduler", "bot"))
        for volume in ("data", "home", *secrets):
            (folder / volume).mkdir(parents=True, mode=0o700)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def here(self, text: str) -> str:
        """A text of a container as it is to be on this machine."""
        longest = sorted(map(re.escape, self.table), key=len, reverse=True)
        return re.sub("|".join(longest), lambda found: self.table[found[0]], text)

    def service(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.file["services"][name]
        return found

    def environment(self, name: str) -> dict[str, str]:
        """All that the process gets; what is not built here has an image of its own, which sets a path."""
        image = image_environment() if "build" in self.service(name) else {"PATH": os.defpath}
        return {
            key: self.here(str(value)) for key, value in (image | self.service(name).get("environment", {})).items()
        }

    def command(self, name: str, *instead: str) -> list[str]:
        """Entry point and command; `instead` of the command as `docker compose exec` would give it."""
        entry = json.loads(argument("ENTRYPOINT")) if "build" in self.service(name) else []
        return [self.here(word) for word in ([*instead] or [*entry, *self.service(name)["command"]])]

    def log(self, name: str) -> str:
        """What a service has said."""
        return (self.folder / f"{name}.log").read_text()

    def run(self, name: str, *command: str, said: str = "", **env: str) -> Told:
        """A command in the surroundings of a service, to its end; `said` is what its standard input says."""
        done = subprocess.run(
            command,
            env=self.environment(name) | env,
            cwd=self.folder,
            capture_output=True,
            input=said,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Told(done.returncode, done.stdout, done.stderr)

    def healthy(self, name: str) -> bool:
        """One health check."""
        kind, *words = self.service(name)["healthcheck"]["test"]
        shell = {"CMD": [], "CMD-SHELL": ["/bin/sh", "-c"]}[kind]
        return self.run(name, *shell, *map(self.here, words)).code == 0

    def start(self, name: str) -> None:
        """Start one service."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                self.command(name), env=self.environment(name), cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log,
            )  # fmt: skip
        self.running[name] = process

    def wait(self, name: str, condition: str) -> None:
        """Until what others wait for."""
        process = self.running[name]
        if condition == "service_completed_successfully":
            assert process.wait(PATIENCE) == 0, self.log(name)
            return

        def holds() -> bool:
            assert process.poll() is None, self.log(name)
            return self.healthy(name)

        until(holds, f"{name} does not become healthy: {self.log(name)}")

    def up(self) -> None:
        """Start all services, each when what it depends on is as it wants it; returns when all are healthy."""
        waiting = [name for name in self.names if name not in self.running]
        started = {*self.running}
        while waiting:
            needs = self.service(waiting[0]).get("depends_on", {})
            if not started.issuperset(needs):
                waiting.append(waiting.pop(0))
                continue
            for other, how in needs.items():
                self.wait(other, how["condition"])
            self.start(waiting[0])
            started.add(waiting.pop(0))
        for name in started:
            if "healthcheck" in self.service(name):
                self.wait(name, "service_healthy")

    def down(self) -> dict[str, int]:
        """Stop what runs, the last first, each within its time; the exit codes."""
        codes = {}
        for name, process in reversed(self.running.items()):
            process.send_signal(signal.SIGTERM)
            codes[name] = process.wait(seconds(self.service(name).get("stop_grace_period", "10s")))
        self.running.clear()
        return codes

    def end(self) -> None:
        """Kill what is left."""
        for process in self.running.values():
            with suppress(ProcessLookupError):
                process.kill()
            process.wait(PATIENCE)


@contextmanager
def composed(folder: Path, *profiles: str, **variables: str) -> Iterator[Composed]:
    """The services over a folder, ended with the block."""
    made = Composed(folder, *profiles, **variables)
    try:
        yield made
    finally:
        made.end()


def readable_by_others(paths: Sequence[Path]) -> list[Path]:
    """Those that more than their owner may read."""
    return [path for path in paths if path.stat().st_mode & 0o077]
