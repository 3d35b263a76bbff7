import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.buttons import read
from bot.cards import layout_of, render
from bot.cards import message as message_of
from bot.message import Message
from bot.payload import layout
from bot.text import units
from store.domain.copy import Copy
from tests.telegram.decoded import ABSENT, covered, part, payload
from tests.telegram.emulator.text import checked
from tests.telegram.test_text import NASTY, TEXTS, visible

__all__ = ["check", "message_of"]

NOW = 1_795_600_000_000
ANA = "human:ana"
COPY = Copy(token="abcdefghi_-1", ref="ask:ask_x", to=ANA, chat=1)

KEYS = TEXTS | st.sampled_from(["1", "null", "a", "a b", ""])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
# Long ones, up to some tens of KiB, whose pages end anywhere.
LONG = st.builds(
    lambda pieces, times, before: before + "".join(pieces) * times,
    st.lists(st.sampled_from(NASTY), min_size=1, max_size=6),
    st.sampled_from([200, 700, 1365, 2048, 4096]),
    st.sampled_from(["", "a", "ab", "\U0001f600", "line\n"]),
).map(lambda text: text.encode()[:32_000].decode(errors="ignore"))


def view(**other: Any) -> dict[str, Any]:
    """An ask as the door shows it."""
    usual = {
        "ref": "ask:ask_x", "kind": "ask", "space": "fleet", "trail": "ask_x", "code": "k3v9qa", "state": "pending",
        "says": "", "digest": "1a2b3c4d" * 8, "by": "agent:codex", "byline": "codex (via cursor)", "summary": "Deploy",
        "where": "job:checkout", "risk": "normal", "made": NOW, "deadline": NOW + 86_400_000, "until": 0, "options": [],
        "allow": ["approve", "reject"], "asked": [ANA, "human:bo"], "delivery": {}, "thread": [], "decided": None,
        "closed": None, "simulated": False, "now": NOW, "url": "", "groups": [], "look_at": 0,
        "to": [{"who": ANA, "chat": 1, "can": ["approve", "reject", "ask_back"], "silent": False, "wanted": True}],
    }  # fmt: skip
    shown = {**usual, **other}
    return {"open": shown["state"] in ("pending", "open"), **shown}


def all_pages(shown: dict[str, Any], copy: Copy = COPY) -> list[Message]:
    """The card, turned through from the first page to the last."""
    pages, _ = layout_of(shown, ANA)
    copies = [replace(copy, page=page, pages=pages, seen=tuple(range(page + 1))) for page in range(pages)]
    return [render(shown, ANA, each) for each in copies]


def offered(message: Message) -> list[str]:
    """The verbs of its buttons."""
    return [read(button["callback_data"])[0] for row in message.rows for button in row if "callback_data" in button]


def check(message: Message) -> None:
    """Every limit of Telegram's, with what its server would make of it; and nothing that cannot be seen."""
    assert 0 < units(message.text) <= 4096
    assert len(message.text) <= 4096
    assert len(message.text.encode()) <= 16_384
    assert len(message.entities) <= 100
    assert checked(message.text, [dict(e) for e in message.entities], most=100) == (
        message.text,
        list(message.entities),
    )
    assert visible(message.text.replace("\n", "").replace("️", ""))
    for row in message.rows:
        assert 1 <= len(row) <= 3
        for button in row:
            assert 1 <= units(button["text"]) <= 64
            assert len(button.get("callback_data", "").encode()) <= 64
    assert json.loads(json.dumps(message.entities)) == list(message.entities)


def check_whole(pages: Sequence[Message], value: Any) -> None:
    """All pages keep the limits, show the payload, and the last one alone lets it be approved."""
    for page in pages:
        check(page)
        assert page.pages == len(pages)
        assert ("approve" in offered(page)) == (page is pages[-1])
        assert "reject" in offered(page)
    assert rfc8785.dumps(payload(pages)) == rfc8785.dumps(value)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(VALUES, TEXTS.filter(bool))
def test_a_payload_can_be_read_back_from_its_card(value: Any, summary: str) -> None:
    """So two payloads that differ never look the same; and the summary is there, on one line."""
    pages = all_pages(view(payload=value, summary=summary))
    check_whole(pages, value)
    assert pages[0].text.split("\n")[0].startswith('codex asks: "')


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(LONG, st.booleans())
def test_a_long_payload_is_paged_whole(text: str, nested: bool) -> None:
    """Wherever a page ends, in emoji, escapes or lines, nothing is lost, doubled or torn."""
    value = {"steps": [{"note": text, "n": 1}, text[:4096]]} if nested else text
    check_whole(all_pages(view(payload=value)), value)


@pytest.mark.parametrize("size", [0, 1, 2300, 2400, 4094, 4095, 4096, 4097, 8192])
@pytest.mark.parametrize("sign", ["a", "é", "字", "😀", "\u200b", "\n", "\\"])
def test_no_length_is_one_too_many(size: int, sign: str) -> None:
    """Around what a message holds, in every width of a character."""
    check_whole(all_pages(view(payload=sign * size)), sign * size)


