"""Ids: how principals and places are named, what new ids look like, and what kind of thing an id names.

The domain draws no random numbers: whoever calls hands in the bits.
"""

import base64
import difflib
import hashlib
import heapq
import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import islice
from typing import NoReturn

from .errors import Refused
from .text import quoted

__all__ = [
    "ITEM_BITS",
    "PLACES",
    "PRINCIPALS",
    "SOMEBODY",
    "TRAIL_BITS",
    "Shape",
    "as_id",
    "bare",
    "known",
    "meant",
    "near",
    "new_fact",
    "new_huddle",
    "new_item",
    "new_note",
    "new_trail",
    "parse_place",
    "principal",
    "shape",
    "short_code",
]

PRINCIPALS = ("agent", "human", "system")
SOMEBODY = ("agent", "human")  # who can be given something; no two of them share an id
NAMED = ("channel", "job")  # places that are named freely, but not like an id of ours
PLACES = (*NAMED, *SOMEBODY)

TRAIL_BITS = 128
ITEM_BITS = 50

_RULE = "a-z, 0-9, '.', '_' and '-', at most 63, the first a letter or digit"
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_LONGEST_ID = 63
_LONGEST = len("channel:") + _LONGEST_ID
# Letters of Latin alphabets that are no letter with an accent to Unicode.
_FOLDED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "\u0131": "i"}
)

# Without the letters i, l, o and u: what is read aloud or typed from a card is not mistaken.
_SHORT = "0123456789abcdefghjkmnpqrstvwxyz"


class Shape(StrEnum):
    """What an id names, as far as its form says."""

    ASK = "ask"
    ITEM = "item"
    MAILBOX_NOTE = "mailbox note"
    HUDDLE = "huddle"
    FACT = "fact"
    ENTRY = "entry"
    PLACE = "place"


# 22 characters of base64url hold 132 bits, so the last one can only be one of four.
_SHAPES: tuple[tuple[Shape, re.Pattern[str], str], ...] = (
    (Shape.ASK, re.compile(r"ask_[A-Za-z0-9_-]{21}[AQgw]"), "ask_ and 22 characters"),
    (Shape.ITEM, re.compile(rf"ci_[{_SHORT}]{{10}}"), "ci_ and 10 characters"),
    (Shape.MAILBOX_NOTE, re.compile(rf"mb_[{_SHORT}]{{10}}"), "mb_ and 10 characters"),
    (Shape.HUDDLE, re.compile(rf"hd_[{_SHORT}]{{10}}"), "hd_ and 10 characters"),
    (Shape.FACT, re.compile(rf"fa_[{_SHORT}]{{10}}"), "fa_ and 10 characters"),
    (Shape.ENTRY, re.compile(r"[1-9][0-9]{0,15}-(?:0|[1-9][0-9]{0,15})"), "<ms>-<number>"),
    (
        Shape.PLACE,
        re.compile(rf"(?:{'|'.join(PLACES)}):{_ID.pattern}"),
        "channel:, job:, agent: or human: and an id",
    ),
)
_FORMS = {known_shape: form for known_shape, _, form in _SHAPES}
_BEGINS = {  # prefix, length of all
    Shape.ASK: ("ask_", 26),
    Shape.ITEM: ("ci_", 13),
    Shape.MAILBOX_NOTE: ("mb_", 13),
    Shape.HUDDLE: ("hd_", 13),
    Shape.FACT: ("fa_", 13),
}


def principal(
    text: object, kinds: Sequence[str] = PRINCIPALS, *, default: str | None = None, name: str = "principal"
) -> str:
    """`agent:x`, `human:x` or `system:x`; a bare id is of kind `default`, where only that can be meant.

    `name` is the argument, for the refusal. Refuses malformed_id.
    """
    return _prefixed(text, kinds, default=default, name=name)


