"""Stems, so that `retries` finds `retry`: Porter's algorithm for English, a light one for Arabic.

    stem(word) -> str       of a folded word; what is neither is its own stem

Published as: M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980. It is done here and not by the
index's own tokenizer, so that ranking sees the very stems that are in the index.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

__all__ = ["stem"]

_CONSONANT, _VOWEL = "[^aeiou]", "[aeiouy]"
_C, _V = f"{_CONSONANT}[^aeiouy]*", f"{_VOWEL}[aeiou]*"  # runs of them
# Porter's measure m counts the pairs of vowels and consonants in what stands before a suffix.
_M_ABOVE_0 = re.compile(f"^(?:{_C})?{_V}{_C}")
_M_IS_1 = re.compile(f"^(?:{_C})?{_V}{_C}(?:{_V})?$")
_M_ABOVE_1 = re.compile(f"^(?:{_C})?{_V}{_C}{_V}{_C}")
_HAS_VOWEL = re.compile(f"^(?:{_C})?{_VOWEL}")
_ENDS_CVC = re.compile(f"^{_C}{_VOWEL}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

_STEP_2: Sequence[tuple[str, str]] = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3: Sequence[tuple[str, str]] = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4: Sequence[tuple[str, str]] = tuple((suffix, "") for suffix in (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
))  # fmt: skip
_KEPT = {"sion": "s", "tion": "t"}  # of a suffix in step 4 that takes only its `ion`

_ENGLISH = re.compile(r"[a-z]{3,40}")
_ARABIC = re.compile("[\u0620-\u064a\u0671-\u06d3]{3,30}")
_ARABIC_BEGINS = ("وال", "بال", "كال", "فال", "لل", "ال")  # and, with, like, so, for: each with the article
_ARABIC_ENDS = ("ها", "ات", "ون", "ين", "ان", "يه", "ه", "ي")  # plurals, feminine, pronouns


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a folded word."""
    if _ENGLISH.fullmatch(word):
        return _porter(word)
    if _ARABIC.fullmatch(word):
        return _arabic(word)
    return word


def _porter(word: str) -> str:
    for step in _STEPS:
        word = step(word)
    return word


def _plural(word: str) -> str:
    for suffix, rest in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + rest
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _M_ABOVE_0.match(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _HAS_VOWEL.match(root := word[: -len(suffix)]):
            if root.endswith(("at", "bl", "iz")):
                return root + "e"
            if _DOUBLE.search(root):
                return root[:-1]
            return root + "e" if _M_IS_1.match(root) and _ENDS_CVC.match(root) else root
    return word


def _y(word: str) -> str:
    """After a consonant only, as in Porter's later version: else `deploy` and `deployment` would part."""
    return word[:-1] + "i" if len(word) > 2 and word[-1] == "y" and word[-2] not in "aeiou" else word


def _by(table: Sequence[tuple[str, str]], measure: re.Pattern[str]) -> Callable[[str], str]:
    """A step that replaces the longest suffix of the table if what stands before it is long enough."""
    longest = sorted(table, key=lambda pair: -len(pair[0]))

    def step(word: str) -> str:
        for suffix, rest in longest:
            if word.endswith(suffix):
                root = word[: -len(suffix)] + _KEPT.get(suffix, "")
                return root + rest if measure.match(root) else word
        return word

    return step


def _e(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        if _M_ABOVE_1.match(root) or (_M_IS_1.match(root) and not _ENDS_CVC.match(root)):
            word = root
    return word[:-1] if word.endswith("ll") and _M_ABOVE_1.match(word) else word


_STEPS = (_plural, _past, _y, _by(_STEP_2, _M_ABOVE_0), _by(_STEP_3, _M_ABOVE_0), _by(_STEP_4, _M_ABOVE_1), _e)


def _arabic(word: str) -> str:
    """Without the article and the commonest endings, as long as three letters stay."""
    begin = next((b for b in _ARABIC_BEGINS if word.startswith(b) and len(word) - len(b) >= 3), "")
    word = word[len(begin) :]
    end = next((e for e in _ARABIC_ENDS if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word[: -len(end)] if end else word
