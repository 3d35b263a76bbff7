"""The mailbox: texts for whoever comes next. The label stands in the ledger; the text beside it, for its life only."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .document import Document, Index, entry_id
from .moments import DAY, HOUR, MINUTE

TEXT_LIMIT = 64 * 1024  # bytes of UTF-8
LABEL_LIMIT = 120  # characters
LIFE = (5 * MINUTE, 72 * HOUR)  # bounds of a note's life
LIFE_DEFAULT = DAY


@dataclass(frozen=True, kw_only=True)
class MailNote(Document):
    """A text that anybody in the space may read until `expires` (ms); `size` in bytes. `posted` holds its label."""

    kind = "mail"
    by: str
    made: int
    expires: int
    size: int
    gone: bool = False
    posted: str = entry_id()

    def indexes(self) -> Iterator[Index]:
        if not self.gone:
            yield Index("mail", "", self.expires)
            yield Index("due", "", self.expires)

    def as_of(self, now: int) -> "MailNote":
        return replace(self, gone=True) if now >= self.expires and not self.gone else self
