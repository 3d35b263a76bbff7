"""A project with folders and modules of our names, or of a library's, changes nothing about what the command runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .running import LOGMEM, PATIENCE, Command, environment, up

TRAP = "raise SystemExit('the project was imported instead')\n"
PACKAGES = ("api", "store", "logmem", "typer", "redis", "pydantic")
MODULES = ("typing", "dataclasses", "socket", "json", "asyncio", "pathlib", "uvicorn")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's project; all that it holds ends the process that imports it."""
    folder = tmp_path / "project"
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
        for module in ("__init__", "__main__"):
            (folder / name / f"{module}.py").write_text(TRAP)
    for name in MODULES:
        (folder / f"{name}.py").write_text(TRAP)
    return folder


@pytest.fixture
def inside(command: Command, project: Path) -> Command:
    """The command, run in the project, which PYTHONPATH names in three ways."""
    # A package `logmem` of the project would be found before ours by the script itself.
    for part in (project / "logmem").iterdir():
        part.unlink()
    return Command(command.home, {"PYTHONPATH": f".:{project}:{project}/."}, project)


def test_the_project_is_not_imported(inside: Command) -> None:
    """`version` and the commands that open the store work where PYTHONPATH puts the project first."""
    assert inside.json("version")["version"]
    assert inside.json("space", "lab")["made"] == "lab"
    assert inside.json("mint", "grok")["name"] == "grok"


def test_up_and_call_there(inside: Command) -> None:
    """`up` and its children run there too, and a script calls it from there."""
    with up(inside) as server:
        token = inside.json("mint", "grok")["token"]
        called = inside.json("call", "connection", LOGMEM_REST_TOKEN=token, LOGMEM_REST_URL=server.url)
        assert called["space"] == "fleet"


def test_a_project_that_start_up_reads(inside: Command, project: Path) -> None:
    """Where Python's own start has imported from the project, the command begins anew without it."""
    (project / "sitecustomize.py").write_text("import typing\n")
    (project / "typing.py").write_text("")  # nothing of ours would work with this one
    assert inside.json("version")["version"]
    assert inside.json("space", "lab")["made"] == "lab"


def test_run_as_a_module(command: Command, project: Path) -> None:
    """`python -m logmem` leaves the working directory out too."""
    for part in (project / "logmem").iterdir():
        part.unlink()
    (project / "logmem").rmdir()
    done = subprocess.run(
        [sys.executable, "-m", "logmem", "space", "lab", "--json"],
        cwd=project,
        env=environment(command.home),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["made"] == "lab"


def test_a_removed_working_directory(command: Command, tmp_path: Path) -> None:
    """The command works in a folder that no longer exists."""
    (tmp_path / "gone").mkdir()
    script = f'cd "{tmp_path}/gone" && rmdir "{tmp_path}/gone" && exec "{LOGMEM}" space lab --json'
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        env=environment(command.home),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["made"] == "lab"


def test_a_clone_without_installation(tmp_path: Path) -> None:
    """Where only PYTHONPATH leads to us, we stay importable."""
    root = Path(__file__).parents[2]
    code = "import sys; from logmem.importpath import guard; guard(); import logmem.app; print(sys.path)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path / "home") | {"PYTHONPATH": f"{root}:{tmp_path}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in done.stdout
    assert str(root) in done.stdout
