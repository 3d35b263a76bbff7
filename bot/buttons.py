"""The buttons under a card, by how it stands. What one carries is `v1:<verb>:<token>`; the token belongs to its copy.

Verbs: approve, reject (offers reasons), decline (the same, for an item), accept, take_back; ask, answer and reason ask
for a text; why0 to why3 are reasons; opt<n> an answer of those that were given; page<n> turns to a page; back puts the
card's own buttons back. On the message of a day: good<n> and attention<n> check in for its n-th window, show, stop.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .message import Spelled
from .text import cut, exact, told_apart, units

__all__ = ["NONE", "REASONS", "WRITE", "Rows", "data", "keyboard", "labels", "link", "no", "read", "reasons"]

Rows = tuple[tuple[Spelled, ...], ...]

LABEL = 40  # UTF-16 units of an option on its button
BESIDE = 16  # of a label that shares its row
NUMBERED = re.compile(r"(why|opt|page|good|attention)([0-9]{1,5})")
READ = re.compile(r"v1:([a-z_]+[0-9]{0,5}):([A-Za-z0-9_-]{12})")
SUCCESS, DANGER = "success", "danger"

#: The reasons that are one press, by what is refused with them.
REASONS: Mapping[str, tuple[str, str]] = {"reject": ("Not now", "Wrong target"), "decline": ("Not now", "Not mine")}
WRITE, NONE = 2, 3  # why2 asks for a reason, why3 gives none


def data(verb: str, token: str) -> str:
    """What a button carries; under 64 bytes."""
    return f"v1:{verb}:{token}"


def read(said: str) -> tuple[str, int, str]:
    """Verb, its number (-1 for none) and token of what a button carried. Raises ValueError for what is not ours."""
    found = READ.fullmatch(said)
    if found is None:
        raise ValueError("no button of ours carries this")
    numbered = NUMBERED.fullmatch(found[1])
    return (numbered[1], int(numbered[2]), found[2]) if numbered else (found[1], -1, found[2])


def no(ref: str) -> str:
    """How one says no to what a card of this ref shows."""
    return "decline" if ref.startswith("item:") else "reject"


def keyboard(view: Mapping[str, Any], can: Sequence[str], *, token: str, page: int, pages: int, whole: bool) -> Rows:
    """The rows for somebody who `can` do this; what says yes is there only when the whole card was shown.

    `pages` are those that they may turn to.
    """

    def button(label: str, verb: str, style: str = "") -> Spelled:
        return _button(label, data(verb, token), style)

    rows: list[Sequence[Spelled]] = []
    if pages > 1:
        rows.append(_turns(token, page, pages))
    yes = {"approve": ("Approve", SUCCESS), "accept": ("Accept", SUCCESS)} if whole else {}
    no = {"reject": ("Reject", DANGER), "decline": ("Decline", DANGER)}
    rows.append([button(label, verb, style) for verb, (label, style) in {**yes, **no}.items() if verb in can])
    if whole and "answer" in can:
        options = labels(view.get("options") or ())
        answers = [button(label, f"opt{n}") for n, label in enumerate(options)] or [button("Answer", "answer")]
        rows[-1:-1] = _beside(answers)
    more = {"ask_back": ("Ask back", "ask"), "take_back": ("Take back", "take_back")}
    rows.append([button(label, verb) for name, (label, verb) in more.items() if name in can])
    return tuple(tuple(row) for row in rows if row)


def link(label: str, url: str) -> Rows:
    """A row that opens a page; none where Telegram takes no such address."""
    return (({"text": label, "url": url},),) if url.startswith("https://") else ()


def reasons(verb: str, token: str) -> Rows:
    """What is offered when somebody says no: the reasons of one press, one to write, none, and the way back."""
    chips = tuple(_button(label, data(f"why{n}", token)) for n, label in enumerate(REASONS[verb]))
    write = _button("Write…", data(f"why{WRITE}", token))
    none = (_button("No reason", data(f"why{NONE}", token)),) if verb == "reject" else ()
    return (chips, (write, *none), (_button("Back", data("back", token)),))


def labels(options: Sequence[str]) -> list[str]:
    """What stands on the buttons of these options: each whole where all are short and plain, else by number."""
    if all(exact(option) == f'"{option.strip()}"' and units(option) <= LABEL for option in options):
        return list(options)
    return [f"{n}. {_short(told_apart(option))}" for n, option in enumerate(options, 1)]


def _short(line: str) -> str:
    return line if units(line) <= LABEL else f"{cut(line, LABEL - 1).rstrip()}…"


def _turns(token: str, page: int, pages: int) -> list[Spelled]:
    before = [_button(f"← Page {page}/{pages}", data(f"page{page - 1}", token))] if page else []
    after = [_button(f"Page {page + 2}/{pages} →", data(f"page{page + 1}", token))] if page + 1 < pages else []
    return before + after


def _beside(buttons: Sequence[Spelled]) -> list[Sequence[Spelled]]:
    """Two in a row where all are short."""
    width = 2 if all(units(button["text"]) <= BESIDE for button in buttons) else 1
    return [buttons[n : n + width] for n in range(0, len(buttons), width)]


def _button(label: str, said: str, style: str = "") -> Spelled:
    return {"text": label, "callback_data": said, **({"style": style} if style else {})}
