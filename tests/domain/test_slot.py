"""Slots: a write that names the revision it saw."""

import pytest

from store.domain.errors import Refused
from store.domain.slot import Now, check_revision


def test_the_revision_that_stands_is_let_through() -> None:
    """No Now yet is revision 0."""
    check_revision(None, 0, who="agent:grok")
    check_revision(Now(id="agent:grok", revision=3), 3, who="agent:grok")


@pytest.mark.parametrize(("now", "seen"), [(None, 1), (Now(id="agent:grok", revision=3), 2)])
def test_c08_an_older_one_is_refused_with_the_call_that_helps(now: Now | None, seen: int) -> None:
    """The refusal names the current revision, and whom to look at."""
    with pytest.raises(Refused) as no:
        check_revision(now, seen, who="agent:grok")
    assert no.value.code == "stale"
    assert no.value.facts["revision"] == (now.revision if now else 0)
    assert no.value.message.endswith('Look again: logmem_view {what: "agent:grok"}')
