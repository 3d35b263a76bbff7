"""Groups that get notices: one for each topic of a chat."""

import pytest

from store.domain.document import Index
from store.domain.group import Group, group_id


@pytest.mark.parametrize(
    ("chat", "thread", "who"), [(-1007, 0, "chat:-1007"), (-1007, 4, "chat:-1007/4"), (-5, 1, "chat:-5/1")]
)
def test_a_group_is_a_chat_and_a_topic(chat: int, thread: int, who: str) -> None:
    """Its id holds both, and each topic gets copies of its own."""
    group = Group(id=group_id(chat, thread), by="human:ana", since=9)
    assert (group.chat, group.thread, group.who) == (chat, thread, who)
    assert list(group.indexes()) == [Index("groups", "", 9)]
