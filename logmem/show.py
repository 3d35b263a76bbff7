"""How results look: for eyes, or as one line of JSON. What agents wrote is shown as text, never as markup."""

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from store.domain.text import one_line

LONGEST = 5000  # characters of one value
WIDTH = 80  # columns of a paragraph, at most
WIDE = 1000  # characters of a line that no terminal shows
_COMMAND = re.compile(r"(?:\./run|logmem) [a-z][^.;,()\n]*")
_HELD = "\N{NO-BREAK SPACE}"  # in a command, while a text is broken
QUIET = ("ok", "space", "caller")  # in every result, so not shown for eyes


def as_json(value: Any) -> None:
    """One line of JSON in ASCII, so that no terminal and no encoding can change what it says."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """One line to stderr, for whoever runs the command; no secret is in it, whatever was given to the command."""
    from store.telemetry import masked

    said = masked(text.rstrip())
    sys.stderr.write("\n".join(_broken(said) if sys.stderr.isatty() else [said]) + "\n")
    sys.stderr.flush()


def rows(found: Sequence[Mapping[str, Any]], columns: Sequence[str], *, none: str) -> None:
    """A table of these columns, or the sentence `none`."""
    if not found:
        line(none)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in found:
        table.add_row(*(Text(shown(row.get(column, ""))) for column in columns))
    _console().print(table)


def facts(result: Mapping[str, Any]) -> None:
    """A result as lines of `name: value`; what is nested is indented below its name."""
    for name, value in result.items():
        if name not in QUIET:
            _fact(_console(), name, value, indent="")


def line(text: str, *, style: str = "") -> None:
    """One line to stdout; it is not broken, so that an address can be copied."""
    _console().print(Text(text, style=style), soft_wrap=True)


def prose(text: str, *, indent: str = "", style: str = "", hang: int = 0) -> None:
    """A short paragraph to stdout; on a terminal it is broken between words, and no wider than is good to read.

    `hang`: by how many columns its lines after the first are moved in.
    """
    for each in _broken(text, indent, hang) if sys.stdout.isatty() else [indent + text]:
        line(each, style=style)


def inert(text: str, *, left: int = 0) -> str:
    """What somebody wrote, in quotes on one line; `left` characters of it were cut already."""
    return one_line(text, LONGEST, left=left)


def _broken(text: str, indent: str = "", hang: int = 0) -> list[str]:
    """The lines of a text. A command is not broken, so that it can be copied."""
    width = min(shutil.get_terminal_size().columns, WIDTH)
    held = _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), text)
    lines: list[str] = []
    for each in held.split("\n"):
        after = indent + " " * hang
        lines += textwrap.wrap(
            each, width, initial_indent=indent, subsequent_indent=after, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return [each.replace(_HELD, " ") for each in lines]


def marked(mark: str, text: str, *, style: str, hang: int) -> None:
    """A paragraph that begins with a mark, which alone is styled."""
    lines = _broken(mark + text, "", hang) if sys.stdout.isatty() else [mark + text]
    styled((mark, style), lines[0][len(mark) :])
    for each in lines[1:]:
        line(each)


def styled(*parts: str | tuple[str, str]) -> None:
    """One line to stdout of texts, each alone or with its style; it is not broken either."""
    _console().print(Text.assemble(*parts), soft_wrap=True)


def _fact(console: Console, name: str, value: Any, *, indent: str) -> None:
    head = (f"{indent}{shown(name)}: ", "bold")
    nested = isinstance(value, Mapping | list | tuple) and value
    console.print(Text.assemble(head, "" if nested else shown(value)), soft_wrap=True)
    if nested:
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value, 1)
        for inner, each in pairs:
            _fact(console, str(inner), each, indent=indent + "  ")


def shown(value: Any) -> str:
    """A value as one inert line: a text in quotes only where something in it had to be escaped."""
    match value:
        case str():
            quoted = one_line(value, LONGEST)
            return value if quoted == f'"{value}"' else quoted
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(shown, value))
    return str(value)


def _console() -> Console:
    # What is read by a program has no width that a table would have to be folded to.
    width = None if sys.stdout.isatty() else WIDE
    return Console(markup=False, highlight=False, emoji=False, width=width)
