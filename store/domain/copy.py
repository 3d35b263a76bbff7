"""A copy of a card: one message on one person's phone. What was sent, what was shown of it, and whose press counts.

The bot keeps these records; a press is checked against them by whoever decides.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .errors import Refused

State = Literal["pending", "sending", "sent", "uncertain", "unreachable", "failed"]

PAGES = 512  # that a card has at most: three times what the largest payload takes
TOKEN = re.compile(r"[A-Za-z0-9_-]{12}")
MOST = 2**53  # no number of ours or of Telegram's is as large
TEXTS = {  # the form of each text that a record holds
    "token": TOKEN,
    "ref": re.compile(r"[a-z]{1,20}:[A-Za-z0-9._:-]{1,120}"),
    "to": re.compile(r"human:[a-z0-9][a-z0-9._-]{0,62}|chat:-?[0-9]{1,16}(?:/[0-9]{1,16})?"),
    "digest": re.compile(r"[ -~]{0,128}"),
    "shown": re.compile(r"[ -~]{0,128}"),
    "layout": re.compile(r"[ -~]{0,128}"),
    "why": re.compile(r"(?s).{0,1000}"),
}
NUMBERS: Mapping[str, tuple[int, int]] = {  # the least of each number that a record holds, and the first too large
    "chat": (-MOST, MOST),
    "thread": (0, MOST),
    "message": (0, MOST),
    "pages": (1, PAGES + 1),
    "page": (0, PAGES),
    "sent": (0, MOST),
    "opened": (0, MOST),
    "missed": (0, MOST),
    "bot": (0, MOST),
    "push": (0, MOST),
    "heard": (0, MOST),
}

STEPS = {  # the only place where the state of a copy may change
    ("pending", "send"): "sending",
    ("sending", "delivered"): "sent",
    ("sending", "timed_out"): "uncertain",  # it may have arrived: its buttons stay good, and another copy is sent
    ("sending", "crashed"): "uncertain",
    ("uncertain", "pressed"): "sent",  # who presses it has it
    ("uncertain", "blocked"): "unreachable",  # it is edited where its message is known all the same
    ("sending", "pressed"): "sent",  # sooner than Telegram has told us that it arrived
    ("pending", "blocked"): "unreachable",
    ("sending", "blocked"): "unreachable",
    ("sent", "blocked"): "unreachable",
    ("sending", "refused"): "failed",
    ("sending", "put_off"): "pending",  # it was refused before it took effect: too many requests, or no connection
}


@dataclass(frozen=True, kw_only=True)
class Copy:
    """`token` stands in its buttons, and belongs to this copy alone. `to` is a person or `chat:<id>` (a notice).

    `digest` is of the ask as this copy shows it ('' for an item); `pages` how many the card has and `seen` which of
    them were shown, from 0; `shown` names the last rendering, so that the same is not sent twice; times in ms.
    `live` is false for a copy that a newer one has taken the place of. `bot` is the number of the bot whose message it
    is (0: not known), `layout` names how what it shows is split into pages, which `seen` hangs on, `push` is how often
    its person had been reminded when it was sent, `heard` the last answer to them that they were told of, and `missed`
    when a change was tried that did not reach them.
    """

    token: str
    ref: str
    to: str
    chat: int
    thread: int = 0
    message: int = 0
    state: State = "pending"
    digest: str = ""
    pages: int = 1
    page: int = 0
    seen: tuple[int, ...] = ()
    shown: str = ""
    live: bool = True
    sent: int = 0
    opened: int = 0
    why: str = ""
    bot: int = 0
    layout: str = ""
    push: int = 0
    heard: int = 0
    missed: int = 0

    @property
    def read(self) -> int:
        """How many of its pages were shown."""
        return len({page for page in self.seen if 0 <= page < self.pages})

    @property
    def whole(self) -> bool:
        """Whether every page of it was shown."""
        return self.read == self.pages

    @property
    def sound(self) -> bool:
        """Whether everything in it can be so. Its types are what they say."""
        return (
            all(form.fullmatch(getattr(self, name)) for name, form in TEXTS.items())
            and all(low <= getattr(self, name) < high for name, (low, high) in NUMBERS.items())
            and len(self.seen) <= self.pages
            and all(0 <= page < self.pages for page in self.seen)
        )

    def line(self) -> str:
        """As it is stored."""
        return json.dumps(vars(self), ensure_ascii=False, separators=(",", ":"))


def copy_from(line: str | bytes) -> Copy:
    """The copy that was stored so."""
    found = json.loads(line)
    return Copy(**{**found, "seen": tuple(found["seen"])})


def step(copy: Copy, event: str, **more: object) -> Copy:
    """The copy one step on. Raises KeyError for a step that is not in the table."""
    return replace(copy, state=STEPS[copy.state, event], **more)  # type: ignore[arg-type] # a table's words and fields


def check_press(copy: Copy | None, *, user: int, chat: int, message: int, holder: str = "") -> Copy:
    """The copy that a press was made on. Refuses not_found (no such button, or not on this message), not_yours.

    A private chat has the number of its person, so a press in any other chat is nobody's. `holder` is the token of the
    copy that this message is known to be, '' for none: a copy whose message is not known is on no other one's.
    """
    known = copy is not None and (copy.message == message if copy.message else holder in ("", copy.token))
    if copy is None or not known:
        raise Refused("not_found", "This button is not in use any more. Nothing changed. See /pending.")
    if copy.chat != chat or copy.chat != user:
        raise Refused("not_yours", "This card was sent to somebody else. Nothing changed.")
    return copy


def check_whole(copy: Copy, *, digest: str) -> None:
    """Let what the card asks be approved or answered on it. Refuses stale (not all was shown), digest_mismatch."""
    if copy.digest != digest:
        raise Refused("digest_mismatch", "This card does not show what is asked. Nothing changed. See /pending.")
    if not copy.whole:
        missing = copy.pages - copy.read
        raise Refused("stale", f"{missing} of {copy.pages} pages were not shown yet. Nothing changed. Read them first.")
