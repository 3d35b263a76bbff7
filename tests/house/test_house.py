"""House rules that no linter holds: they are about files, the lock and what importing does."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("store", "api", "bot", "scheduler", "logmem")
TEXT = {".acl", ".css", ".html", ".js", ".lua", ".md", ".py", ".toml", ".txt", ".yml"}
LINES = 400
IMPURE = {"asyncio", "random", "secrets", "socket", "subprocess", "threading", "time"}
CLOCK = {("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"), ("date", "today")}


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def files(*suffixes: str) -> Iterator[Path]:
    """Our own files with one of the suffixes, wherever they lie."""
    for folder, names, found in os.walk(ROOT):
        names[:] = [n for n in names if n == ".ci" or not n.startswith((".", "__pycache__", "node_modules"))]
        yield from (Path(folder, name) for name in found if Path(name).suffix in suffixes)


def shown(path: Path) -> str:
    """A path as it stands in the repository."""
    return path.relative_to(ROOT).as_posix()


def lines(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Each line of our files, with where it stands."""
    for path in files(*suffixes):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            yield f"{shown(path)}:{number}", line


def locked() -> dict[str, tuple[str, int]]:
    """The version and the number of hashes of each requirement in the lock."""
    blocks = (ROOT / "requirements.lock").read_text().replace("\\\n", " ").splitlines()
    found = {}
    for block in blocks:
        if not block or block.lstrip().startswith("#"):
            continue
        pin = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*])?==([^\s;]+)", block)
        assert pin, f"not a pinned requirement: {block}"
        found[str(canonicalize_name(pin[1]))] = (pin[2], block.count("--hash=sha256:"))
    return found


def test_modules_are_short() -> None:
    """No module has 400 lines or more, tests and scripts in Lua included."""
    long = {shown(p): n for p in files(".py", ".lua") if (n := len(p.read_text().splitlines())) >= LINES}
    assert not long


def test_nothing_is_left_to_do() -> None:
    """No file says that something is still to be done: an issue says that."""
    words = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X)\b")  # written so that it does not find itself
    assert not [where for where, line in lines(*TEXT) if words.search(line)]


def test_no_wait_swallows_that_it_is_cancelled() -> None:
    """`asyncio.timeout` bounds a wait: in Python 3.11 `wait_for` forgets a cancellation that comes with its result."""
    waits = re.compile(r"\bwait_for\(")
    assert not [where for where, line in lines(".py") if where.split("/")[0] in PRODUCT and waits.search(line)]


def test_each_silenced_check_has_a_reason() -> None:
    """A `type: ignore` or `noqa` names its codes and gives its reason on the same line."""
    silenced = re.compile(r"#\s*(?:type:\s*ignore|noqa)(?P<codes>\[[^]]+]|:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?")
    bad = []
    for where, line in lines(".py"):
        if where.startswith(shown(Path(__file__))):
            continue  # it holds the pattern itself
        found = silenced.search(line)
        if found and not (found["codes"] and re.search(r"\w+ \w+", line[found.end() :])):
            bad.append(where)
    assert not bad


def test_lock_names_no_host_and_no_path() -> None:
    """The lock gives names, versions and hashes: neither an index nor a host nor a place on a disk."""
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    assert not re.search(r"(^|\s)(-i|--(extra-)?index-url|--find-links|-f|-e|/\S+|file:)(\s|$)", text, re.M)


def test_lock_pins_each_requirement_with_hashes() -> None:
    """Everything that pyproject.toml asks for, also to build and to test, stands in the lock with hashes."""
    asked = project()
    wanted = asked["project"]["dependencies"] + asked["build-system"]["requires"]
    wanted += [r for extra in asked["project"]["optional-dependencies"].values() for r in extra]
    pins = locked()
    assert all(hashes for _, hashes in pins.values())
    for requirement in map(Requirement, wanted):
        version, _ = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} is {version} in the lock"


def test_version_is_one() -> None:
    """The installed distribution has the version that pyproject.toml gives."""
    assert importlib.metadata.version("logmem") == project()["project"]["version"]


def test_changelog_has_unreleased() -> None:
    """What is not yet released has its place in the changelog."""
    assert re.search(r"^## \[?Unreleased]?$", (ROOT / "CHANGELOG.md").read_text(), re.M)


@pytest.mark.parametrize("script", sorted(files(".lua")), ids=shown)
def test_script_states_its_contract(script: Path) -> None:
    """A script in Lua opens with its purpose, then KEYS, ARGV and what it returns."""
    header = []
    for line in script.read_text().removeprefix("#!lua\n").splitlines():
        if not line.startswith("--"):
            break
        header.append(line.lstrip("- ").strip())
    purpose, *contract = header or [""]
    assert purpose
    assert not re.match("keys|argv|returns", purpose, re.I)
    for part in ("KEYS", "ARGV", "returns"):
        assert any(line.lower().startswith(part.lower()) for line in contract), f"no line starts with {part}"


@pytest.mark.parametrize("module", sorted((ROOT / "store" / "domain").rglob("*.py")), ids=shown)
def test_domain_is_pure(module: Path) -> None:
    """The domain imports the standard library and itself alone, never waits, and has no clock and no dice."""
    allowed = (sys.stdlib_module_names - IMPURE) | {"store.domain"}
    bad = []
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Import(names=names):
                bad += [a.name for a in names if a.name.partition(".")[0] not in allowed]
            case ast.ImportFrom(module=name, level=0) if name and not name.startswith("store.domain"):
                bad += [name] if name.partition(".")[0] not in allowed else []
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                bad.append(f"await in line {node.lineno}")
            case ast.Attribute(attr=attribute, value=ast.Name(id=owner)):
                bad += [f"{owner}.{attribute}"] if (owner, attribute) in CLOCK else []
            case _:
                pass
    assert not bad


WATCH = """
import importlib, pkgutil, sys
sys.dont_write_bytecode = True
FORBIDDEN = {
    "os.fork", "os.mkdir", "os.posix_spawn", "os.remove", "os.rename", "os.system",
    "socket.bind", "socket.connect", "subprocess.Popen",
}
seen = []
def watch(event, args):
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if event in FORBIDDEN or writes:
        seen.append((event, str(args)[:200]))
sys.addaudithook(watch)
for package in sys.argv[1:]:
    importlib.import_module(package)
    for module in pkgutil.walk_packages([package], package + "."):
        importlib.import_module(module.name)
        if seen:
            sys.exit(f"importing {module.name} did {seen}")
"""


def test_nothing_happens_at_import() -> None:
    """Importing every module of the product writes no file, opens no connection and starts no process."""
    packages = [package for package in PRODUCT if (ROOT / package).is_dir()]
    command = [sys.executable, "-c", WATCH, *packages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
