"""The protocol's own conformance suite, over our transport with the suite's fixtures behind it."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.conformance.node import HERE, Node

pytestmark = pytest.mark.long
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
PATIENCE = 20.0  # seconds for the fixture to end
REACHED = {"2026-07-28": (152, 0), "2025-11-25": (63, 4)}  # checks passed at least, and failed at most


@pytest.fixture
def fixture() -> Iterator[str]:
    """The address of the suite's server, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.conformance.fixture", str(listening.fileno())],
            stdin=subprocess.PIPE, pass_fds=[listening.fileno()], cwd=HERE.parents[1],
        )  # fmt: skip
    try:
        yield url
    finally:
        assert process.stdin
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("revision", REACHED)
async def test_the_transport_conforms(node: Node, fixture: str, revision: str) -> None:
    """Every scenario passes but those that are expected to fail by name; one of these that passes is told."""
    expected = ["--expected-failures", str(HERE / "expected.yml")] if REACHED[revision][1] else []
    done = await node.run(
        SUITE, "server", "--url", fixture, "--suite", "all", "--spec-version", revision, "-o", "out", *expected
    )
    summary = done.out[done.out.find("=== SUMMARY ===") :]
    assert done.code == 0, summary + done.err
    passed, failed = map(int, re.findall(r"Total: (\d+) passed, (\d+) failed", summary)[0])
    assert passed >= REACHED[revision][0], summary
    assert failed <= REACHED[revision][1], summary
