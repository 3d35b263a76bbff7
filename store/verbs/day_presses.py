"""What people press on the message of a day's syncs: each is about the window that the button was shown for.

Whatever has become of the day since, a press never checks in for another window.
"""

from dataclasses import replace
from typing import NoReturn

from ..domain import sync as rules
from ..domain.commit import Commit
from ..domain.day import day_of, windows_on
from ..domain.errors import Refused
from ..domain.occurrence import Occurrence
from ..domain.sync import CheckIn, Window, checkin_id, windows_of
from ..engine.reads import Doc
from .call import Call, Result, Row
from .rhythm import attend
from .sync import check_in, near_now

ALL_GOOD = "All good"  # the notes of a check-in by one press
STOPPED = (
    "No sync message of {0} comes to you any more, and no check-in of yours is expected there. "
    "To turn them on, and be expected: /sync on {0}"
)
SAY = "To say something about this sync, press Attention… and reply to what comes then. Nothing was written."


async def _check_in(call: Call, *, day: str, slot: str, outcome: str, notes: str = "") -> Commit:
    """Check in for a window of this day. Refuses window_not_open, window_closed, already_checked_in.

    Without words invalid_argument, but where all is good.
    """
    window = await _open(call, day, slot)
    said = notes or (ALL_GOOD if outcome == "pass" else "")
    made = await check_in(call, receipt=True, slot=window.slot, outcome=outcome, notes=said)
    says = f"You are in for {window.slot} of {window.day}: {outcome}."
    return replace(made, result={**made.result, "says": says})


async def _may_check_in(call: Call, *, day: str, slot: str) -> Result:
    """Whether one can, before somebody is asked for words. Refuses what the check-in does."""
    window = await _open(call, day, slot)
    return {"slot": window.slot, "day": window.day, "says": f"{window.slot} of {window.day} is open."}


async def _open(call: Call, day: str, slot: str) -> Window:
    """The window, which is open, and in which the caller is not in yet."""
    await call.admit()
    planned, on, near = windows_of(call.space), day_of(day), near_now(call)
    here, *known = await call.read_each([Doc(Occurrence, f"{day}:{slot}"), *near])
    windows = rules.with_ended(planned, known, now=call.now)
    own = {each.slot: each for each in rules.as_planned(planned, [here], now=call.now)}
    window = next((w for w in windows_on(windows, on, own) if w.slot == slot), None) if on else None
    if window is None:
        raise Refused("not_found", f"There is no such window on {day}. Nothing was written. To see the windows: /sync")
    first = await call.read(Doc(CheckIn, checkin_id(call.me, window)))
    if first:
        raise rules.already(first, (await call.recall([first.said])).get(first.said), now=call.now)
    return rules.check_open(windows, window, slot=slot, now=call.now)


async def _stop(call: Call, *, day: str) -> Commit:
    """Have no such message any more."""
    made = await attend(call, on=False)
    return replace(made, result={**made.result, "says": STOPPED.format(call.caller.space)})


async def _replied(call: Call, *, day: str, text: str = "") -> NoReturn:
    """A reply to the message itself says nothing. Refuses invalid_argument."""
    raise Refused("invalid_argument", SAY, argument="text")


CHECK_IN, MAY_CHECK_IN = Row("check_in", "write", _check_in), Row("may_check_in", "read", _may_check_in)
STOP, REPLIED = Row("stop", "write", _stop), Row("replied", "read", _replied)
