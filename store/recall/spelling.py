"""Words of the index that a word is part of, or that are nearly the same: what the query's author may have meant."""

import difflib
import math
import sqlite3
from dataclasses import dataclass

from .stem import stem as stem_of
from .words import parts, pieces

BEGINS, INFLECTED, INSIDE, NEARLY = 0.7, 0.7, 0.5, 0.4  # how much of the word it is worth when it is …
OTHERS = 12  # other spellings that are looked up
SCANNED = 200
CLOSE = 0.78  # ratio from which two words are nearly the same


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word or name of the index in place of the query's; `stems` are empty for a name with marks in it."""

    text: str
    strength: float
    stems: tuple[str, ...] = ()


def alike(db: sqlite3.Connection, word: str, *, stem: str) -> list[Spelling]:
    """Other words of the index for this one, the likeliest first."""
    if len(word) < 3:
        return []
    found: dict[str, float] = {}
    for text in _containing(db, word):
        found[text] = BEGINS if text.startswith(word) else INSIDE
    for text in _inflected(db, word, stem):
        found.setdefault(text, INFLECTED)
    if not found and len(word) >= 5:
        found = dict.fromkeys(_nearly(db, word), NEARLY)
    found.pop(word, None)
    spelled = [_spelling(text, strength) for text, strength in found.items()]
    spelled.sort(key=lambda s: (-s.strength, len(s.text)))
    return [s for s in spelled if s.stems != (stem,)][:OTHERS]


def _spelling(text: str, strength: float) -> Spelling:
    words = [part for kind, token in pieces(text) if kind == "word" for part in parts(token)]
    return Spelling(text, strength, (stem_of(words[0]),) if words == [text] else ())


def _containing(db: sqlite3.Connection, word: str) -> list[str]:
    match = f'"{word}"'.replace("\0", "")
    rows = db.execute(
        "SELECT t.text FROM (SELECT rowid FROM parts WHERE parts MATCH ? ORDER BY rank LIMIT ?) p "
        "JOIN term t ON t.id = p.rowid",
        (match, 2 * OTHERS),
    )
    return [text for (text,) in rows]


def _inflected(db: sqlite3.Connection, word: str, stem: str) -> list[str]:
    """Words with the same begin and another ending."""
    if len(word) < 5:
        return []
    begin = word[: max(4, math.ceil(0.7 * len(word)))]
    if len(stem) >= 4 and word.startswith(stem):
        begin = min(begin, stem, key=len)
    rows = db.execute(
        "SELECT text FROM term WHERE text >= ? AND text < ? LIMIT ?", (begin, begin + "\U0010ffff", SCANNED)
    )
    near = [text for (text,) in rows if text.isalnum() and abs(len(text) - len(word)) <= 4]
    return sorted(near, key=lambda text: abs(len(text) - len(word)))[:OTHERS]


def _nearly(db: sqlite3.Connection, word: str) -> list[str]:
    """Words with a letter wrong or missing."""
    match = " OR ".join(f'"{word[n : n + 3]}"' for n in range(len(word) - 2))
    rows = db.execute(
        "SELECT t.text FROM (SELECT rowid FROM parts WHERE parts MATCH ? ORDER BY rank LIMIT ?) p "
        "JOIN term t ON t.id = p.rowid",
        (match, 3 * OTHERS),
    )
    close = difflib.SequenceMatcher(None, "", word, autojunk=False)
    found: list[tuple[float, str]] = []
    for (text,) in rows:
        close.set_seq1(text)
        found.append((-close.ratio(), text))
    return [text for ratio, text in sorted(found)[:3] if -ratio >= CLOSE]