def meant(text: object, kinds: Sequence[str] = SOMEBODY, *, name: str = "principal") -> tuple[str, ...]:
    """All principals that this may mean: itself, or for a bare id the agent and the person with it.

    `kinds` may have more than principals. Refuses malformed_id.
    """
    if isinstance(text, str) and _ID.fullmatch(text):
        return tuple(f"{kind}:{text}" for kind in SOMEBODY if kind in kinds)
    return (_prefixed(text, kinds, default=" or ".join(SOMEBODY), name=name),)


def parse_place(text: object, kinds: Sequence[str] = PLACES, *, default: str | None = None, name: str = "where") -> str:
    """`channel:x`, `job:x`, `agent:x` or `human:x`; a bare id is of kind `default`. Refuses malformed_id."""
    return _prefixed(text, kinds, default=default, name=name)


def bare(text: object, kind: str, *, name: str = "") -> str:
    """The id alone, of `x` or `<kind>:x`: for spaces, jobs and names of keys. Refuses malformed_id."""
    return _prefixed(text, (kind,), default=kind, name=name or kind).partition(":")[2]


def as_id(name: str) -> str:
    """A name as people write it, as an id: `Ana López` is ana-lopez; '' if nothing of it can stand in one."""
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_FOLDED)).encode("ascii", "ignore").decode().lower()
    kept = "".join(each if each.isalnum() or each in "._-" else " " for each in plain)
    return "-".join(kept.split()).lstrip("._-")[:_LONGEST_ID]


def new_trail(bits: bytes) -> str:
    """A trail of an ask: `ask_` and 128 random bits in base64url. `bits` is 16 bytes from a secure source."""
    if len(bits) * 8 != TRAIL_BITS:
        raise ValueError(f"a trail takes {TRAIL_BITS} bits, not {len(bits) * 8}")
    return "ask_" + base64.urlsafe_b64encode(bits).rstrip(b"=").decode()


def short_code(trail: str) -> str:
    """Six letters and digits that people type for a trail; another trail may have the same."""
    return base64.b32hexencode(hashlib.sha256(trail.encode()).digest()).decode().lower()[:6]


def new_item(bits: bytes) -> str:
    """An id of an item: `ci_` and 50 random bits. `bits` is 7 bytes or more, of which the first 50 bits count."""
    return "ci_" + _short(bits)


def new_note(bits: bytes) -> str:
    """An id of a mailbox note: `mb_` and 50 random bits. `bits` as for `new_item`."""
    return "mb_" + _short(bits)


def new_huddle(bits: bytes) -> str:
    """An id of a huddle: `hd_` and 50 random bits. `bits` as for `new_item`."""
    return "hd_" + _short(bits)


def new_fact(bits: bytes) -> str:
    """An id of a fact: `fa_` and 50 random bits. `bits` as for `new_item`."""
    return "fa_" + _short(bits)


