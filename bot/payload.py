r"""A payload as a person reads it: a JSON value laid out in lines, so that two different ones never look the same.

    action: "deploy"
    steps:
      1. "build"
      2. {wait: 30, then: ["test", "ship"]}
    note: "a text of two lines\n
      and this is the second"

Keys stand in the order of RFC 8785, bare where they are plain words; numbers in its form; texts in quotes, as
`bot.text.exact` writes them. What is short, or lies deep, stands on one line in braces. Takes time linear in the size.
"""

import re
from collections.abc import Iterator
from typing import Any

import rfc8785

from .text import exact, lines

__all__ = ["layout"]

SHORT = 32  # characters of a list or an object that stands on the line of its key
DEEP = 6  # levels that are indented: a phone is narrow
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
WORDS = {None: "null", True: "true", False: "false"}
INDENT = "  "


def layout(value: Any) -> str:
    """All lines of it."""
    return "\n".join(_children(value, 0) if _long(value) else [_scalar(value, INDENT)])


def _long(value: Any) -> bool:
    return isinstance(value, dict | list) and _inline(value, SHORT) is None


def _children(value: Any, depth: int) -> Iterator[str]:
    """The lines of what an object or a list holds."""
    for label, inner in _labelled(value):
        head = f"{INDENT * depth}{label}"
        if not _long(inner):
            yield f"{head} {_scalar(inner, INDENT * (depth + 1))}"
        elif depth + 1 < DEEP:
            yield head
            yield from _children(inner, depth + 1)
        else:
            yield f"{head} {_inline(inner)}"


def _labelled(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        return ((f"{n}.", inner) for n, inner in enumerate(value, 1))
    return ((f"{_key(key)}:", value[key]) for key in _sorted(value))


def _sorted(value: dict[str, Any]) -> list[str]:
    return sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def _key(key: str) -> str:
    return key if PLAIN.fullmatch(key) else exact(key)


def _scalar(value: Any, indent: str) -> str:
    """A text, a number, a word, or what is short enough to stand on one line."""
    if isinstance(value, str):
        return lines(value, indent)
    return _inline(value) or ""


def _inline(value: Any, room: int | None = None) -> str | None:
    """On one line; None where that takes more characters than there is room for, which is found out early."""
    parts: list[str] = []
    left = float("inf") if room is None else room
    stack: list[tuple[str, Any]] = [("", value)]  # what comes before a value, and the value; or a text alone
    while stack:
        before, inner = stack.pop()
        parts.append(before)
        left -= len(before)
        if inner is not _NOTHING:
            if isinstance(inner, str | dict | list) and len(inner) > left:
                return None
            word, more = _opened(inner)
            parts.append(word)
            left -= len(word)
            stack += reversed(more)
        if left < 0:
            return None
    return "".join(parts)


_NOTHING = object()


def _opened(value: Any) -> tuple[str, list[tuple[str, Any]]]:
    """How a value begins, and what is still to be written of it."""
    if isinstance(value, str):
        return exact(value), []
    if value is None or isinstance(value, bool):
        return WORDS[value], []
    if isinstance(value, int):
        return str(value), []
    if isinstance(value, float):
        return rfc8785.dumps(value).decode(), []
    if isinstance(value, list):
        return "[", [*((", " if n else "", inner) for n, inner in enumerate(value)), ("]", _NOTHING)]
    named = ((f"{', ' if n else ''}{_key(key)}: ", value[key]) for n, key in enumerate(_sorted(value)))
    return "{", [*named, ("}", _NOTHING)]
