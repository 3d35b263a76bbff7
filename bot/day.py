"""The message of a day's syncs, from the door's view of it. Pure: the same view gives the same message.

The first line is what a lock screen shows: what waits for whoever reads it, and who is blocked. Nothing in it passes by
itself (no `in 20 min`), so that a message changes only when something has happened.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from store.domain.calendar import SLOTS

from .buttons import Rows, data
from .message import Spelled
from .text import Text, bare, clipped, quoted

__all__ = ["KIND", "buttons", "is_day", "words"]

View = Mapping[str, Any]

KIND = "sync"
SAID = 100  # UTF-16 units of what somebody wrote
SENTENCE = 300  # of a sentence of the store's
DIGEST = 1500
NAMES = 5
DONE = "These syncs are over."
NEWER = "there is a newer message of this day below."
NOT_YOURS = "You get no sync messages. To turn them on, and be expected: /sync on {}"
ASKS = {"ask": " asks: ", "handoff": " hands over: ", "seat": " asks you in a huddle: "}
TROUBLE = {"blocked": " is blocked", "attention": " needs attention"}
LABELS = {"all_good": ("All good", "good"), "attention": ("Attention…", "attention")}
ALWAYS = {"show": ("Show", "show"), "stop": ("Stop these", "stop")}


def is_day(ref: str) -> bool:
    """Whether a ref is that of a day's message, which comes after whatever waits for a decision."""
    return ref.startswith("day:")


def words(view: View, to: str, *, live: bool) -> Text:
    """What it says to somebody; `live`: it is the newest of this day.

    An older one says that alone, and so is edited once.
    """
    if not live:
        return _day(view).add(NEWER).line()
    row: View = next((one for one in view["to"] if one["who"] == to), {})
    view = {**view, "blocked": [one for one in view["blocked"] if one["who"] != to]}  # what they said themselves
    text = _head(view, row)
    if view.get("simulated"):
        text.bold("Simulated space").line()
    for slot in view["slots"]:
        text.bold(slot["slot"].capitalize()).add(f" {clipped(slot['says'], SENTENCE)}").line()
    text.add("Space: ").code(view["space"]).add(f", times in {clipped(view['zone'], 40)}").line()
    text.join(_yours(row))
    if view["open"]:
        text.join(_waiting(row)).join(_blocked(view))
    elif row.get("closing"):
        text.line().bold("The day").line().add(clipped(row["closing"], DIGEST)).line()
    if view["open"] and not row.get("gets"):
        text.line().add(NOT_YOURS.format(view["space"])).line()
    return text


def _head(view: View, row: View) -> Text:
    text = _day(view)
    if not view["open"]:
        return text.add(DONE).line()
    waits = len(row.get("waiting") or ()) + row.get("left_out", 0)
    troubled = len(view.get("blocked") or ()) + view.get("blocked_left_out", 0)
    said = [f"{_counted(waits, row)} thing{' waits' if waits == 1 else 's wait'} for you"] if waits else []
    if troubled == 1:
        one = view["blocked"][0]
        said.append(f"{bare(one['who'])}{TROUBLE.get(one['outcome'], TROUBLE['blocked'])}")
    elif troubled:
        said.append(f"{troubled} are blocked or need attention")
    if not said:
        return text.add(clipped(view["says"], SENTENCE)).line()
    return text.add(f"{', '.join(said)}.").line()


def _day(view: View) -> Text:
    day = date.fromisoformat(view["day"])
    return Text().bold(f"Syncs of {day:%a} {day.day} {day:%b}").add(": ")


def _yours(row: View) -> Text:
    """How they checked in themselves."""
    came = row.get("yours") or {}
    said = ", ".join(f"{slot} {came[slot]}" for slot in SLOTS if slot in came)
    return Text().add(f"Your check-ins: {said}.").line() if said else Text()


def _waiting(row: View) -> Text:
    text, mine = Text(), row.get("waiting") or ()
    if not mine:
        return text
    text.line().bold("Waits for you").line()
    for one in mine:
        text.code(bare(one["by"])).add(ASKS.get(one["what"], ": "))
        text.code(quoted(one["says"], SAID) if one["says"] else "[redacted]").line()
    more = row.get("left_out", 0)
    return text.add(f"and {_counted(more, row)} more: /pending").line() if more else text


def _counted(count: int, row: View) -> str:
    """How many of the things that wait, of which there may be more than were counted."""
    return f"at least {count}" if row.get("or_more") else str(count)


def _blocked(view: View) -> Text:
    text, troubled = Text(), view.get("blocked") or ()
    if not troubled:
        return text
    text.line().bold("In the fleet").line()
    for one in troubled:
        text.code(bare(one["who"])).add(TROUBLE.get(one["outcome"], TROUBLE["blocked"]))
        if one["why"]:
            text.add(": ").code(quoted(one["why"], SAID))
        text.line()
    more = view.get("blocked_left_out", 0)
    return text.add(f"and {more} more: /fleet").line() if more else text


def buttons(view: View, to: str, *, token: str, live: bool) -> Rows:
    """What they can press; a check-in's buttons name the window that they are shown for."""
    row: View = next((one for one in view["to"] if one["who"] == to), {})
    can: Sequence[str] = row.get("can", ()) if live and view["open"] else ()
    slot = view.get("slot") or ""
    number = SLOTS.index(slot) if slot in SLOTS else -1
    rows: list[list[Spelled]] = []
    if number >= 0:
        rows.append(
            [
                {"text": label, "callback_data": data(f"{verb}{number}", token)}
                for name, (label, verb) in LABELS.items()
                if name in can
            ]
        )
    rows.append(
        [
            {"text": label, "callback_data": data(verb, token)}
            for name, (label, verb) in ALWAYS.items()
            if name in can
        ]
    )  # fmt: skip
    return tuple(tuple(each) for each in rows if each)
