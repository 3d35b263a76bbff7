"""A card read back, as its reader could: the payload from all of its pages, and nothing but what they show."""

import json
import re
from collections.abc import Sequence
from typing import Any

from bot.message import Message

ABSENT = object()
LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}(?=:(?:\s|$))")
NUMBERED = re.compile(r"[0-9]+\.(?=\s|$)")
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|s\{([0-9]+)\}|(.))", re.DOTALL)
SHORT = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "l": ""}
WORDS = {"null": None, "true": True, "false": False}
MIDDLE = ", in the middle of a line"


def covered(message: Message, entity: Any) -> str:
    """The text under an entity."""
    raw = message.text.encode("utf-16-le")
    return raw[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")


def part(pages: Sequence[Message], title: str) -> str | None:
    """A text that goes over the pages under a title; None where there is none."""
    whole: str | None = None
    for page in pages:
        heading = ""
        for entity in page.entities:
            if entity["type"] == "bold":
                heading = covered(page, entity)
            if entity["type"] == "pre" and heading.startswith(title):
                piece = covered(page, entity)
                if whole is None:
                    assert heading == title
                    whole = piece
                else:
                    assert heading.startswith(f"{title}, continued")
                    whole += piece if heading.endswith(MIDDLE) else f"\n{piece}"
    return whole


def payload(pages: Sequence[Message]) -> Any:
    """The JSON value that the pages show, ABSENT where they show none."""
    said = part(pages, "Payload")
    return ABSENT if said is None else _Reader(said).all()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def all(self) -> Any:
        """The whole text is one value."""
        label = self._label()
        self._at = 0
        value = self._value("  ") if label is None else self._children(0)
        assert self._at == len(self._text), self._text[self._at : self._at + 40]
        return value

    def _label(self) -> str | int | None:
        """The label that begins here, with what ends it; None where there is none."""
        start = self._at
        if found := NUMBERED.match(self._text, self._at):
            self._at = found.end()
            return int(found[0][:-1])
        if self._text.startswith('"', self._at):
            key = self._string("")
            if self._text.startswith(":", self._at):
                self._at += 1
                return key
        elif found := LABEL.match(self._text, self._at):
            self._at = found.end() + 1
            return found[0]
        self._at = start
        return None

    def _children(self, depth: int) -> Any:
        """What stands under a label, each child on lines of its own that begin with the indent."""
        indent, children = "  " * depth, []
        while self._text.startswith(indent, self._at) and not self._text.startswith(" ", self._at + len(indent)):
            self._at += len(indent)
            label = self._label()
            assert label is not None, self._text[self._at : self._at + 40]
            if self._text.startswith(" ", self._at):
                self._at += 1
                children.append((label, self._value("  " * (depth + 1))))
            else:
                assert self._text[self._at] == "\n"
                self._at += 1
                children.append((label, self._children(depth + 1)))
                self._at -= 1  # the line of the last child ends where its own does
            if self._at >= len(self._text):
                self._at = len(self._text) + 1
                break
            assert self._text[self._at] == "\n"
            self._at += 1
        if depth == 0:
            self._at -= 1
        return _made(children)

    def _value(self, indent: str) -> Any:
        """A value that begins on this line."""
        match self._text[self._at]:
            case '"':
                return self._string(indent)
            case "[":
                return self._inline("]", named=False)
            case "{":
                return self._inline("}", named=True)
        for word, value in WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return value
        found = NUMBER.match(self._text, self._at)
        assert found, self._text[self._at : self._at + 40]
        self._at = found.end()
        number = json.loads(found[0])
        return float(number) if abs(number) >= 2**53 else number  # as large only a fraction's type can be

    def _inline(self, end: str, *, named: bool) -> Any:
        self._at += 1
        items: list[Any] = []
        while not self._text.startswith(end, self._at):
            if items:
                assert self._text.startswith(", ", self._at)
                self._at += 2
            if named:
                label = self._label()
                assert isinstance(label, str)
                assert self._text[self._at] == " "
                self._at += 1
                items.append((label, self._value("")))
            else:
                items.append(self._value(""))
        self._at += 1
        return dict(items) if named else items

    def _string(self, indent: str) -> str:
        self._at += 1
        said: list[str] = []
        while self._text[self._at] != '"':
            if escape := ESCAPE.match(self._text, self._at):
                self._at = escape.end()
                four, eight, spaces, letter = escape.groups()
                said.append(chr(int(four or eight, 16)) if four or eight else " " * int(spaces or 0))
                said.append(SHORT[letter] if letter else "")
                if letter == "n" and self._text.startswith(f"\n{indent}", self._at):
                    self._at += 1 + len(indent)
                continue
            assert self._text[self._at] != "\n"
            said.append(self._text[self._at])
            self._at += 1
        self._at += 1
        return "".join(said)


def _made(children: Sequence[tuple[str | int, Any]]) -> Any:
    if isinstance(children[0][0], int):
        assert [label for label, _ in children] == list(range(1, len(children) + 1))
        return [value for _, value in children]
    return dict(children)
