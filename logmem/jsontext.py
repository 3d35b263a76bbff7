"""JSON in somebody else's file: one member is put in, replaced or taken out, and every other byte stays.

Comments and commas before a closing bracket are let through where a program allows them. An edit is checked by reading
what came of it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_TEXT = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_TEXT}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LOOSE_COMMA = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")


class Member(NamedTuple):
    """A member of an object: its name, and where that and the value stand."""

    name: str
    at: int
    start: int
    end: int


class Odd(ValueError):
    """The text cannot be edited: it is no JSON, or something else stands where an object should."""


class Uneditable(Odd):
    """The text is right, in a form that is not edited here."""


def parse(text: str, *, comments: bool) -> dict[str, Any]:
    """The object that the text says; an empty text says an empty one. Odd: it says none."""
    plain = _bare(text) if comments else text
    if not plain.strip():
        return {}
    try:
        said = json.loads(plain)
    except (ValueError, RecursionError) as wrong:
        raise Odd(f"it is not JSON: {wrong}") from None
    if not isinstance(said, dict):
        raise Odd("it is JSON, but no object")
    return said


def put(text: str, path: Sequence[str], value: object, *, comments: bool) -> str:
    """The text with a value at this path. Odd: there is no place for it."""
    said = parse(text, comments=comments)
    new = _Edit(text if (_bare(text) if comments else text).strip() else "{}\n", comments).put(path, value)
    return _checked(new, _with(said, path, value), comments=comments)


def drop(text: str, path: Sequence[str], *, comments: bool) -> str:
    """The text without the member at this path; as it is, if there is none. Odd: it is no JSON."""
    said = parse(text, comments=comments)
    holder: Any = said
    for name in path[:-1]:
        holder = holder.get(name) if isinstance(holder, dict) else None
    if not isinstance(holder, dict) or path[-1] not in holder:
        return text
    del holder[path[-1]]
    return _checked(_Edit(text, comments).drop(path), said, comments=comments)


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object that begins at `at`, in text that is JSON."""
    scan = json.JSONDecoder().raw_decode
    at = after_space(text, at + 1)
    while text[at] != "}":
        name, colon = scan(text, at)
        start = after_space(text, after_space(text, colon) + 1)
        _, end = scan(text, start)
        yield Member(name, at, start, end)
        at = after_space(text, end)
        if text[at] == ",":
            at = after_space(text, at + 1)


def after_space(text: str, at: int) -> int:
    """Where the blanks that begin at `at` have ended."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _Edit:
    """One edit. `_plain` has blanks for comments, `_bare` for loose commas too: the places are those of the text."""

    def __init__(self, text: str, comments: bool) -> None:
        self._text = text
        self._plain = _without_comments(text) if comments else text
        self._bare = _bare(text) if comments else text
        self._end = "\r\n" if "\r\n" in text else "\n"
        indent = _INDENT.search(text)
        self._unit = indent.group(1) if indent else "  "

    def put(self, path: Sequence[str], value: object) -> str:
        at, end = after_space(self._bare, 0), 0
        for depth, name in enumerate(path):
            if self._bare[at] != "{":
                raise Odd(f"{json.dumps(path[depth - 1])} is no object")
            found = [each for each in members(self._bare, at) if each.name == name]
            if not found:
                for inner in reversed(path[depth + 1 :]):
                    value = {inner: value}
                return self._add(at, name, value)
            at, end = found[-1].start, found[-1].end  # of two with one name the last counts
        return self._text[:at] + self._written(value, self._margin(at)) + self._text[end:]

    def drop(self, path: Sequence[str]) -> str:
        at = after_space(self._bare, 0)
        inside: list[Member] = []
        holder = at
        for name in path:
            holder, inside = at, list(members(self._bare, at))
            at = next(each.start for each in reversed(inside) if each.name == name)
        n = next(n for n, each in enumerate(inside) if each.start == at)
        start, end = inside[n].at, inside[n].end
        comma = after_space(self._plain, end)
        if self._plain[comma] == ",":
            return self._cut(start, comma + 1)
        if n == 0 and not (self._text[holder + 1 : start] + self._text[end:comma]).strip():
            return self._text[: holder + 1] + self._text[comma:]
        if n == 0:
            return self._cut(start, end)
        before = after_space(self._plain, inside[n - 1].end)  # the comma that would be loose
        return self._text[:before] + self._cut(start, end)[before + 1 :]

    def _add(self, at: int, name: str, value: object) -> str:
        """A new member, the last of the object at `at`."""
        inside = list(members(self._bare, at))
        one_line = "\n" not in self._text.strip()
        outer = self._margin(at)
        margin = self._margin(inside[0].at) if inside else outer + self._unit
        brk = f"{self._end}{margin}"
        if not inside:
            new = f"{brk}{json.dumps(name)}: {self._written(value, margin)}"
            closing = "" if "\n" in self._text[at : self._closing(at)] else f"{self._end}{outer}"
            return f"{self._text[: at + 1]}{new}{closing}{self._text[at + 1 :]}"
        last = inside[-1]
        comma = after_space(self._plain, last.end)
        loose = self._plain[comma] == ","
        if one_line or "\n" not in self._text[at : inside[0].at]:
            new = f"{'' if loose else ','} {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            stop = comma + 1 if loose else last.end
            return f"{self._text[:stop]}{new}{self._text[stop:]}"
        stop = self._line_end(comma + 1 if loose else last.end)
        new = f"{brk}{json.dumps(name)}: {self._written(value, margin)}"
        head = self._text[: last.end] + ("" if loose else ",") + self._text[last.end : stop]
        return f"{head}{new}{self._text[stop:]}"

    def _closing(self, at: int) -> int:
        return after_space(self._bare, at + 1)

    def _margin(self, at: int) -> str:
        """The blanks that the line of this place begins with."""
        start = self._text.rfind("\n", 0, at) + 1
        return self._text[start : _margin_end(self._text, start)]

    def _cut(self, start: int, end: int) -> str:
        """The text without what stands from `start` to `end`, and without its lines if nothing else is on them."""
        begin = self._text.rfind("\n", 0, start) + 1
        stop = self._text.find("\n", end) + 1
        if stop and not self._text[begin:start].strip() and not self._text[end:stop].strip():
            start, end = begin, stop
        return self._text[:start] + self._text[end:]

    def _line_end(self, at: int) -> int:
        """The end of this line, if nothing but a comment stands on it any more."""
        stop = self._plain.find("\n", at)
        if stop < 0 or self._plain[at:stop].strip():
            return at
        return stop - 1 if self._text[stop - 1] == "\r" else stop

    def _written(self, value: object, margin: str) -> str:
        text = json.dumps(value, indent=self._unit, ensure_ascii=False)
        return text.replace("\n", f"{self._end}{margin}")


def _margin_end(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else _blanks(found[0]), text)


def _bare(text: str) -> str:
    return _LOOSE_COMMA.sub(lambda found: found[0] if found[0].startswith('"') else " ", _without_comments(text))


def _blanks(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _with(said: dict[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    name, *rest = path
    inner = said.get(name, {})
    return {**said, name: _with(inner if isinstance(inner, dict) else {}, rest, value) if rest else value}


def _checked(text: str, wanted: object, *, comments: bool) -> str:
    try:
        if parse(text, comments=comments) == wanted:
            return text
    except Odd:  # of what we made of it: theirs was read
        pass
    raise Uneditable("it is JSON in a form that is not edited here")
