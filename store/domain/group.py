"""A group on Telegram that gets notices of a space: what was asked and how it was decided. Nobody decides there."""

from collections.abc import Iterator
from dataclasses import dataclass

from .document import Document, Index


@dataclass(frozen=True, kw_only=True)
class Group(Document):
    """`id` is the number of the chat and of the topic in it (`group_id`); `by` who wanted it so; ms since when."""

    kind = "group"
    by: str
    since: int
    on: bool = True

    @property
    def chat(self) -> int:
        """The number of the chat."""
        return int(self.id.partition(":")[0])

    @property
    def thread(self) -> int:
        """The number of the topic, 0 for none."""
        return int(self.id.partition(":")[2])

    @property
    def who(self) -> str:
        """As whom it gets a copy of a card."""
        return f"chat:{self.chat}/{self.thread}" if self.thread else f"chat:{self.chat}"

    def indexes(self) -> Iterator[Index]:
        if self.on:
            yield Index("groups", "", self.since)


def group_id(chat: int, thread: int) -> str:
    """The id of the group that is this topic of this chat."""
    return f"{chat}:{thread}"
