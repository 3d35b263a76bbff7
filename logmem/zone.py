"""The time zone of this machine, as its name in the IANA database."""

import os
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from .fault import USAGE, Fault

FOLDER = "zoneinfo/"  # of the database, wherever a machine has it
LAYOUTS = ("posix/", "right/")  # the same zones once more
NO_NAMES = ("localtime", "posixrules", "Factory")  # files beside the zones, which mean another one on each machine


def of_machine(environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")) -> str:
    """The zone that TZ names, or /etc/timezone, or that /etc/localtime leads to; '' where none does."""
    found = (environ.get("TZ", "").removeprefix(":"), _first_line(etc / "timezone"), *_leads_to(etc / "localtime"))
    return next((name for name in map(_name, found) if is_zone(name)), "")


def checked(name: str) -> str:
    """A zone that was given. Fault: there is none of that name."""
    if not is_zone(name):
        from store.domain.text import quoted

        raise Fault(
            f"--zone is an IANA time zone such as Europe/Berlin; {quoted(name)} is none. Nothing was started.",
            code=USAGE,
        )
    return name


def is_zone(name: str) -> bool:
    """Whether the database has a zone of that name."""
    if not name or name in NO_NAMES:
        return False
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True


def _name(text: str) -> str:
    """The name alone, of a name or a path into the database."""
    name = text.rpartition(FOLDER)[2]
    for each in LAYOUTS:
        name = name.removeprefix(each)
    return name


def _first_line(file: Path) -> str:
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return lines[0].strip() if lines else ""


def _leads_to(link: Path) -> tuple[str, ...]:
    """Where a link leads by its own words, and in the end, which may be the zone by another name."""
    try:
        return str(link.readlink()), str(link.resolve())
    except OSError:
        return ()
