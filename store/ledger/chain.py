"""The form of a record in the ledger, and the chain through all of them.

A record is `<id> <l> <h> <s> <e>`: `e` the canonical JSON of the entry, `s` a random salt of 32 bytes in hex,
`l` the leaf SHA-256(s ‖ e), `h` the link SHA-1(previous h ‖ id ‖ l), which commit.lua computes. A redacted record
has `-` for s and nothing for e: its leaf and its place in the chain stay.
"""

import hashlib
import json
from dataclasses import dataclass

from ..domain.entry import Logged, entry_of

SEGMENT = 1024  # entries per hash; commit.lua has the same number, held together by a test


@dataclass(frozen=True, slots=True)
class Line:
    """An entry ready for the script: its bytes, salt and leaf."""

    text: bytes
    salt: str
    leaf: str


@dataclass(frozen=True, slots=True)
class Record:
    """One field of a ledger segment, taken apart."""

    id: str
    leaf: str
    link: str
    salt: str
    text: bytes

    @property
    def redacted(self) -> bool:
        return self.salt == "-"

    def logged(self) -> Logged:
        """The entry as readers see it. One that cannot be read must not take all others with it."""
        try:
            return Logged(id=self.id, entry=None if self.redacted else entry_of(json.loads(self.text)))
        except (TypeError, ValueError):
            return Logged(id=self.id, entry=None, readable=False)


def leaf(salt: bytes, text: bytes) -> str:
    """SHA-256 over salt and text, in hex."""
    return hashlib.sha256(salt + text).hexdigest()


def link(previous: str, id: str, leaf: str) -> str:
    """SHA-1 over the previous link, the entry's id and its leaf, in hex. The same as in commit.lua."""
    return hashlib.sha1((previous + id + leaf).encode(), usedforsecurity=False).hexdigest()


def line(text: bytes, salt: bytes) -> Line:
    """The line for an entry's canonical bytes under a fresh salt."""
    return Line(text, salt.hex(), leaf(salt, text))


def record(raw: bytes) -> Record:
    """Take a ledger field apart. Raises ValueError when it is not of that form."""
    id, l, h, s, e = raw.split(b" ", 4)
    return Record(id.decode(), l.decode(), h.decode(), s.decode(), e)


def segment(seq: int) -> int:
    """Which hash of the ledger the entry with this number stands in; numbers start at 1."""
    return (seq - 1) // SEGMENT
