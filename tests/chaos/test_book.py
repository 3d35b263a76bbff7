"""The checker itself: it sees what it is there to see."""

import pytest

from store.domain.entry import Entry, Logged
from store.domain.errors import Refused
from tests.world import Result

from .api import Lost
from .book import Book


def lines(*summaries: str) -> list[Logged]:
    """A ledger with these notes."""
    made = [Entry(where="job:x", kind="memo", by="agent:a", via="token", client="", summary=s) for s in summaries]
    return [Logged(id=f"1-{n}", entry=entry) for n, entry in enumerate(made, 1)]


async def ended(code: str) -> Result:
    """A call that ends in this way."""
    if code == "lost":
        raise Lost
    if code != "ok":
        raise Refused(code, "no")
    return {"ok": True}


@pytest.mark.parametrize(
    ("code", "none", "once", "twice"),
    [
        ("ok", False, True, False),
        ("store_unavailable", True, False, False),
        ("busy", True, False, False),
        ("unconfirmed", True, True, False),
        ("lost", True, True, False),
    ],
)
async def test_the_book_knows_three_ends(code: str, none: bool, once: bool, twice: bool) -> None:
    """Ok is to be there once, failed not at all, unknown once or not; nothing may be there twice."""
    book = Book()
    await book.enter(("memo", "a"), ended(code))
    for holds, ledger in ((none, lines("b")), (once, lines("a", "b")), (twice, lines("a", "b", "a"))):
        if holds:
            book.check(ledger)
        else:
            with pytest.raises(AssertionError):
                book.check(ledger)


async def test_the_book_takes_no_other_refusal() -> None:
    """A refusal that does not belong into a burst of writers is a fault."""
    with pytest.raises(Refused, match="scope_denied"):
        await Book().enter(("memo", "a"), ended("scope_denied"))
