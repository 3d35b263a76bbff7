"""How lines are drawn where letters of both directions stand, by two programs that know nothing of ours."""

import re
import unicodedata

import bidi
from bidi import algorithm
from hypothesis import strategies as st

__all__ = ["MIXED", "PAIRS", "drawn"]

# What order and form can hide in, often enough that two texts of it are drawn alike if they can be.
SIGNS = [
    *'aZ019 -:+,.$%()[]<>/"\\«',
    *"\u05d0\u05d1\u05d2\u05d0\u05d1\u0627\u0628\u0627\u0661\u0662\u06f1\u060c\u05b8\u064b\ufe8d",
    *"\u20ac\u26a0\ufe0e\ufe0f\u0301\u0331\u5b57\u3000\u00e9\n",
]
MIXED = st.lists(st.sampled_from(SIGNS), min_size=1, max_size=8).map("".join)
#: Two texts, often of the same signs in another order.
PAIRS = MIXED.flatmap(lambda one: st.tuples(st.just(one), MIXED | st.permutations(one).map("".join)))

_UNSEEN = {0xFE0E: None, 0xFE0F: None}
_ON_ASCII = re.compile("(?<=[\x00-\x7f])[\u0300-\u036f]+")


def drawn(text: str) -> tuple[str, ...]:
    """What one sees of lines in each of the programs, where a font knows no selector and no mark on ASCII.

    The first follows the standard's rules for brackets, the second turns what has a mirrored form.
    """
    return tuple("\n".join(_seen(draw(line)) for line in text.split("\n")) for draw in _PROGRAMS)


def _seen(line: str) -> str:
    plain = _ON_ASCII.sub("", line.translate(_UNSEEN)).replace("\ufe8d", "\u0627")
    return unicodedata.normalize("NFC", plain)


_PROGRAMS = (bidi.get_display, algorithm.get_display)
