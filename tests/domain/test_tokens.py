"""The bound on tokens, against the real tokenizer: each fact that it stands on, and the whole on random text."""

import json
import random
import string
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.domain import words
from store.domain.tokens import (
    APART,
    BEGUN_OF_FOUR,
    BEGUN_OF_THREE,
    BEGUN_WELL,
    CROSSED,
    JOINED,
    MARKS,
    RUNS,
    SPACES,
    WHOLE_OF_THREE,
    WHOLE_OF_TWO,
    tokens_upper,
)
from tests.tokenizer import tokens, vocabulary

LOWER, UPPER, SIGNS = string.ascii_lowercase, string.ascii_uppercase, string.punctuation
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


@cache
def parts() -> list[str]:
    """Every token as a text, less what is no whole character: random joins of these are the hardest texts."""
    return [raw.decode(errors="ignore") for raw in vocabulary()]


def groups(table: str) -> set[str]:
    """The pairs of a table of first characters, each followed by its seconds."""
    return {group[0] + second for group in table.split() for second in group[1:]}


def test_pairs_that_are_counted_as_one_are_one_token() -> None:
    """Every pair of ASCII characters on which the bound relies is in the vocabulary."""
    letters = {"".join(pair) for pair in (*product(LOWER, LOWER), *product(UPPER, LOWER + UPPER))}
    spaced = {" " + char for char in LOWER + UPPER + SIGNS}
    relied_on = (letters - groups(APART)) | groups(JOINED) | spaced
    assert [pair for pair in sorted(relied_on) if tokens(pair) != 1] == []
    assert len(relied_on) > 2_300


def test_digits_go_by_threes_and_spaces_together() -> None:
    """All numbers of up to three digits, and all runs of spaces up to the bound, are one token."""
    assert all(tokens(f"{n:0{width}d}") == 1 for width in (1, 2, 3) for n in range(10**width))
    assert all(tokens(" " * n) == 1 for n in range(1, SPACES + 1))


def test_every_known_run_has_its_price_wherever_it_stands() -> None:
    """Each run of punctuation of the table, alone and beside a letter, a digit, a space and a tab."""
    runs = [(run, price) for price, table in RUNS.items() for run in table.split()] + [(" ->", 1), (' {"', 1)]
    for run, price in runs:
        assert tokens_upper(run) == price
        for before, after in product(("", "a", "Z", "7", " ", "\t"), repeat=2):
            if not (before == " " and run[0] == " "):
                assert tokens(before + run + after) <= price + len(before) + len(after), (before, run, after)


def test_characters_are_whole_or_begun_as_their_tables_say() -> None:
    """What costs less than its bytes does so because those bytes are tokens."""
    known = set(vocabulary())
    for code in range(0x80, 0x20000):
        raw = chr(code).encode(errors="surrogatepass")
        if len(raw) == 2 and WHOLE_OF_TWO >> (code - 0x80) & 1:
            assert raw in known
        if len(raw) == 3 and BEGUN_OF_THREE >> (code >> 6) & 1:
            assert raw[:2] in known
        if WHOLE_OF_THREE.match(chr(code)):
            assert {raw, raw[:2]} <= known
            assert b" " + raw[:2] in known or b" " + raw[:1] not in known
        if BEGUN_OF_FOUR.match(chr(code)):
            assert raw[:2] in known
        if BEGUN_WELL.match(chr(code)):
            assert {raw[:2], raw[:3]} <= known


def test_tokens_that_cut_a_character_are_those_that_are_reckoned_with() -> None:
    """Tokens that begin or end amid a character are few, and none is of another kind than the bound allows for."""
    for raw in vocabulary():
        rest = raw.lstrip(bytes(range(0x80, 0xC0)))
        if rest and rest != raw:
            # Of a character that the token does not hold to its end, any last bytes will do.
            assert CROSSED.match((rest + b"\x80\x80").decode(errors="ignore")), raw
        # The first byte of a character of three or more, at the end of a longer token: only after a space.
        assert raw[-1] < 0xE0 or raw in (raw[-1:], b" " + raw[-1:]), raw
        # The first of two, after ASCII: only after a space, or a dash.
        assert raw[-1] < 0xC0 or raw[0] >= 0x80 or raw[0] in b" -", raw


def spellings() -> Iterator[tuple[str, int, int]]:
    """Every known word in every spelling that has a price: the word, its price after a space, and elsewhere."""
    tables = (
        (words.EVERYWHERE, (1, 1), (1, 1)),
        (words.SMALL, (1, 1), (2, 2)),
        (words.AFTER_A_SPACE, (1, 2), (2, 2)),
        (words.TWO, (2, 2), (2, 2)),
    )
    for table, small, capital in tables:
        for word in table.split():
            yield word, *small
            yield word.capitalize(), *capital
    for word in words.CAPITALS.split():
        yield word, 1, 1


