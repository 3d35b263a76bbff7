r"""An upper bound of the number of o200k tokens in a text, without the tokenizer (which takes 140 MB).

Why it holds. The tokenizer cuts a text into pieces by a fixed pattern, then joins neighbours in a piece as long as
the two together are in its vocabulary. So when it has finished, no two neighbours in a piece are a token together.
`APART` and `JOINED` say which pairs of ASCII characters are tokens; two of those never stay single side by side,
which bounds the tokens that lie within a run of such characters. A token that reaches out of a run is counted
with what it reaches into. Words in `words` and the runs of punctuation in `RUNS` have a known price. Three digits are
always one token. Outside ASCII a character costs its bytes in UTF-8, less where its first bytes are a token, and the
tokens that begin amid a character are few enough to be named (`CROSSED`).

The facts about the vocabulary were read from it; tests/domain/test_tokens.py holds each against the real tokenizer,
and the bound itself against random text of many kinds.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from . import words

__all__ = ["Chunk", "chunk", "joined", "tokens_upper"]

#: Letters, each with those that it makes no token with, when they follow it in one piece.
APART = (
    "bq gkq jvz kqz lq nq qfgjkvz rj tq wqz xgjkqvw yq zjqv EJow FJQZfhjqvz GJQZdfgkmqvxz IYhu JHQXYZbcdfgjkmpqrtvwxz "
    "KJQXZcfjkpqxz LJQZhkqrwxz MZ NQfnqw OQZaeq PZjpqz QFGHJKOWXYZbdefhjkmnpqvwxyz RZjkrz TQgjnqtz UOQejoqu "
    "VJQYZbdfghjnqtvwx WJQZbcfgjklmnqvwz XGHJKQUWbcfghjklnoqrvwxyz YBFHIJQVbcdfghjklpqtvwxyz ZBCJKLPQVbcfgklpqrstxyz "
    "Aq Bfqvz Cjkqwz Dgkq Hcfhjknq Sgx"
)
#: Punctuation, each with that which it makes a token with. A slash may end a piece, so it is joined with itself only.
JOINED = r"""
!!"'()*,-./:=?[\] "!"#$%&'()*+,-./:;<>?[\]_`{|} #!"#$+,./:[{ $$(,./:\_{ %!"%'(),-.;=@\^ &#&(),_
'"#$%'()*+,-./:;<=>?[\]^_{} (!"#$%&'()*+-./:;<?@[\^_`{|~ )!"#$%&'()*+,-./:;<=>?[\]^_`{|} *!"$&()*,-./:=>@[\_
+"#$'()+,-./:=[\] ,!"#$%&'()*+,-./:<@[\^_{ -"$%&'()*,-./=>[\_{| .!"#$%&'()*+,-./:;<=?@[\]^_`{|~ //
:"#$%&'()*+,-./:<=?@[\]^_`{ ;"$%&'()+,-./;<\} <!#$&'(-/<=>?[_{ =!"#$%&'(*-./:<=>?@[\_`{} >"#$%&'()*,-./:;<=>?@[\]`{|}
?!"#$'(),-./:<>?[\_| @"$(:@[\ ["#$%'(*,-/:@[\]^_`{ \"$'(,-./:<[\ ]!"%&'()*+,-./:;<=>?[\]^_{|} ^()-.[\^{
_"$%'()*,-./:;<=[\]^_{| `),.:;\]`} {"$%'-/:@\{|} |"'(-\| }!"$%&'()+,-./:;<=>?@[\]_`{|} ~,-/=~
"""
#: Runs of punctuation by their price where they are a whole piece: what JSON and our own lines are full of.
RUNS = {
    1: """ ":" "," "},{" ":{" ":[" ":["  "}, }," "," },{" ..." .","  ":"","  """,
    2: """ ":[{" ":[]," "]," "]}," "}]," "}," "}}," "}]} ":[]} ":{} ?"," !"," )"," ..."," ."},{" ?"},{" ."]," """,
    3: """ ":{}," ."}]," ?"}]," """,
}
#: Bit n: the character U+0080 + n, of two bytes, is a token.
WHOLE_OF_TWO = int(
    "63ff0000003579cb5c28ae00076ab7fbfe011fff001fffff07fffffe88001000001c07ffffff0000d3f10000000002fffffffffe687df7f1ff3e"
    "0020000000000080830a03000000acefea8b8e8d000000000000dffeffffffffffffffff41f60000000000007ffffffef3fbffff115000000000"
    "00000000000020880000174f00000000340000401800000000000000002000000a9a0000000000000f0000000000000000004000000180030205"
    "8000ffaaab2fef0f295e54a38a8aeb8bbbfffffffffff7ffffffffffffff021c0001",
    16,
)
#: Bit n: the first two of the three bytes of the characters from U+0000 + 64 n on are a token.
BEGUN_OF_THREE = int(
    "ff1010000000000f00000010010000010000000067f4dd7fbf5f02df7ff02ffe03dd97fbf45bbd7f1bbf0000000000007f0c7fffbfffffffffff"
    "fffebffffffffffffffffffffffffffff7ffffffffffff9fffffffffffffff00000000000000000000000000413f0000100077fe1fffbf100000"
    "c0003f0f7ffffff000000000",
    16,
)
#: Characters of three bytes that are a token each: punctuation, arrows, boxes, kana.
WHOLE_OF_THREE = re.compile(
    "[\u2009-\u200b\u2010\u2011\u2013-\u2015\u2018-\u201a\u201c-\u2022\u2026\u2030\u2032\u2033\u2039\u203a\u20ac\u2116"
    "\u2122\u2190-\u2193\u21d2\u2212\u2219\u221a\u221e\u2248\u2264\u2265\u2500-\u2503\u251c\u2550\u2551\u2588\u2591-\u2593"
    "\u25a0\u25a1\u25aa\u25ab\u25b2\u25b3\u25b6\u25ba\u25bc\u25c6\u25c7\u25cb\u25cf\u2605\u2606\u2665\u2705\u2713\u2714"
    "\u2764\u27a1\u3000-\u3002\u3005\u3007-\u3012\u3041\u3042\u3044\u3046-\u3048\u304a-\u3061\u3063-\u306b\u306d-\u3073"
    "\u3075-\u3079\u307b-\u308d\u308f\u3092\u3093\u30a1-\u30a4\u30a6-\u30c1\u30c3\u30c4\u30c6-\u30cb\u30cd-\u30ed\u30ef"
    "\u30f3\u30f4\u30fb-\u30fd]"
)
#: Characters of four bytes of which the first two, or the first three, are a token: most emoji, letters of mathematics.
BEGUN_OF_FOUR = re.compile("[\U0001d000-\U0001dfff\U0001f000-\U0001ffff]")
BEGUN_WELL = re.compile(
    "[\U0001d400-\U0001d43f\U0001d5c0-\U0001d5ff\U0001f1c0-\U0001f1ff\U0001f300-\U0001f37f\U0001f380-\U0001f3bf"
    "\U0001f3c0-\U0001f3ff\U0001f400-\U0001f4bf\U0001f4c0-\U0001f4ff\U0001f500-\U0001f53f\U0001f600-\U0001f67f"
    "\U0001f680-\U0001f6bf\U0001f900-\U0001f97f]"
)
#: A token may begin amid a character, and then reaches into one of these.
CROSSED = re.compile("[pi\n\u0380-\u03bf\u04c0-\u04ff\u0540-\u057f\u0800-\u1fff\u4000-\ucfff\uf000-\uffff]")

#: Punctuation outside ASCII that may stand beside a word of known price.
MARKS = "…—–‘’“”→•·"  # noqa: RUF001 - these and no others

# The contractions of the tokenizer's own pattern; in other cases they are left to the last resort.
_PIECES = re.compile(
    r"(?P<word> ?[A-Za-z]+(?:'(?:s|t|re|ve|m|ll|d)(?![A-Za-z]))?)"
    r"|(?P<signs> ?[!-/:-@\[-`{-~]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<spaces> +(?= [^\t-\r ])| +)"
    r"|(?P<foreign>[^\x00-\x7f]+)"
    r"|(?P<controls>[\x00-\x1f\x7f]+)"
)
_SIGNS = "".join(chr(c) for c in range(0x21, 0x7F) if not chr(c).isalnum())
_PLAIN = frozenset(("", "\t", *map(chr, range(0x20, 0x7F))))
_CASES = re.compile(r" ?(?:[A-Z]*[a-z]+|[A-Z]+)")

# As many spaces, and any number below, are one token.
SPACES = 79
# What is longer is not worth remembering, and would make the memory of it large.
_REMEMBERED = 40


def tokens_upper(text: str) -> int:
    """At least as many tokens as o200k makes of the text. Linear in its length."""
    total = 0
    for match in _PIECES.finditer(text):
        piece = match[0]
        kind = match.lastgroup
        if kind == "word":
            start, end = match.span()
            beside = text[start - 1 : start] + text[end : end + 1]
            plain = len(piece) <= _REMEMBERED and beside.isascii() and beside[:1] != "'"
            total += _plain_word(piece) if plain else _word(piece, text, at=start)
        elif kind == "signs":
            start, end = match.span()
            total += _between(text[start - 1 : start], piece, text[end : end + 1])
        elif kind == "digits":
            # After a digit of another script the groups of three may begin elsewhere.
            shifted = 2 if not text[match.start() - 1 : match.start()].isascii() else 0
            total += (len(piece) + 2 + shifted) // 3
        elif kind == "spaces":
            total += 1 + 2 * (len(piece) // (SPACES + 1))
        elif kind == "foreign":
            total += _foreign(piece, text, at=match.start())
        else:
            total += len(piece)
    return total


class Chunk(NamedTuple):
    """A part of a longer text, priced on its own: the punctuation at its ends belongs to what it is joined to.

    `cost` is that of what lies between, `first` and `last` are its outermost characters, '' where nothing does.
    """

    lead: str
    first: str
    cost: int
    last: str
    trail: str


def chunk(text: str) -> Chunk:
    """The text as a part for `joined`. It may not begin with an apostrophe or a blank, or end with a blank."""
    begun = text.lstrip(_SIGNS)
    if not begun:
        return Chunk(text, "", 0, "", "")
    lead = text[: len(text) - len(begun)]
    ended = text.rstrip(_SIGNS)
    trail = text[len(ended) :]
    if trail and ended[-1] == " ":  # a blank belongs to the punctuation after it
        ended, trail = ended[:-1], f" {trail}"
    ends = _between("", lead, begun[0]) if lead else 0
    ends += _between(text[len(ended) - 1], trail, "") if trail else 0
    return Chunk(lead, begun[0], tokens_upper(text) - ends, text[len(ended) - 1], trail)


def joined(chunks: Iterable[Chunk]) -> int:
    """`tokens_upper` of the texts side by side, where there is punctuation between any two that are not only that."""
    total, run, before = 0, "", ""
    for lead, first, cost, last, trail in chunks:
        run += lead
        if first:
            total += cost + (_between(before, run, first) if run else 0)
            run, before = trail, last
    return total + (_between(before, run, "") if run else 0)


@lru_cache(maxsize=8192)
def _plain_word(piece: str) -> int:
    """The price of a word that has nothing but ASCII beside it."""
    return _word(piece, piece, at=0)


def _word(piece: str, text: str, *, at: int) -> int:
    """Letters, perhaps with a space before and a contraction after them."""
    letters, _, contraction = piece.partition("'")
    price = 1 if contraction else 0
    before = text[at - 1 : at] if piece[0] != " " else ""
    after = text[at + len(piece) : at + len(piece) + 1]
    if before == "'" and (text[at - 2 : at - 1].isalpha() or not text[at - 2 : at - 1].isascii()):
        # The first letters may be a contraction of the word before, and the rest a piece of its own.
        return _at_most(letters) + 1 + 2 * price
    if len(piece) > _REMEMBERED or not _known_beside(before) or not (contraction or _known_beside(after)):
        return _at_most(letters) + 2 * price
    return sum(_cased(part, price) for part in _CASES.findall(letters))


def _known_beside(neighbour: str) -> bool:
    return neighbour.isascii() or neighbour in MARKS


@lru_cache(maxsize=4096)
def _cased(part: str, price: int) -> int:
    """Letters of one piece, which begins with the space if there is one; `price` of a contraction that follows."""
    after_space, elsewhere = _prices().get(part.lstrip(" "), (0, 0))
    known = after_space if part[0] == " " else elsewhere
    return known + price if known else _at_most(part) + 2 * price


@cache
def _prices() -> Mapping[str, tuple[int, int]]:
    """Of each known word: its price after a space, and elsewhere."""
    prices: dict[str, tuple[int, int]] = dict.fromkeys(words.CAPITALS.split(), (1, 1))
    for table, small, capital in (
        (words.EVERYWHERE, (1, 1), (1, 1)),
        (words.SMALL, (1, 1), (2, 2)),
        (words.AFTER_A_SPACE, (1, 2), (2, 2)),
        (words.TWO, (2, 2), (2, 2)),
    ):
        for word in table.split():
            prices[word] = small
            prices[word.capitalize()] = capital
    return prices


def _between(before: str, run: str, after: str) -> int:
    """Punctuation, perhaps with a space before it, between two characters; '' for none."""
    return _short_between(before, run, after) if len(run) <= _REMEMBERED else _at_most(run)


@lru_cache(maxsize=4096)
def _short_between(before: str, run: str, after: str) -> int:
    # Beside these it is a piece of its own; other punctuation, controls, and line ends after it would belong to it.
    alone = before in _PLAIN and after in _PLAIN
    return _runs()[run] if alone and run in _runs() else _signs(run)


@cache
def _runs() -> Mapping[str, int]:
    return {" ->": 1, ' {"': 1} | {run: price for price, table in RUNS.items() for run in table.split()}


@lru_cache(maxsize=1024)
def _signs(run: str) -> int:
    return _at_most(run)


def _at_most(run: str) -> int:
    """The most tokens that can lie within a run of ASCII characters, by the pairs that never stay apart."""
    joined = _joined()
    # Up to here: the most tokens; the same if the last is of two characters or more; and the most one character back.
    best, longer, back = 0, -1, -1
    before = ""
    for char in run:
        single = 1 + (longer if before + char in joined else best)
        longer = 1 + back
        back, best = best, max(single, longer)
        before = char
    return best


@cache
def _joined() -> frozenset[str]:
    """Pairs of ASCII characters that are a token, and so never two tokens side by side in one piece."""
    lower, upper = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    signs = {group[0]: group[1:] for group in JOINED.split()}
    apart = {group[0] + second for group in APART.split() for second in group[1:]}
    # A capital after a small letter begins a piece of its own.
    within = ((lower, lower), (upper, lower + upper))
    letters = {first + second for firsts, seconds in within for first in firsts for second in seconds}
    spaced = {" " + second for second in lower + upper + "".join(signs)}
    return frozenset((letters - apart) | spaced | {first + second for first in signs for second in signs[first]})


def _foreign(run: str, text: str, *, at: int) -> int:
    """Characters outside ASCII: how many tokens may begin in each."""
    followers = run[1:] + text[at + len(run) : at + len(run) + 1]
    total = 0
    for n, char in enumerate(run):
        price = _character(char)
        if price == 1 and CROSSED.match(followers[n : n + 1]):
            price = 2
        total += price
    # "-" and the first half of a character can be a token, which leaves the second half.
    return total + (text[at - 1 : at] == "-")


def _character(char: str) -> int:
    code = ord(char)
    if code < 0x800:
        return 2 - (WHOLE_OF_TWO >> (code - 0x80) & 1)
    if code < 0x10000:
        return 1 if WHOLE_OF_THREE.match(char) else 3 - (BEGUN_OF_THREE >> (code >> 6) & 1)
    if BEGUN_WELL.match(char):
        return 2
    return 3 if BEGUN_OF_FOUR.match(char) else 4
