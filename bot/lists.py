"""What commands answer: short lists made from results of the door. An empty one says what was looked for.

Each takes a space's result and gives a text; what agents wrote stands in quotes, in `code`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from store.domain.moments import moment

from .saying import sentence, told
from .text import Text, bare, clipped, quoted

__all__ = [
    "attends", "board", "fleet", "heading", "hours", "on_call", "pending", "refused", "rights", "snooze", "sync",
    "ways", "whoami",
]  # fmt: skip

Result = Mapping[str, Any]

ROWS = 15
SUMMARY = 80  # UTF-16 units of a summary on a list
TO_CHECK_IN = "To check in: the buttons of the day’s message, or the page Syncs of the console."


def heading(found: Result) -> Text:
    """The space that something is told of, and whether it is simulated."""
    return Text().bold(found["space"]).add(" (simulated)" if found.get("simulated") else "")


def pending(found: Result, *, offered: int) -> Text:
    """What waits for somebody, after `offered` of it were sent anew."""
    asks, handed = found.get("count", 0), found.get("handed_count", 0)
    text = heading(found).line()
    if not asks + handed:
        text.add("Nothing waits for you: no ask is yours to decide, and nothing is handed to you.").line()
    else:
        parts = [_several(asks, "ask", "asks"), _several(handed, "handoff or seat", "handoffs and seats")]
        text.add(" and ".join(part for part in parts if part))
        text.add(" waits" if asks + handed == 1 else " wait").add(" for you. ")
        text.add(_follow(offered, asks + handed)).line()
    others = len(found.get("others") or ())
    if others:
        text.add(f"{_several(others, 'more ask waits', 'more asks wait')} for others to decide.").line()
    return text


def _follow(offered: int, all_of_it: int) -> str:
    if offered == all_of_it:
        return "The card follows." if offered == 1 else "The cards follow."
    return f"The {offered} that are due first follow." if offered else "They are in the console."


def fleet(found: Result) -> Text:
    """Who needs a look, who is at work, who is idle."""
    rows = found.get("principals") or []
    text = heading(found).line()
    if not rows:
        return text.add("No agent and no person is in this space.").line()
    counts = found.get("counts") or {}
    text.add(", ".join(f"{count} {state}" for state, count in counts.items())).line()
    for row in rows[:ROWS]:
        text.code(bare(row["id"])).add(f" {row['state']}")
        for name, words in (("blocked", " by "), ("doing", ": ")):
            if isinstance(row.get(name), str) and row[name]:
                text.add(words).code(quoted(row[name], SUMMARY))
                break
        if row.get("since"):
            text.add(", since ").time(moment(row["since"], now=0))
        text.line()
    return _rest(text, sum(counts.values()) - min(len(rows), ROWS))


def board(found: Result) -> Text:
    """Jobs by stage; what is done is counted only."""
    text = heading(found).line()
    stages = [stage for stage in found.get("stages") or [] if stage.get("count")]
    if not stages:
        return text.add("There is no job in this space.").line()
    left = ROWS
    for stage in stages:
        text.bold(str(stage["stage"]).replace("_", " ").capitalize()).add(f" {stage['count']}").line()
        shown: Sequence[Result] = [] if stage["stage"] == "done" else stage["jobs"][:left]
        left -= len(shown)
        for job in shown:
            text.code(job["job"].removeprefix("job:"))
            if job.get("title"):
                text.add(" ").code(quoted(job["title"], SUMMARY))
            text.add(f" with {bare(job['assignee'])}" if job.get("assignee") else "")
            text.add(", blocked" if job.get("blocked") else "").line()
    return text


def sync(found: Result) -> Text:
    """Which window is open, who is in, and who is not."""
    says = sentence(found.get("says") or "No window is in sight.")
    text = heading(found).line().add(clipped(says, 400)).line()
    fleet = found.get("fleet") or {}
    if fleet:
        text.add(_in(fleet)).line()
    for name, words in (("overdue", "Overdue: "), ("awaited", "Not in yet: ")):
        names = found.get(name)
        if isinstance(names, list) and names:
            text.add(words).code(_names(names)).line()
    return text.add(TO_CHECK_IN).line() if found.get("checked_in") is False else text


def _in(fleet: Result) -> str:
    """How many are in: of those who are expected, and beside them."""
    expected, others = fleet.get("expected", 0), fleet.get("others", 0)
    if not expected:
        return f"Nobody is expected, and {others or 'nobody'} {'are' if others > 1 else 'is'} in."
    beside = f", and {others} who {'was' if others == 1 else 'were'} not" if others else ""
    return f"{fleet.get('in', 0)} of {expected} expected {'is' if expected == 1 else 'are'} in{beside}."


def attends(found: Result) -> Text:
    """Whether somebody takes part in the syncs, and what that means."""
    return heading(found).line().add(clipped(sentence(found["says"]), 400)).line()


def on_call(found: Result) -> Text:
    """Whether somebody is on call, and who else is."""
    text = heading(found).line()
    others = found.get("others") or []
    if found["on_call"]:
        text.add("You are on call: asks that name nobody go to those on call first.")
    else:
        text.add("You are not on call.").add("" if others else " Nobody is, so asks go to every approver.")
    text.line()
    if others:
        text.add("Also on call: " if found["on_call"] else "On call: ").code(_names(others)).line()
    return text


def snooze(found: Result) -> Text:
    """Until when cards come without a sound."""
    text = heading(found).line()
    if found.get("snoozed_until"):
        text.add("Cards come without a sound until ").time(moment(found["snoozed_until"], now=0))
        return text.add(". High risk still sounds, and no deadline moves.").line()
    return text.add("Cards come with a sound.").line()


def ways(found: Result) -> Text:
    """How cards come to somebody in a space: who is on call, and when they come without a sound."""
    names = [*(["you"] if found.get("on_call") else []), *(found.get("others") or ())]
    text = Text().add("On call: ")
    text = text.code(_names(names)) if names else text.add("nobody")
    text.add(". Cards come ")
    if found.get("snoozed_until"):
        text.add("without a sound until ").time(moment(found["snoozed_until"], now=0))
    else:
        text.add("with a sound")
    if found.get("hours"):
        daily = found["hours"].replace("-", " to ")
        text.add(f", and without one each day from {daily} ({found.get('zone', '')})")
    return text.add(".").line()


def hours(found: Result) -> Text:
    """The hours of each day in which cards come without a sound."""
    text = heading(found).line()
    if not found.get("hours"):
        return text.add("No quiet hours. To set them: /quiet 22:00-07:00").line()
    text.add(f"From {found['hours'].replace('-', ' to ')} ({found.get('zone', '')}) cards come without a sound. ")
    return text.add("High risk still sounds, and no deadline moves.").line()


def whoami(who: str, *, account: int) -> Text:
    """Who somebody is here."""
    text = Text().add("You are ").code(bare(who)).add(", paired with the Telegram account ").code(str(account))
    return text.add(".").line()


def rights(found: Result) -> Text:
    """What somebody may in a space."""
    return heading(found).add(f": {', '.join(found.get('may') or ()) or 'nothing'}").line()


def refused(space: str, why: str) -> Text:
    """A space where what was asked for was not done, and why; what that quotes stays in quotes."""
    return Text().bold(space).line().join(told(why)).line()


def _several(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(bare(name) for name in names[:ROWS])
    return shown + (f" and {len(names) - ROWS} more" if len(names) > ROWS else "")


def _rest(text: Text, left: int) -> Text:
    return text.add(f"and {left} more in the console").line() if left > 0 else text