def overpriced(word: str, after_space: int, elsewhere: int) -> Iterator[str]:
    """Where the tokenizer asks more for the word than its price."""
    # Contractions in other cases are counted as an apostrophe and letters, which is two more and sometimes three.
    mixed = {"".join(p) for c in CONTRACTIONS for p in product(*((x.lower(), x.upper()) for x in c))} - set(
        CONTRACTIONS
    )
    beside = dict.fromkeys(CONTRACTIONS, 1) | {c: 3 if c[1:] in ("vE", "rE", "lL") else 2 for c in mixed} | {"": 0}
    before = {"": 0} | {
        char: 1 for char in (*map(chr, range(128)), *MARKS) if not char.isalnum() and char not in "\r\n "
    }
    for end, more in beside.items():
        if tokens(f" {word}{end}") > after_space + more:
            yield f" {word}{end}"
        for char, own in before.items() if not end or end in CONTRACTIONS else (("", 0),):
            if tokens(f"{char}{word}{end}") > elsewhere + own + more:
                yield f"{char}{word}{end}"


def test_every_known_word_has_its_price_wherever_it_stands() -> None:
    """Each word of the tables, after a space, after every sign, and with every contraction."""
    assert [text for spelling in spellings() for text in overpriced(*spelling)] == []


def test_no_word_has_two_prices() -> None:
    """A word stands in one table, once."""
    tables = (words.EVERYWHERE, words.SMALL, words.AFTER_A_SPACE, words.TWO, words.CAPITALS)
    every = [word for table in tables for word in table.split()]
    assert len(every) == len(set(every))


def test_every_character_alone_keeps_to_the_bound() -> None:
    """All of Unicode's first two planes, alone and after a space, a dash and a letter."""
    codes = [code for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    for before in ("", " ", "-", "a"):
        over = [code for code in codes if tokens(before + chr(code)) > tokens_upper(before + chr(code))]
        assert over == []


ALPHABETS = [
    LOWER,
    LOWER + UPPER,
    LOWER + UPPER + " ",
    string.printable,
    SIGNS + " \n/\r\t",
    "0123456789abcdef",
    " \n\t\r\v\f\x1c\x85\xa0\u2028\u3000",
    "qzxjkvwQZXJKVW ",
    "'stremvldSTREMVLD ",
    "1²٣३Ⅷ ",
    *("".join(map(chr, range(a, b))) for a, b in [(0x80, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700)]),
    *(
        "".join(map(chr, range(a, b)))
        for a, b in [(0x900, 0xE80), (0x10A0, 0x1100), (0x1780, 0x1800), (0x2000, 0x2C00)]
    ),
    *(
        "".join(map(chr, range(a, b)))
        for a, b in [(0x3000, 0x3100), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xFF00, 0xFFF0)]
    ),
    *("".join(map(chr, range(a, b))) for a, b in [(0x1F000, 0x1FB00), (0x1D400, 0x1D800), (0x10000, 0x10400)]),
]


@cache
def alphabets_and_parts() -> list[str | list[str]]:
    """What a text may be picked from."""
    return [parts(), *ALPHABETS]


KNOWN = [spelling[0] for spelling in spellings()]
RUN = [run for table in RUNS.values() for run in table.split()] + [" ->", ' {"']
BESIDE = [
    "",
    "",
    " ",
    " ",
    "  ",
    "'",
    "-",
    "_",
    ".",
    "\n",
    "\t",
    "“",
    "—",
    "é",
    "日",
    "1",
    "\u0301",
    "'s",
    "'LL",
    "'vEx",
]

KINDS: dict[str, Callable[[random.Random], str]] = {
    "one alphabet": lambda r: scraps(r, r.choice(ALPHABETS), 30),
    "two alphabets": lambda r: scraps(r, r.choice(ALPHABETS) + r.choice(ALPHABETS), 30),
    "tokens": lambda r: scraps(r, parts(), 8),
    "tokens and letters": lambda r: "".join(scraps(r, r.choice(alphabets_and_parts()), 3) for _ in range(5)),
    "known words": lambda r: "".join(r.choice(BESIDE) + r.choice(KNOWN) + r.choice(BESIDE) for _ in range(4)),
    "known words in other cases": lambda r: "".join(
        r.choice((str.upper, str.title, str.swapcase))(w) for w in r.sample(KNOWN, 4)
    ),
    "known runs": lambda r: "".join(r.choice(BESIDE) + r.choice(RUN) + r.choice(BESIDE) for _ in range(4)),
    "any characters": lambda r: "".join(
        chr(c) for c in r.choices(range(0x30000), k=12) + r.choices(range(0x300), k=8) if not 0xD800 <= c < 0xE000
    ),
    "JSON": lambda r: json.dumps({scraps(r, KNOWN, 2): [r.random(), r.randrange(10**9), scraps(r, parts(), 3)]}),
    "ids": lambda r: f"ask_{scraps(r, string.ascii_letters + string.digits + '-_', 30)} {r.randbytes(16).hex()}",
}


