"""Every key, spelled once. A space is one hash slot, `lm:{<space>}:…`; shared records are `lm:{g:<class>:<id>}`."""

from dataclasses import dataclass

SLOTS = ("who", "now")  # kinds of documents that stand at `agent:<id>:<kind>`, as in the manual
BARE = ("due", "idle")  # indexes of the whole space


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one space."""

    space: str

    def _key(self, *parts: str) -> str:
        return f"lm:{{{self.space}}}:" + ":".join(parts)

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


def shared(kind: str, id: str) -> str:
    """A record that belongs to no space: classes key, session, link, person, spaces."""
    return f"lm:{{g:{kind}:{id}}}"
