"""TOML in a file that belongs to somebody else: one table is put in, replaced or taken out, and every other line stays.

An edit is checked by reading what came of it.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from .jsontext import Odd, Uneditable

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONG = r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}'
_TEXTS = re.compile(rf'({_LONG})|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)


def parse(text: str) -> dict[str, Any]:
    """The document. Odd: it is none."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise Odd(f"it is not TOML: {wrong}") from None


def put(text: str, path: tuple[str, str], table: Mapping[str, Any]) -> str:
    """The text with this table at `[path]`. Odd: it stands there in a form that is not edited here."""
    outer, name = path
    said = parse(text)
    held = said.get(outer, {})
    if not isinstance(held, dict):
        raise Odd(f"{outer} is no table")
    lines, at = _without(text, path)
    block = [each + "\n" for each in rendered(path, table).splitlines()]
    if at is None:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        lines += ["\n", *block] if lines else block
    else:
        lines[at:at] = block
    return _checked("".join(lines), path, {**said, outer: {**held, name: dict(table)}})


def drop(text: str, path: tuple[str, str]) -> str:
    """The text without this table; as it is, if there is none. Odd: it cannot be read, or not be edited here."""
    outer, name = path
    said = parse(text)
    held = said.get(outer)
    if not isinstance(held, dict) or name not in held:
        return text
    lines, at = _without(text, path)
    if at and not lines[at - 1].strip() and not "".join(lines[at : at + 1]).strip():
        del lines[at - 1]  # of two blank lines that would meet, or one that would end the file
    rest = {each: value for each, value in held.items() if each != name}
    left = {**said, outer: rest} if rest else {each: value for each, value in said.items() if each != outer}
    # Where it was the last one, a line [outer] may stand there still.
    return _checked("".join(lines), path, left, *([] if rest else [{**said, outer: {}}]))


def rendered(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """The table as lines. Odd: a value that has no form here."""
    head = ".".join(_key(each) for each in path)
    return "\n".join((f"[{head}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())))


def _without(text: str, path: tuple[str, str]) -> tuple[list[str], int | None]:
    """The lines without this table and those in it, and where it stood."""
    name = r"\s*\.\s*".join(rf"(?:{re.escape(each)}|\"{re.escape(each)}\"|'{re.escape(each)}')" for each in path)
    ours = re.compile(rf"\s*\[\s*{name}\s*[.\]]")
    kept: list[str] = []
    cut: list[str] = []
    at: int | None = None
    inside = False
    # Of a text over several lines no line begins a table, whatever stands there.
    plain = _TEXTS.sub(lambda found: re.sub(r"[^\n]", "x", found[0]) if found[1] else found[0], text)
    for line, bare in zip(_lines(text), _lines(plain), strict=True):
        if re.match(r"\s*\[", bare):
            if inside:
                kept += _left_behind(cut)
            inside, cut = bool(ours.match(bare)), []
            if inside and at is None:
                at = len(kept)
        (cut if inside else kept).append(line)
    return kept + (_left_behind(cut) if inside else []), at


def _lines(text: str) -> list[str]:
    """The lines with their ends, as TOML counts them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _left_behind(table: list[str]) -> list[str]:
    """The blank lines and comments at the end of a table: they belong to what follows."""
    n = len(table)
    while n and (not table[n - 1].strip() or table[n - 1].lstrip().startswith("#")):
        n -= 1
    return table[n:]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_key(name)} = {_value(each)}' for name, each in value.items())} }}"
    raise Odd(f"a {type(value).__name__} stands in it")


def _checked(text: str, path: tuple[str, str], *wanted: object) -> str:
    try:
        if parse(text) in wanted:
            return text
    except Odd:  # of what we made of it: theirs was read
        pass
    outer, name = path
    raise Uneditable(
        f"it is TOML, but {outer} is written there in a form that is not edited here, with dotted keys or an inline "
        f"table; tables are, each with a line [{outer}.{name}]"
    )