def shape(text: object) -> Shape | None:
    """What this id names, or None if it has the form of no id."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    return next((known_shape for known_shape, form, _ in _SHAPES if form.fullmatch(text)), None)


def known(text: object, shapes: Iterable[Shape] = Shape, *, name: str) -> tuple[Shape, str]:
    """The id with what it names, which must be one of `shapes`. Refuses malformed_id."""
    wanted = tuple(shapes)
    found = shape(text)
    if found in wanted and isinstance(text, str):
        return found, text
    forms = "; ".join(f"{each}: {_FORMS[each]}" for each in wanted)
    seems = f", which has the form of {_an(found)}" if found else _slip(text, wanted)
    raise Refused(
        "malformed_id",
        f"{name} is {quoted(text)}{seems}. Expected is {forms}. Nothing was written.",
        argument=name,
    )


def _slip(text: object, wanted: Iterable[Shape]) -> str:
    """How an id that was ours became none, if it begins like one of these."""
    for each in wanted:
        prefix, length = _BEGINS.get(each, ("", 0))
        if prefix and isinstance(text, str) and text.startswith(prefix):
            wrong = (
                "a character in it is wrong"
                if len(text) == length
                else "it was cut"
                if len(text) < length
                else "it is too long"
            )
            return f", which is no {each} of ours: {wrong}"
    return ""


# The cost of difflib grows with the product of both lengths. Its quick ratio is an upper bound of the true one and
# cheaper, so only the best by that are looked at closely.
_NEAR_CHARACTERS = 64
_NEAR_CANDIDATES = 500
_NEAR_CLOSELY = 16
_NEAR_CUTOFF = 0.6


def near(name: object, candidates: Iterable[str], n: int = 3) -> list[str]:
    """Up to `n` of the candidates that `name` may have been meant for, nearest first. Never raises.

    Looks at the first 500 candidates, and at their first 64 characters.
    """
    if not isinstance(name, str) or n < 1:
        return []
    matcher = difflib.SequenceMatcher(None, "", name[:_NEAR_CHARACTERS].strip().lower(), autojunk=False)
    rough: list[tuple[float, str]] = []
    for candidate in set(islice(candidates, _NEAR_CANDIDATES)):
        matcher.set_seq1(candidate[:_NEAR_CHARACTERS].lower())
        if matcher.real_quick_ratio() >= _NEAR_CUTOFF and (ratio := matcher.quick_ratio()) >= _NEAR_CUTOFF:
            rough.append((-ratio, candidate))
    found: list[tuple[float, str]] = []
    for _, candidate in heapq.nsmallest(_NEAR_CLOSELY, rough):
        matcher.set_seq1(candidate[:_NEAR_CHARACTERS].lower())
        found.append((-matcher.ratio(), candidate))
    return [candidate for ratio, candidate in sorted(found)[:n] if -ratio >= _NEAR_CUTOFF]


def _prefixed(text: object, kinds: Sequence[str], *, default: str | None, name: str) -> str:
    if not isinstance(text, str):
        _malformed(text, kinds, default=default, name=name)
    kind, colon, id = text.partition(":")
    if not colon:
        kind, id = default or "", text
    if kind not in kinds or not _ID.fullmatch(id):
        _malformed(text, kinds, default=default, name=name)
    if kind in NAMED and (found := shape(id)):
        raise Refused(
            "malformed_id",
            f"{name} is {quoted(text)}, which has the form of {_an(found)}'s id and names no {kind}. "
            "Nothing was written.",
            argument=name,
        )
    return f"{kind}:{id}"


def _malformed(text: object, kinds: Sequence[str], *, default: str | None, name: str) -> NoReturn:
    forms = [f"{kind}:<id>" for kind in kinds]
    expected = " or ".join(([", ".join(forms[:-1])] if forms[1:] else []) + forms[-1:])
    alone = f" (or the id alone, for {default})" if default else ""
    meant = _meant(text, kinds, default=default)
    raise Refused(
        "malformed_id",
        f"{name} is {quoted(text)}. Expected is {expected}{alone}, the id of {_RULE}."
        f"{f' Did you mean {meant}?' if meant else ''} Nothing was written.",
        argument=name,
        **({"near": [meant]} if meant else {}),
    )


def _meant(text: object, kinds: Sequence[str], *, default: str | None) -> str | None:
    """The id that somebody means who writes a name as people do."""
    if not isinstance(text, str) or len(text) > 2 * _LONGEST:
        return None
    kind, colon, name = text.partition(":")
    kind, name = (kind.strip().lower(), name) if colon else (default or "", text)
    id = as_id(name)
    if not id or shape(id) or len(name.strip()) > _LONGEST_ID or (colon and kind not in kinds):
        return None
    if not colon:
        return None if default is None else f"{default}:{id}" if default in kinds else id
    return f"{kind}:{id}"


def _short(bits: bytes) -> str:
    if len(bits) * 8 < ITEM_BITS:
        raise ValueError(f"a short id takes {ITEM_BITS} bits, not {len(bits) * 8}")
    number = int.from_bytes(bits) >> (len(bits) * 8 - ITEM_BITS)
    return "".join(_SHORT[number >> place & 31] for place in range(ITEM_BITS - 5, -1, -5))


def _an(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
