"""What the scheduler will do in a space, and when: the windows ahead, and what is due next of each job.

Read by the operator's command alone; nothing is decided here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..domain import calendar
from ..domain.calendar import Windows, unusual, windows_of
from ..domain.moments import HOUR, SECOND, iso
from ..domain.text import one_line
from .call import Call, Result, Row
from .due import WAKES, Due, due, leads

HOURS = (1, 24 * 14)
_DAY = timedelta(days=1)


async def _ahead(call: Call, *, hours: int) -> Result:
    """The windows that open, are late or close within so many hours, and each job.

    Times in UTC, and as the space's clock shows them. Refuses store_unavailable.
    """
    await call.admit()
    name, store, space = call.caller.space, call.store, call.space
    found, led = (await due(store, [name]))[name], await leads(store)
    windows = windows_of(space)
    return {
        "now": iso(found.now),
        "local": windows.local(found.now),
        "zone": windows.zone,
        "paused": space.paused,
        "hours": hours,
        "leader": {
            "leads": led is not None and led.left > 0,
            "epoch": led.epoch if led else 0,
            "for_s": abs(led.left) // SECOND if led else None,
            "here": found.epoch,
        },
        "windows": list(_windows(windows, found.now, hours * HOUR)),
        "jobs": list(_jobs(windows, found)),
    }


@dataclass(frozen=True, slots=True)
class _Turn:
    """A moment of a window, and what the scheduler does at it."""

    at: int
    does: str


def _windows(windows: Windows, now: int, span: int) -> Iterator[Result]:
    """The windows that are open, or open within the span, in their order; those of holidays too."""
    day, end = windows.today(now), windows.today(now + span) + _DAY
    while day <= end:
        for window in windows.on(day):
            if window.closes > now and window.opens <= now + span:
                turns = (
                    ()
                    if window.skipped or window.opens >= window.closes
                    else (
                        _Turn(window.opens, "opens"),
                        _Turn(window.late, "whoever is expected and not in is overdue, and told"),
                        _Turn(window.closes, "is accounted for"),
                    )
                )
                note = f"No sync: {one_line(window.skipped, 80)}." if window.skipped else unusual(windows, window)
                yield {
                    **calendar.times(windows, window),
                    "state": window.state(now),
                    "turns": [
                        {"at": iso(turn.at), "local": windows.local(turn.at), "does": turn.does, "past": turn.at <= now}
                        for turn in turns
                    ],
                    **({"note": note} if note else {}),
                }
        day += _DAY


def _jobs(windows: Windows, found: Due) -> Iterator[dict[str, Any]]:
    """What wakes each job next, by what stands in the space now; `at` is null where nothing does."""
    for wake in WAKES:
        at = found.at(wake)
        known = (
            {"at": iso(at), "local": windows.local(at), "in_s": max(0, at - found.now) // SECOND}
            if at
            else {"at": None}
        )
        yield {"job": wake.job, "says": wake.says, **known, "due": bool(at) and at <= found.now}


AHEAD = Row("ahead", "read", _ahead)
