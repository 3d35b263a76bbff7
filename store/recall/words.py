"""Words: what is found in a text, and by what names. Entries and queries are taken apart by the same functions.

    fold("Größe") == "grosse"
    read("Fix getUserName in api/auth.py").stems == ["fix", "get", "user", "name", "in", "api", "auth", "py"]

Words between blanks and marks are stemmed. Runs of scripts that put no blank between words become overlapping pairs
of characters, the last one alone, so that each character begins a token. Emoji are words.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from .stem import stem

__all__ = ["Reading", "clean", "fold", "name", "names", "number", "pairs", "parts", "pieces", "read", "segments"]

NAME_LIMIT = 500  # characters of a name: as many as a query may have
TERM_LIMIT = 40  # of a word
EMOJI = "\ue000"  # begins the token of an emoji; no text has one, since `clean` takes out what is for private use
_JOINED_PARTS = 3  # up to so many parts of a name are also found when they are written as one word

# Scripts without blanks, and Hangul, whose particles stick to the word.
_RUN = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u0f00-\u0fbc\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKED = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u1ab0-\u1aff"  # marks are parts of words there
_SYMBOL = "\u203c\u2049\u231a-\u23ff\u2460-\u24ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_TOKEN = re.compile(f"(?P<run>[{_RUN}]+)|(?P<word>(?:(?![{_RUN}])[^\\W_]|[{_MARKED}])+)|(?P<symbol>[{_SYMBOL}])")
# The parts of a word in which capitals say where they begin.
_CAMEL = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^\WA-Z_]+|[A-Z]+")
_SCRIPTS = re.compile(
    "[\u3041-\u309f]+|[\u30a0-\u30ff\u31f0-\u31ff]+|[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]+"
    "|[^\u3041-\u30ff\u31f0-\u31ff\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]+"
)
# Accents, points and strokes that may be left out, and what nobody sees.
_DROPPED = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e8\u06ea-\u06ed\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff\ue000-\uf8ff\U000f0000-\U0010ffff\ud800-\udfff\x00]"
)
_ALIKE = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "Æ": "Ae",
                        "œ": "oe", "Œ": "Oe", "þ": "th", "ð": "d", "ى": "ي", "ة": "ه", "ک": "ك", "ی": "ي"})  # fmt: skip

_CHUNK = re.compile(f"[^\\s{_RUN}]+")
_AROUND = " \t.,;:!?…\"'`´()[]{}<>«»„“”‘’、。，・「」『』！？；：（）*|"
_BETWEEN = re.compile(r"[()\[\]{},;=\"'<>|`]+")
_LINE_NUMBER = re.compile(r":\d+(?::\d+)?$")
_VERSION = re.compile(r"v(\d+\..*)")
_TELLING = re.compile(r"\d|[._/\\@:#+~%$&-]|[a-z][A-Z]")


@dataclass(slots=True)
class Reading:
    """A text taken apart: stems in their order, names, names written as one word, and words as they are spelled."""

    stems: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    terms: set[str] = field(default_factory=set)


def clean(text: str) -> str:
    """The text in one spelling, without accents and what nobody sees; capitals stay."""
    if text.isascii():
        return text.replace("\0", "")
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _DROPPED.sub("", apart)).translate(_ALIKE)


def fold(text: str) -> str:
    """The text as it is compared."""
    return clean(text).casefold()


def read(text: str) -> Reading:
    """Take a cleaned text apart."""
    found = Reading()
    for kind, token in pieces(text):
        if kind == "run":
            found.stems += pairs(token)
            continue
        if kind == "symbol":
            found.stems.append(token)
            continue
        said = parts(token)
        for part in said:
            found.stems.append(stem(part))
            if 3 <= len(part) <= TERM_LIMIT:
                found.terms.add(part)
        if len(said) > 1:
            _join(found, said)
    found.names = names(text)
    for spelled in found.names:
        said = [part for kind, token in pieces(spelled) if kind == "word" for part in parts(token)]
        if 1 < len(said) <= _JOINED_PARTS:
            _join(found, said)
    return found


def _join(found: Reading, said: list[str]) -> None:
    whole = "".join(said)
    # Not what is made of numbers: 1.2.3 is not 123.
    if len(whole) <= TERM_LIMIT and sum(part.isdigit() for part in said) < 2:
        found.joined.append(stem(whole))
        found.terms.add(whole)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Tokens with their kind: a `run` of a script without blanks, a `word`, or a `symbol` as it stands in the index."""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        yield kind, (f"{EMOJI}{ord(match[0]):x}" if kind == "symbol" else match[0])


def parts(word: str) -> list[str]:
    """The folded parts of a word: `getUserName` has three."""
    if word.islower() or word.isupper() or not word.isascii():
        return [word.casefold()]
    return [part.lower() for part in _CAMEL.findall(word)]


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters and the last character: `認証情報` has four tokens."""
    return [run[n : n + 2] for n in range(len(run))]


def segments(run: str) -> list[str]:
    """A run divided where its script changes, which is mostly where a word ends."""
    return _SCRIPTS.findall(run)


def name(chunk: str) -> str:
    """What is left of a chunk without the marks around it, folded; '' if it is a plain word."""
    bare = chunk.strip(_AROUND)
    return bare.casefold() if 2 <= len(bare) <= NAME_LIMIT and _TELLING.search(bare) else ""


def number(name: str) -> str:
    """The name of a version without the `v` before it; any other as it is."""
    return _VERSION.sub(r"\1", name) if name.startswith("v") else name


def names(text: str) -> list[str]:
    """The names in a cleaned text: paths, addresses, ids, versions, code. Each chunk between blanks, and its pieces."""
    found: dict[str, None] = {}
    for chunk in _CHUNK.findall(text):
        if not _TELLING.search(chunk):
            continue
        for piece in (chunk, *_BETWEEN.split(chunk)):
            if spelled := name(piece):
                found |= dict.fromkeys((spelled, number(spelled)))
                if _LINE_NUMBER.search(spelled):
                    found[_LINE_NUMBER.sub("", spelled)] = None
    return list(found)
