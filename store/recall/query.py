"""A query, taken apart as entries are. Whatever somebody types is words: no sign in it means anything to the index.

parse("retry in api/auth.py") -> Query     of two units: a word, and a name with its words
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .stem import stem
from .words import clean, fold, name, number, pairs, parts, pieces, read, segments

_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
UNIT_LIMIT = 16  # units of a query that are looked up; what comes after is not
SHOWN_LIMIT = 40  # characters of a unit where it is said what matched

# They say nothing about what is looked for, and are left out where something else is there.
_SAY_NOTHING = """
a about again all also am an and any are as at be been being but by can could did do does for from get give had has
have he her here him his how i if in into is it its just know let me my no not of on or our out please she should show
so some tell than that the their them then there these they this those to up us was we were what when where which who
whose why will with would you your anything something find search

aber als am auf aus bei bin bis da das dass dem den der des die du ein eine einem einen einer er es fur hat ich ihr im
in ist ja kein mit nach nicht noch nur oder sich sie sind so um und uns vom von vor war was wer wie wir wird wo zu zum
zur welche welcher

au aux avec ce ces cette dans de des du elle en est et il je la le les leur mais ne nous on ou par pas pour qu que qui
sa se ses son sont sur un une vous el los las del por con para una como es lo

и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне от для о из ли где кто
"""
_FUNCTION_WORDS = frozenset(_SAY_NOTHING.split())


@dataclass(frozen=True, slots=True)
class Part:
    """One word of a unit: its stem as it stands in the index, and the word itself ('' where no part of it helps)."""

    stem: str
    word: str = ""
    begins: bool = False  # the stem is only the begin of a token


@dataclass(frozen=True, slots=True)
class Unit:
    """What stands for one thing in a query: a word, a name, or a run of a script without blanks.

    `phrases` are runs of stems that each stand for the whole of it, `names` its spellings as a name or label.
    """

    shown: str
    parts: tuple[Part, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its units in order, and all of it as a name."""

    text: str
    units: tuple[Unit, ...] = field(default_factory=tuple)
    label: str = ""


def parse(text: str) -> Query:
    """Take a query apart. One of nothing but marks has no units."""
    spelled = clean(text)
    units = [unit for chunk in spelled.split() for unit in _units(chunk)]
    telling = [u for u in units if not _says_nothing(u)] or units
    once = {(u.phrases, u.parts): u for u in reversed(telling)}
    kept = [u for u in telling if once.get((u.phrases, u.parts)) is u]
    return Query(text, tuple(kept[:UNIT_LIMIT]), fold(" ".join(text.split())))


def _units(chunk: str) -> Iterator[Unit]:
    """A chunk between blanks: one unit, or one for each run of another script in it."""
    found = list(pieces(chunk))
    if not found:
        return
    if all(kind == "word" for kind, _ in found):
        yield _spelled(chunk)
        return
    words: list[str] = []
    for kind, token in found:
        if kind == "word":
            words.append(token)
        elif kind == "symbol":
            yield Unit(chr(int(token[1:], 16)), (Part(token),))
        else:
            yield from map(_run, segments(token))
    for word in words:
        yield _spelled(word)


def _spelled(chunk: str) -> Unit:
    """A word, or a name of several."""
    reading, spelled = read(chunk), name(chunk)
    # As a phrase each; a name of several words is also looked for as one.
    words = [part for _, token in pieces(chunk) for part in parts(token)]
    row = tuple(Part(s, w) for s, w in zip(reading.stems, words, strict=True))
    phrases = (tuple(reading.stems), *((joined,) for joined in dict.fromkeys(reading.joined)))
    if len(words) == 1 and len(apart := _LETTERS_OR_DIGITS.findall(words[0])) > 1:  # `rfc8785` is also `RFC 8785`
        phrases += (tuple(map(stem, apart)),)
    names = tuple(dict.fromkeys(n for n in (spelled, fold(chunk), number(spelled)) if n))
    return Unit(chunk[:SHOWN_LIMIT], row, phrases, names)


def _run(segment: str) -> Unit:
    """Part of a run: its pairs in a row; one character alone is where a pair begins."""
    if len(segment) == 1:
        return Unit(segment, (Part(segment, begins=True),))
    row = tuple(pairs(segment)[:-1])
    return Unit(segment[:SHOWN_LIMIT], tuple(map(Part, row)), (row,))


def _says_nothing(unit: Unit) -> bool:
    return len(unit.parts) == 1 and unit.parts[0].word in _FUNCTION_WORDS
