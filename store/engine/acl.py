"""The store's users, made from the template users.acl: for the embedded engine and for any other server.

render({"lm-api": "secret", ...}) -> str     the text of an ACL file
users() -> ("lm-api", ...)                   the users that need a password
scripts("lm-bot") -> ("lease", ...)          the scripts that a user may run, where those are named one by one
"""

import hashlib
import re
from collections.abc import Mapping
from importlib import resources

from .script import sha_of, text_of

_PLACEHOLDER = re.compile(r"#\{([a-z-]+)\}")
_SCRIPT = re.compile(r"\{([a-z]+)\.lua\}")


def render(passwords: Mapping[str, str]) -> str:
    """The ACL file for these passwords. KeyError: a user of the template has none."""

    def digest(found: re.Match[str]) -> str:
        return "#" + hashlib.sha256(passwords[found[1]].encode()).hexdigest()

    def sha(found: re.Match[str]) -> str:
        return sha_of(text_of(found[1]))

    return "".join(_SCRIPT.sub(sha, _PLACEHOLDER.sub(digest, line)) + "\n" for line in _lines())


def users() -> tuple[str, ...]:
    """The users that the template asks a password for, in its order."""
    return tuple(_PLACEHOLDER.findall("\n".join(_lines())))


def scripts(user: str) -> tuple[str, ...]:
    """The scripts that a user may run; none for who may run no script, or any."""
    (line,) = [line for line in _lines() if line.split()[1] == user]
    return tuple(dict.fromkeys(_SCRIPT.findall(line)))


def _lines() -> list[str]:
    """One line a user: comments dropped, indented lines joined to the one above by single spaces."""
    lines: list[str] = []
    for line in resources.files(__package__).joinpath("users.acl").read_text(encoding="utf-8").splitlines():
        words = " ".join(line.split())
        if not words or line.startswith("#"):
            continue
        if line[0].isspace():
            lines[-1] += " " + words
        else:
            lines.append(words)
    return lines
