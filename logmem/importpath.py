"""The guard of the import path: a project's own folders are never taken for ours, nor for a library's.

Names such as `api`, `store` or `typing` are common, and `PYTHONPATH=.` or `python -m` put the project first. This
module imports only what every start of Python has loaded already, and no pathlib: that may be the project's own until
`guard` has run.
"""

import os
import site
import sys
from types import ModuleType

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def guard() -> None:
    """Take the working directory and PYTHONPATH off the import path. Where start-up has read there, begin anew."""
    foreign = {os.path.realpath(entry) for entry in _foreign()} - _needed()
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) not in foreign]
    if ROOT not in map(os.path.realpath, sys.path):
        sys.path.append(ROOT)  # a clone that is run without being installed
    if not sys.flags.isolated and any(_found_in(module) in foreign for module in list(sys.modules.values())):
        command = [sys.executable, "-I", "-m", "logmem", *sys.argv[1:]]
        os.execve(sys.executable, command, environment())  # noqa: S606 - ourselves again, with our own arguments


def environment() -> dict[str, str]:
    """The environment for a child, without what changes how a Python starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _foreign() -> list[str]:
    try:
        here = [os.getcwd()]
    except FileNotFoundError:  # it was removed: nothing can be found there
        here = []
    named = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    return here + [os.path.abspath(entry) for entry in named.split(os.pathsep) if entry]


def _needed() -> set[str]:
    """Where the interpreter, what is installed, and we ourselves lie."""
    library = os.path.dirname(os.path.realpath(os.__file__))
    users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return {ROOT, library, *(os.path.realpath(folder) for folder in [*site.getsitepackages(), *users])}


def _found_in(module: ModuleType) -> str:
    """The entry of the import path that a module came from; '' for what is built in, or is the script itself."""
    file, name = module.__dict__.get("__file__"), module.__dict__.get("__name__", "__main__")
    if not file or name == "__main__":
        return ""
    folder: str = os.path.realpath(file)
    for _ in range(name.count(".") + 1 + os.path.basename(file).startswith("__init__.")):
        folder = os.path.dirname(folder)
    return folder