@pytest.mark.parametrize("sign", ["a", "\u200b", "א1 ", "<&_*[", "\n", "e\u0301", "😀"])
def test_a_megabyte_goes_straight_through(sign: str) -> None:
    """As one text, and as many small values: the first page, one in the middle and the last keep all limits."""
    text = sign * (1_000_000 // len(sign.encode()))
    for value in (text, [sign] * 30_000, {f"{n}": sign for n in range(30_000)}):
        shown = view(payload=value)
        pages, _ = layout_of(shown, ANA)
        for page in (0, pages // 2, pages - 1):
            message = render(shown, ANA, replace(COPY, page=page, pages=pages))
            check(message)
            assert "approve" not in offered(message)
        assert "approve" in offered(render(shown, ANA, replace(COPY, page=1, pages=pages, seen=tuple(range(pages)))))


def test_a_payload_as_deep_as_it_gets_is_shown() -> None:
    """Depth costs no more than size."""
    deep: Any = "end"
    for _ in range(100_000):
        deep = [deep]
    assert layout(deep).count("[") + layout(deep).count("1.") >= 100_000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (None, "null"),
        (True, "true"),
        ([], {}),
        ([1], {"1": 1}),
        ("", None),
        ({"a": None}, {}),
        ({"a": "b\nc: d"}, {"a": "b", "c": "d"}),
        ("a\nb", "a\\nb"),
        (["a", "b"], ["a\n  2. b"]),
        ("x" * 5000 + "\n", "x" * 5000),
        ("\u05d01", "1\u05d0"),
        ({"\u05d0": "\u05d1"}, {"\u05d1": "\u05d0"}),
    ],
)
def test_what_is_easily_taken_for_the_same_looks_different(one: Any, other: Any) -> None:
    """Values of another kind, keys and lists, and texts that imitate the layout."""
    assert [m.text for m in all_pages(view(payload=one))] != [m.text for m in all_pages(view(payload=other))]


def test_no_payload_is_not_null() -> None:
    """The card says that there is none."""
    assert payload(all_pages(view())) is ABSENT
    assert "No payload" in all_pages(view())[0].text
    assert payload(all_pages(view(payload=None))) is None


def test_the_order_of_keys_does_not_show() -> None:
    """It is the same payload, by its digest too."""
    assert all_pages(view(payload={"b": 1, "a": 2})) == all_pages(view(payload={"a": 2, "b": 1}))


VERDICT = {"by": ANA, "via": "telegram", "at": NOW, "verdict": "approve", "reason": "r" * 1000}
THREAD = [{"by": "human:bo", "byline": "bo", "kind": "question", "text": "why\u202e " * 100, "at": NOW}] * 5


@pytest.mark.parametrize(
    "other",
    [
        {"state": "approved", "decided": VERDICT, "until": NOW},
        {"state": "redeemed", "decided": VERDICT, "closed": {"by": "agent:" + "c" * 63, "at": NOW}},
        {"state": "taken_back", "decided": VERDICT, "closed": {"by": "human:" + "b" * 63, "at": NOW}},
        {"state": "lapsed", "decided": VERDICT, "closed": {"by": "", "at": NOW}},
        {"state": "expired"},
        {"state": "withdrawn"},
        {"thread": THREAD},
        {"asked": [f"human:{n}{'x' * 60}" for n in range(100)], "thread": THREAD, "url": "https://example.org/a"},
    ],
)
@pytest.mark.parametrize("size", [0, 2500, 9000])
def test_what_comes_later_moves_no_word_to_another_page(other: dict[str, Any], size: int) -> None:
    """A page that was shown stays shown, whatever happens; and the card keeps all limits."""
    asked = view(payload={"text": "w" * size}, summary="s" * 1000, byline="codex (via " + "v" * 60 + ")")
    later = {**asked, **other, "simulated": False}
    assert layout_of(later, ANA) == layout_of(asked, ANA)
    for before, after in zip(all_pages(asked), all_pages(later), strict=True):
        check(after)
        assert [covered(before, e) for e in before.entities if e["type"] == "pre"] == [
            covered(after, e) for e in after.entities if e["type"] == "pre"
        ]


def test_the_first_line_is_for_the_lock_screen() -> None:
    """Who asks and for what, on one line; and once it is decided, first of all how."""
    summary = "Drop the table\nand all\u202e of it"
    assert (
        all_pages(view(summary=summary))[0].text.split("\n")[0] == r'codex asks: "Drop the table\nand all\u202e of it"'
    )
    later = view(summary=summary, state="rejected", decided={**VERDICT, "verdict": "reject", "reason": "Not now"})
    text = all_pages(later)[0].text
    assert text.startswith('Rejected · codex asked: "Drop')
    assert "Rejected by ana on Telegram, " in text
    assert 'Reason: "Not now"' in text


