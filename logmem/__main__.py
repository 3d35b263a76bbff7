"""The command `logmem`. Before anything else it sees to it that a project's own folders are not taken for ours."""

import os
import site
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120 - pathlib may be the project's own


def main() -> None:
    """Run the command that the arguments name; the exit code says how it went."""
    guard()
    from .app import run

    sys.exit(run())


def guard() -> None:
    """Take the working directory and PYTHONPATH off the import path, and off what our children inherit.

    Our names (api, store, …) and those of libraries are common ones: a project may have such folders of its own.
    """
    foreign = {os.path.realpath(entry) for entry in _foreign()} - _needed()
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) not in foreign]
    if ROOT not in map(os.path.realpath, sys.path):
        sys.path.append(ROOT)  # a clone that is run without being installed
    loaded = [module for module in list(sys.modules.values()) if _folder(module) in foreign]
    if loaded and not sys.flags.isolated:  # start-up itself has read something there: begin anew without
        os.execve(sys.executable, [sys.executable, "-I", "-m", "logmem", *sys.argv[1:]], isolated_environment())


def isolated_environment() -> dict[str, str]:
    """The environment without what would change how a Python starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _foreign() -> list[str]:
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep) if not sys.flags.ignore_environment else []
    return [os.getcwd(), *(os.path.abspath(entry) for entry in named if entry)]


def _needed() -> set[str]:
    """Where the interpreter and what is installed lie, and we ourselves."""
    library = os.path.dirname(os.path.realpath(os.__file__))
    users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return {library, ROOT, *(os.path.realpath(folder) for folder in [*site.getsitepackages(), *users])}


def _folder(module: object) -> str:
    """The folder of the import path in which a module was found; nothing for one that is built in, or runs."""
    file = getattr(module, "__file__", None)
    if not file or getattr(module, "__name__", "") == "__main__":
        return ""
    name = str(getattr(module, "__name__", ""))
    folder = os.path.realpath(file)
    for _ in range(name.count(".") + 1 + os.path.basename(file).startswith("__init__.")):
        folder = os.path.dirname(folder)
    return folder


if __name__ == "__main__":
    main()
