"""Every key, spelled once. A space is one hash slot, `lm:{<space>}:…`; shared records are `lm:{g:<class>:<id>}`.

A user's rights go by patterns such as `lm:{*}:tg:*`, and parts of some keys are chosen by agents (the label of a
trail). So that no label can make a key look like one of another class, `}:` stands once in a key: after its space.
"""

from dataclasses import dataclass

SLOTS = ("who", "now")  # kinds of documents that stand at `agent:<id>:<kind>`, as in the manual
BARE = ("due", "idle", "idle:queue")  # indexes of the whole space


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one space."""

    space: str

    def _key(self, *parts: str) -> str:
        return f"lm:{{{self.space}}}:" + _inner(":".join(parts))

    @property
    def log(self) -> str:
        """Base of the ledger's segments; a segment is `log:<number>`."""
        return self._key("log")

    def segment(self, number: int) -> str:
        return self._key("log", str(number))

    @property
    def head(self) -> str:
        """Where the ledger ends: {seq, ms, h}."""
        return self._key("head")

    @property
    def clock(self) -> str:
        """Offset of a simulated space's clock in ms; only lm-admin writes it."""
        return self._key("clock")

    @property
    def feed(self) -> str:
        return self._key("feed")

    def doc(self, kind: str, id: str) -> str:
        return self._key(id, kind) if kind in SLOTS else self._key("doc", kind, id)

    def index(self, name: str, owner: str) -> str:
        return self._key(name) if name in BARE else self._key("ix", name, owner)

    def place(self, place: str) -> str:
        """List of the numbers of the entries in a place's Log."""
        return self._key("place", place)

    def done(self, principal: str, action: str) -> str:
        """Idempotency record of one action."""
        return self._key("done", principal, action)

    def mail(self, id: str) -> str:
        """Text of a mailbox note."""
        return self._key("mail", id)

    @property
    def leader(self) -> str:
        """The epoch of the scheduler that wrote here last: {epoch}."""
        return self._key("leader")

    @property
    def outbox(self) -> str:
        """Refs whose cards may have to change, by when they were marked (microseconds)."""
        return self._key("tg", "outbox")

    @property
    def open_cards(self) -> str:
        """Refs with copies that can still change, by when they are to be looked at again (ms)."""
        return self._key("tg", "open")

    @property
    def term(self) -> str:
        """The epoch of the bot's latest term that has written here."""
        return self._key("tg", "term")

    def card(self, ref: str) -> str:
        """The copies of a ref's card that were ever sent, by their tokens."""
        return self._key("tg", "card", ref)


def shared(kind: str, id: str) -> str:
    """A record of no space: classes key, session, link, person, spaces, scheduler; the bot's tg:button and more."""
    return f"lm:{{g:{kind}:{_inner(id)}}}"


def of_bot(name: str) -> str:
    """What the bot keeps for itself (inbox, words, seen, dead, lease:<name>, spaces, state): one slot for all."""
    return f"lm:{{g:tg}}:{_inner(name)}"


def _inner(name: str) -> str:
    """Without `}:`; different names stay different."""
    return name.replace("}", "}_") if "}" in name else name
