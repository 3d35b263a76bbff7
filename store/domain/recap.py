"""The recap of a shift that ended by itself, made from the shift's own entries."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .entry import SUMMARY_LIMIT, Entry, Logged
from .moments import span
from .shift import IDLE, Shift
from .text import one_line

READ = 50  # of an agent's last entries
QUOTED = 3  # of them that are quoted
WORDS, DOING = 160, 200  # characters of an entry, and of what was being done
OWN = ("started", "recap")  # kinds that say nothing of the work


def of_shift(entries: Iterable[Logged], shift: Shift) -> list[Logged]:
    """Those that the agent wrote in this shift, oldest first, but for its beginning."""
    mine = (e for e in entries if e.entry and e.entry.by == shift.id and e.entry.kind not in OWN)
    return sorted((e for e in mine if e.ts >= shift.since), key=lambda e: e.seq)


def summary(shift: Shift, own: list[Logged], *, doing: str = "") -> str:
    """What was written in the shift, counted by kind, the last of it quoted, and what was being done."""
    said = [f"Shift {shift.number} ended by itself, after {span(IDLE)} without a write."]
    kinds = Counter(e.entry.kind for e in own if e.entry)
    if own:
        counts = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=lambda each: (-each[1], each[0])))
        more = " or more" if len(own) >= READ else ""
        said.append(f"{len(own)}{more} entr{'y' if len(own) == 1 else 'ies'}: {counts}.")
        said.append("Last: " + "; ".join(_quoted(e.entry) for e in own[-QUOTED:] if e.entry) + ".")
    else:
        said.append("Nothing was written in it.")
    if doing:
        said.append(f"It was at: {one_line(doing, DOING)}.")
    return " ".join(said)[:SUMMARY_LIMIT]


def payload(shift: Shift, own: list[Logged]) -> dict[str, Any]:
    """What goes along with it: the shift, no next steps since nobody said any, and the entries that are quoted."""
    return {"shift": shift.number, "next": [], "auto": True, "from": [e.id for e in own[-QUOTED:]]}


def _quoted(entry: Entry) -> str:
    return f"{entry.kind} in {entry.where}, {one_line(entry.summary, WORDS)}"
