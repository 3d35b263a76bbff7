"""Node 22 and what the tests take from npm: package.json beside this says which, and `.ci/run` installs it here."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
PATIENCE = 120.0  # seconds for one program
HOW = "npm install --prefix tests/conformance"


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended, and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Node:
    """Runs programs of npm's with the right Node, in a home folder of their own."""

    home: Path

    @property
    def binary(self) -> Path:
        return MODULES / ".bin" / "node"

    @property
    def variables(self) -> dict[str, str]:
        return {"PATH": f"{self.binary.parent}:{os.defpath}", "HOME": str(self.home), "NO_COLOR": "1"}

    async def run(self, script: str, *words: str) -> Done:
        """Run a script of ours, or `<package>/<path>` of one of npm's."""
        path = HERE / script if script.endswith(".mjs") else MODULES / script
        process = await asyncio.create_subprocess_exec(
            self.binary, path, *words, stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE,
            env=self.variables, cwd=self.home,
        )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE):
                out, err = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        return Done(process.returncode or 0, out.decode(), err.decode())


def lacking() -> list[str]:
    """What is not installed in the version that package.json names."""
    wanted: dict[str, str] = json.loads((HERE / "package.json").read_text())["dependencies"]
    return [f"{name} {version}" for name, version in wanted.items() if _installed(name) != version]


def _installed(name: str) -> str:
    about = MODULES / name / "package.json"
    return str(json.loads(about.read_text())["version"]) if about.is_file() else ""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """Node with its packages; where they are absent the test is skipped, on CI it fails."""
    missing = lacking()
    if missing:
        reason = f"not installed: {', '.join(missing)} ({HOW})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Node(tmp_path)
