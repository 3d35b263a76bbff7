"""The recap of a shift that ended by itself: from its own entries, bounded, with what agents wrote in quotes."""

from store.domain.entry import SUMMARY_LIMIT, Entry, Logged, check_summary
from store.domain.recap import READ, of_shift, payload, summary
from store.domain.shift import Shift

SHIFT = Shift(id="agent:grok", number=3, credential="k1", since=1000)


def logged(seq: int, kind: str, text: str, *, by: str = "agent:grok", ts: int = 2000, where: str = "job:x") -> Logged:
    """An entry in the agent's Log."""
    return Logged(id=f"{ts}-{seq}", entry=Entry(where=where, kind=kind, by=by, via="token", summary=text))


def test_only_the_shift_s_own_entries_count() -> None:
    """What others wrote to the agent, what came before, and the beginning of a shift are not its work."""
    mine = [logged(9, "memo", "two"), logged(5, "progress", "one")]
    others = [
        logged(6, "memo", "x", by="agent:codex"),
        logged(4, "memo", "x", ts=999),
        logged(7, "started", "x"),
        logged(8, "recap", "x"),
        Logged(id="2000-10", entry=None),
    ]
    assert [e.summary for e in of_shift([*mine, *others], SHIFT)] == ["one", "two"]


def test_it_counts_and_quotes() -> None:
    """Kinds with their numbers, the last three in quotes on one line, and what was being done."""
    own = [logged(n, kind, f'said "{n}"\nmore') for n, kind in enumerate(("memo", "progress", "memo", "fix"), 1)]
    assert summary(SHIFT, own, doing="Moving") == (
        "Shift 3 ended by itself, after 30 min without a write. 4 entries: 2 memo, 1 fix, 1 progress. "
        r'Last: progress in job:x, "said \"2\"\nmore"; memo in job:x, "said \"3\"\nmore"; '
        r'fix in job:x, "said \"4\"\nmore". It was at: "Moving".'
    )
    assert payload(SHIFT, own) == {"shift": 3, "next": [], "auto": True, "from": ["2000-2", "2000-3", "2000-4"]}
    assert "1 entry: 1 memo." in summary(SHIFT, own[:1])


def test_it_is_bounded() -> None:
    """However long what was said is, the recap is an entry; and nothing is said of nothing."""
    own = [logged(n, "memo", "\u202e" * 1000, where=f"channel:{'c' * 63}") for n in range(1, READ + 1)]
    text = summary(SHIFT, own, doing="x" * 1000)
    check_summary(text)
    assert len(text) <= SUMMARY_LIMIT
    assert f"{READ} or more entries" in text
    assert summary(SHIFT, []) == "Shift 3 ended by itself, after 30 min without a write. Nothing was written in it."
