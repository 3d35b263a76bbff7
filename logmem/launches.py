"""What each way of starting LogMem resolves to, asked of a real process of its own: which code, which state folder.

A `logmem` first on the PATH that is another one, or a program that does not inherit LOGMEM_HOME, works on another log
than whoever asks believes.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .findings import FINE, NOTE, WRONG, Finding
from .importpath import ROOT, environment

PATIENCE = 30.0  # seconds for one process
ANEW = "Install LogMem anew in this environment: ./run, or pip install -e ."
CHILDREN = ("api", "bot", "scheduler", "store")
_ORIGINS = (
    f"import importlib.util as u, json, sys; print(json.dumps([u.find_spec(name).origin for name in {CHILDREN!r}]))"
)


@dataclass(frozen=True, slots=True)
class Way:
    """One way: what it is called, its command, its environment."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]


def resolved() -> dict[str, str]:
    """What this process resolves to."""
    from importlib.metadata import version

    from .setting import settings

    found = settings()
    store = "LOGMEM_REDIS_URI" if found.redis_uri else "embedded"
    home = os.path.realpath(found.home)
    return {"version": version("logmem"), "code": ROOT, "python": sys.executable, "home": home, "store": store}


def findings() -> Iterator[Finding]:
    """How they compare with this process."""
    here, ways = resolved(), list(_ways())
    with ThreadPoolExecutor() as aside:
        modules = aside.submit(_children)
        answers = list(aside.map(_asked, ways))
    same, wrong = [], False
    for way, said in zip(ways, answers, strict=True):
        if isinstance(said, str):
            wrong = True
            yield Finding("launch", WRONG, f"{way.name} does not start: {said}.", f"Try it: {' '.join(way.command)}")
            continue
        other = [f"{name} {said.get(name)}" for name in ("version", "code") if said.get(name) != here[name]]
        if other:
            wrong = True
            do = (
                ANEW
                if way.command[0] == sys.executable
                else "Put the right one first on the PATH, or remove the other."
            )
            yield Finding("launch", WRONG, f"{way.name} is another LogMem: {', '.join(other)}; here it is {ROOT}.", do)
        elif (said["home"], said["store"]) != (here["home"], here["store"]):
            store = said["home"] if said["store"] == "embedded" else said["store"]
            do = "Give such programs the same LOGMEM_HOME or LOGMEM_REDIS_URI. Agents need none: a key names a server."
            says = f"{way.name[:1].upper()}{way.name[1:]} works on {store}, and not on the store of this shell."
            yield Finding("launch", NOTE, says, do)
        else:
            same.append(way.name)
    if trouble := modules.result():
        yield Finding("launch", WRONG, trouble, ANEW)
    elif not wrong:
        yield Finding(
            "launch", FINE, f"The same code in {ROOT} by every way here: {', '.join([*same, 'the processes of up'])}."
        )


def _ways() -> Iterator[Way]:
    """The ways that there are here."""
    version = ("version", "--json")
    found = shutil.which("logmem")
    if found:
        yield Way("logmem on the PATH", (found, *version), dict(os.environ))
    yield Way("python -m logmem", (sys.executable, "-I", "-m", "logmem", *version), environment())
    bare = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "LANG", "USER")}
    command = found or sys.executable
    own = (command, *version) if found else (command, "-I", "-m", "logmem", *version)
    yield Way("a program with an environment of its own", own, bare)


def _asked(way: Way) -> Mapping[str, Any] | str:
    """What it says, run in a folder of no project; or why it says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        said = _run(way.command, way.env, folder)
    if isinstance(said, str):
        return said
    return said if isinstance(said, dict) and "code" in said else "it is an older version, or no LogMem"


def _children() -> str:
    """What is wrong with the modules that `up` starts; '' for nothing."""
    found = _run((sys.executable, "-I", "-c", _ORIGINS), environment(), ROOT)
    if not isinstance(found, list):
        return f"The processes of up cannot be found: {found}."
    strange = [
        name for name, origin in zip(CHILDREN, found, strict=True) if Path(origin).resolve().parent != Path(ROOT) / name
    ]
    return f"{', '.join(strange)} would be started from elsewhere than {ROOT}." if strange else ""


def _run(command: Sequence[str], env: Mapping[str, str], folder: str) -> Any:
    """The JSON that a process prints, or a sentence about why it does not."""
    try:
        done = subprocess.run(
            command, env=dict(env), cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as why:
        return f"{type(why).__name__}"
    try:
        return json.loads(done.stdout)
    except ValueError:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return lines[-1].rstrip(".")[:120] if lines else f"exit code {done.returncode}"