def scraps(r: random.Random, pool: str | list[str], most: int) -> str:
    """Random picks, joined."""
    return "".join(r.choice(pool) for _ in range(r.randint(1, most)))


def broken(kind: str, *, seed: int, count: int) -> list[str]:
    """Texts of this kind that have more tokens than the bound allows."""
    r = random.Random(f"{kind} {seed}")
    texts = (KINDS[kind](r) for _ in range(count))
    return [text for text in texts if tokens(text) > tokens_upper(text)]


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_text_has_more_tokens_than_the_bound(kind: str) -> None:
    """Thousands of seeded random texts of each kind, the hard ones included."""
    assert broken(kind, seed=1, count=10_000) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", list(KINDS))
def test_no_text_has_more_tokens_than_the_bound_at_length(kind: str) -> None:
    """The same with many more texts."""
    assert broken(kind, seed=2, count=150_000) == []


@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_bound_holds_for_any_text(text: str) -> None:
    """Hypothesis finds none that breaks it."""
    assert tokens(text) <= tokens_upper(text)


def test_the_bound_holds_where_a_slash_ends_a_piece() -> None:
    """After a line's end slashes belong to the piece before, and what follows them does not."""
    shapes = ("{a}\n/{b}", "{a}\r/{b}", "{a}{b}\r//{a}", "'{a}\r/{b}")
    texts = [shape.format(a=a, b=b) for shape in shapes for a in SIGNS for b in SIGNS]
    assert [text for text in texts if tokens(text) > tokens_upper(text)] == []


def test_the_bound_holds_for_known_runs_beside_what_belongs_to_them() -> None:
    """Controls, line ends and signs outside ASCII are in one piece with the punctuation beside them."""
    beside = ["", *map(chr, range(0x20)), "\x7f", "…", "—", "é", "\u0301", "€"]
    texts = [before + run + after for run in RUN for before in beside for after in beside]
    assert [text for text in texts if tokens(text) > tokens_upper(text)] == []


@pytest.mark.parametrize("text", ["nutíauthenticate", "bíauthors", "Síauthentication", " ríauthenticate", "íauthors"])
def test_a_known_word_grown_together_with_other_letters_has_no_price(text: str) -> None:
    """Letters outside ASCII belong to the same piece, and may break the word."""
    assert tokens(text) <= tokens_upper(text)


LINES = [
    '- ask_5kQz8mXv0nLrT2yWc4JhAg: human:ana approved 12 min ago "Deploy billing 4.2.1 to production"'
    ' -> logmem_redeem {"trail": "ask_5kQz8mXv0nLrT2yWc4JhAg"}',
    '- job:billing-migration, stage in_progress: agent:codex (via cursor) 3 h ago "moved the invoices table to'
    ' partitioned storage, 3 of 7 tests still fail"',
    '- handoff ci_01jd8x2k4m from agent:muse, due in 2 h: "Review the retry logic in store/engine/commit.py before the'
    ' release" -> logmem_accept {"item": "ci_01jd8x2k4m"}',
    '- blocked since 40 min: "waiting for credentials of the staging database from human:bo"',
    '- mailbox: 2 notes, newest "shift notes 2026-11-30" by agent:claude 5 h ago (expires in 19 h)'
    ' -> logmem_view {"what": "mb_7h3k9q2w5e"}',
    '- last recap 14 h ago: "Finished the importer; next: benchmark with 1,000,000 rows, then write the docs" (stale)',
    'now: doing "fixing the flaky scheduler test", waiting_on "ci_9x8w7v6t5s", since 2026-11-30T10:48:02.123Z',
    '{"ok": true, "space": "fleet", "caller": "agent:codex", "entry": "1764499682123-481", "kind": "progress"}',
]


def test_the_bound_is_near_on_the_lines_of_a_brief() -> None:
    """On what a Brief is made of the bound is less than a fifth above the truth, so that a budget is used."""
    assert sum(map(tokens_upper, LINES)) < 1.2 * sum(map(tokens, LINES))


def test_the_bound_takes_what_a_tokenizer_does_not() -> None:
    """No text fails: none at all, halves of surrogate pairs, and one long run of each kind."""
    assert tokens_upper("") == 0
    assert tokens_upper("a\ud800b") >= 3
    for char in "aA'!1 日\né😀\0":
        run = char * 20_000
        assert tokens(run) <= tokens_upper(run) <= len(run.encode())