def test_what_agents_wrote_is_no_link_and_no_command() -> None:
    """All of it stands in code or pre, where Telegram finds nothing to press."""
    hostile = "/unpair @someone https://example.org #tag"
    thread = [{"by": "agent:codex", "byline": hostile, "kind": "answer", "text": hostile, "at": NOW}]
    shown = view(summary=hostile, payload={hostile: hostile}, byline=hostile, where=f"job:{hostile}", thread=thread,
                 options=[hostile * 3], allow=["answer", "reject"])  # fmt: skip
    for page in all_pages(shown):
        raw = bytearray(page.text.encode("utf-16-le"))
        for entity in page.entities:
            if entity["type"] in ("code", "pre"):
                raw[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])] = b"\0\0" * entity["length"]
        bare = raw.decode("utf-16-le")
        assert not any(sign in bare for sign in ("/unpair", "@", "https:", "#"))


def test_a_long_summary_stands_below_whole() -> None:
    """The first line is cut, and says so."""
    pages = all_pages(view(summary="s\u200b" * 500, payload=1))
    assert pages[0].text.split("\n")[0].endswith("…")
    assert part(pages, "Summary") == '"' + r"s\u200b" * 500 + '"'


def test_long_options_are_numbered_and_stand_whole_on_the_card() -> None:
    """Short ones are their own buttons."""
    can = [{"who": ANA, "chat": 1, "can": ["answer", "reject", "ask_back"], "silent": False, "wanted": True}]
    short = all_pages(view(options=["yes", "no"], allow=["answer", "reject"], to=can))[0]
    assert [b["text"] for b in short.rows[0]] == ["yes", "no"]
    assert part([short], "Answers") is None
    options = ["Keep everything exactly as it is until the next window", "no\u200b"]
    long = all_pages(view(options=options, allow=["answer", "reject"], to=can))[0]
    assert [row[0]["text"] for row in long.rows[:2]] == ["1. Keep everything exactly as it is until…", r"2. no\u200b"]
    assert part([long], "Answers") == f'1. "{options[0]}"\n2. "no\\u200b"'
    assert [read(row[0]["callback_data"])[:2] for row in long.rows[:2]] == [("opt", 0), ("opt", 1)]


def test_who_may_do_nothing_gets_no_buttons() -> None:
    """An approver no more, an older copy, a group, and what is over."""
    gone = view(payload=1, to=[{"who": ANA, "chat": 1, "can": [], "silent": False, "wanted": False}])
    assert not all_pages(gone)[0].rows
    assert not all_pages(view(payload=1, to=[]))[0].rows
    old = all_pages(view(payload=1), replace(COPY, live=False))[0]
    assert not old.rows
    assert "newer card" in old.text
    notice = render(view(payload={"secret": 1}), "chat:-100", replace(COPY, to="chat:-100"))
    check(notice)
    assert not notice.rows
    assert "secret" not in notice.text


def test_high_risk_is_not_approved_here() -> None:
    """The card says where, with a button that opens it where there is https."""
    can = {"who": ANA, "chat": 1, "can": ["reject", "ask_back"], "silent": False, "wanted": True}
    shown = all_pages(view(payload=1, risk="high", to=[{**can, "link": "https://example.org/inbox/ask_x"}]))[0]
    check(shown)
    assert "High risk" in shown.text.split("\n")[1]
    assert offered(shown) == ["reject", "ask"]
    assert shown.rows[-1][0] == {"text": "Decide in the console", "url": "https://example.org/inbox/ask_x"}
    plain = all_pages(view(payload=1, risk="high", to=[{**can, "link": "http://127.0.0.1:8765/x"}]))[0]
    assert len(plain.rows) == 2


def test_a_text_that_was_redacted_says_so() -> None:
    """Nothing of it can be approved, and the card has one page."""
    can = [{"who": ANA, "chat": 1, "can": ["reject"], "silent": False, "wanted": True}]
    shown = all_pages(view(summary=None, cannot="The text was redacted, so it cannot be approved.", to=can))
    assert len(shown) == 1
    check(shown[0])
    assert "The text was redacted" in shown[0].text.split("\n")[0]
    assert offered(shown[0]) == ["reject"]


def test_what_is_handed_over_is_accepted_or_declined() -> None:
    """An item has neither risk nor digest; a seat is answered."""
    can = {"who": ANA, "chat": 1, "can": ["accept", "decline"], "silent": False, "wanted": True}
    item = view(kind="item", ref="item:ci_x", state="open", digest="", code="", risk="", allow=[], to=[can])
    shown = all_pages(item)[0]
    check(shown)
    assert shown.text.startswith('codex hands over: "Deploy"')
    assert offered(shown) == ["accept", "decline"]
    seat = all_pages({**item, "huddle": "hd_x", "to": [{**can, "can": ["answer", "decline"]}]})[0]
    assert offered(seat) == ["answer", "decline"]
    said = {"by": ANA, "via": "telegram", "at": NOW, "reason": "not mine"}
    over = {**item, "state": "declined", "open": False, "decided": said}
    assert all_pages(over)[0].text.startswith("Declined · codex handed over")


def test_the_same_look_has_the_same_hash() -> None:
    """And another page, verdict or button another one."""
    one = all_pages(view(payload="x" * 9000))
    assert [m.hash for m in one] == [m.hash for m in all_pages(view(payload="x" * 9000))]
    assert len({m.hash for m in one}) == len(one)
    assert unicodedata.is_normalized("NFC", one[0].text)
