"""Keys: when it is said that one ends soon."""

from dataclasses import replace

import pytest

from store.domain.document import Index
from store.domain.grant import Grant, end, renewed, warn_at
from store.domain.moments import DAY, HOUR

NOW = 1_796_000_000_000
KEY = Grant(id="k1", principal="agent:grok", via="token", created=NOW, expires=NOW + 90 * DAY)


@pytest.mark.parametrize(
    ("key", "at"),
    [
        (KEY, 83 * DAY),
        (replace(KEY, warned=NOW + 83 * DAY), 89 * DAY),
        (replace(KEY, warned=NOW + 88 * DAY), 89 * DAY),
        (replace(KEY, warned=NOW + 89 * DAY), None),
        (replace(KEY, expires=NOW + 7 * DAY), 6 * DAY),  # made for a week: that it ends in one is no news
        (replace(KEY, expires=NOW + DAY), None),
        (replace(KEY, expires=NOW + HOUR), None),
    ],
)
def test_when_a_key_ends_soon(key: Grant, at: int | None) -> None:
    """A week before and a day before, once each; the index has the next time, and nothing once there is none."""
    wanted = [] if at is None else [Index("warn", "", NOW + at)]
    assert warn_at(key) == (0 if at is None else NOW + at)
    assert [i for i in key.indexes() if i.name == "warn"] == wanted


def test_a_key_that_goes_on_is_warned_of_again() -> None:
    """Renewed it has a new end; revoked it has none; a session has no such end at all."""
    warned = replace(KEY, warned=NOW + 83 * DAY)
    again = renewed(warned, life=90 * DAY, now=NOW + 84 * DAY)
    assert warn_at(again) == again.expires - 7 * DAY
    for other in (replace(KEY, revoked=NOW), replace(KEY, via="console")):
        assert not [i for i in other.indexes() if i.name == "warn"]


@pytest.mark.parametrize("moved", [0, DAY])
def test_real_time_ends_a_session_and_the_space_s_clock_a_key(moved: int) -> None:
    """A clock that is moved takes the end of a session with it, and that of a key comes nearer."""
    session = replace(KEY, via="console", created=NOW + moved, expires=NOW + moved + 12 * HOUR, moved=moved)
    assert [end(session, moved=m) - NOW for m in (0, moved, 9 * DAY)] == [
        12 * HOUR,
        moved + 12 * HOUR,
        9 * DAY + 12 * HOUR,
    ]
    assert [end(KEY, moved=m) for m in (0, moved, 9 * DAY)] == [KEY.expires] * 3
    scores = {i.name: i.score for i in session.indexes()}
    assert scores == {"sessions": NOW + 12 * HOUR, "passing": NOW + 12 * HOUR}
