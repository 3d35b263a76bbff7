"""Everything at once, and everything going wrong: see tests/telegram/chaos."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from store.domain.ask import Ask
from store.domain.entry import Entry, Logged
from tests.telegram.chaos.book import Book, Tap, Word, check, stories
from tests.telegram.chaos.load import Load
from tests.telegram.chaos.run import chaos
from tests.telegram.shown import Message, Toast

SEED = int(os.environ.get("LOGMEM_TEST_SEED", "5"))
FASTER = 20  # times Telegram's own limits, in the emulator and in the bot's setting alike


@pytest.mark.timeout(180)
async def test_short(tmp_path: Path) -> None:
    """Sixty asks to twelve people; bot, store and API are each killed once."""
    load = Load(
        asks=60, agents=15, people=12, seed=SEED, times=FASTER, think=0.4, kill_every=(1.0, 1.5), once=True
    )  # fmt: skip
    figures = await chaos(load, tmp_path)
    assert min(figures["deaths"].values()) >= 1, figures


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_long(tmp_path: Path) -> None:
    """Two thousand asks of fifty agents to forty people, while processes are killed from first to last."""
    load = Load(asks=2000, agents=50, people=40, seed=SEED, times=FASTER)
    figures = await chaos(load, tmp_path)
    assert min(figures["deaths"].values()) >= 2, figures  # the faster it is, the fewer


ANA, BO = "human:ana", "human:bo"
TRUE = Toast("ana approved this just now on Telegram.", False, None)


def told(*kinds: tuple[str, str]) -> list[Logged]:
    """The Log of one ask: `asked`, and then these, each with who did it."""
    made = [
        Entry(where="job:x", kind=kind, by=by, via="telegram", summary="Shall I ship part 0000?", trail="ask_a",
              payload={"verdict": "approve"})
        for kind, by in (("asked", "agent:a"), *kinds)
    ]  # fmt: skip
    return [Logged(id=f"1-{n}", entry=entry) for n, entry in enumerate(made, 1)]


def ask(state: str = "approved") -> Ask:
    """Its document."""
    return Ask(id="ask_a", by="agent:a", where="job:x", digest="", made=1, deadline=2, valid_for=1, state=state)


def tapped(toast: Toast | None = TRUE, *, who: str = ANA) -> Callable[[Book], None]:
    """Somebody has pressed Approve, and was told this."""

    def act(book: Book) -> None:
        book.pressed(Tap("1", who, 0, "v1:approve:x"))
        if toast:
            book.answered("1", {"text": toast.text, "alert": toast.alert, "url": None})

    return act


def asked_back(book: Book) -> None:
    """Somebody has asked a question, and was told that it is asked."""
    book.replies[1, 1] = "Your question is asked; the answer comes below the card."
    book.typed(1, 1, Word(ANA, 0, "Why?"))


def shown(book: Book) -> None:
    """Somebody has pressed Approve, and a card has shown that they rejected it."""
    tapped()(book)
    raw = {"message_id": 1, "chat": {"id": 1}, "text": "Rejected by ana\nShall I ship part 0000?", "date": 1}
    view = {"message": raw, "by_bot": True, "silent": False, "edits": 0, "deleted": False, "version": 1}
    book.saw(Message.read({**view, "special_markup": None}))


def nothing(book: Book) -> None:
    """Nobody has done anything."""


DONE = ("decided", ANA)
LIES: tuple[tuple[str, list[Logged], Ask, Callable[[Book], None], str], ...] = (
    ("all is well", told(DONE), ask(), tapped(), ""),
    (
        "it was refused in words",
        told(DONE),
        ask(),
        tapped(Toast("ana approved this. Nothing changed.", True, None)),
        "",
    ),
    ("it was not answered", told(DONE), ask(), tapped(None), ""),
    ("it was not stored", told(), ask("expired"), tapped(), "says that human:ana approved"),
    ("it was stored as somebody else's", told(("decided", BO)), ask(), tapped(), "says that human:ana approved"),
    ("it was told as one's own", told(DONE), ask(), tapped(who=BO), "as if it were theirs"),
    ("nothing was told", told(DONE), ask(), tapped(Toast("", False, None)), "told nothing"),
    ("something else was told", told(DONE), ask(), tapped(Toast("Done.", False, None)), "was 'Done.'"),
    ("it was decided twice", told(DONE, DONE), ask(), tapped(), "more than once"),
    ("nobody pressed", told(DONE), ask(), nothing, "did nothing"),
    ("it never ended", told(), ask("pending"), nothing, "has not ended"),
    ("the Log has no decision", told(), ask(), nothing, "is approved, and its Log has"),
    ("a card lied", told(DONE), ask(), shown, "a card of part 0 said"),
    ("a question was lost", told(DONE), ask(), asked_back, "is said to be asked, and is not"),
)


@pytest.mark.parametrize(("what", "log", "doc", "act", "wrong"), LIES, ids=[row[0] for row in LIES])
def test_the_book_sees_what_it_is_there_to_see(
    what: str, log: list[Logged], doc: Ask, act: Callable[[Book], None], wrong: str
) -> None:
    """One row: what stands in the Log and in the document, what somebody was told, and what is wrong with it."""
    book = Book()
    act(book)
    if not wrong:
        check(book, stories(log), {"ask_a": doc}, count=1)
        return
    with pytest.raises(AssertionError, match=wrong):
        check(book, stories(log), {"ask_a": doc}, count=1)
