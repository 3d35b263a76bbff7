"""What the rules say, told a second time and as plainly as can be: the model that the store is compared with.

Times are in minutes of the space's clock. Time moves by multiples of four, and nothing lasts such a multiple, so that
the seconds that a test takes never decide anything.
"""

from dataclasses import dataclass

OK = "ok"
STEP = 4  # minutes: time moves by multiples of this
LASTS = (6, 10)  # minutes that an ask waits, or an approval holds

APPROVERS = ("human:ana", "human:bo")
RESPONSIBLE = (
    "human:ana"  # who answers for the agents' keys, and may not decide high risk while there are two approvers
)


Content = tuple[str, str, int]  # summary, risk, payload


@dataclass
class Ask:
    """An ask as the model knows it."""

    trail: str
    digest: str
    by: str
    content: Content
    deadline: int
    holds: int
    state: str = "pending"
    lapses: int = 0
    settled_by: str = ""

    def now(self, minute: int) -> str:
        """Its state at this minute."""
        if self.state == "pending" and minute > self.deadline:
            return "expired"
        if self.state == "approved" and minute > self.lapses:
            return "lapsed"
        return self.state

    def unpending(self, minute: int) -> str:
        """The code for what only a pending ask takes, or OK."""
        return {"pending": OK, "expired": "expired"}.get(self.now(minute), "already_settled")

    def unapproved(self, minute: int) -> str:
        """The code for what only an approved ask takes, or OK."""
        codes = {"approved": OK, "redeemed": "already_redeemed", "lapsed": "lapsed", "taken_back": "taken_back"}
        return codes.get(self.now(minute), "not_approved")

    def decided(self, who: str, verdict: str, minute: int, *, right: bool) -> str:
        """The code of a decision."""
        if not self.eligible(who):
            return "not_an_approver"
        if self.unpending(minute) != OK:
            return self.unpending(minute)
        if not right:
            return "digest_mismatch"
        return OK if verdict in ("approve", "reject") else "invalid_argument"

    def eligible(self, who: str) -> bool:
        return who in APPROVERS and not (self.content[1] == "high" and who == RESPONSIBLE)

    def redeemed(self, who: str, payload: int | None, minute: int) -> str:
        """The code of a redemption."""
        if who != self.by:
            return "not_yours"
        return self.unapproved(minute) if payload in (None, self.content[2]) else "digest_mismatch"


@dataclass
class Item:
    """An item as the model knows it."""

    id: str
    sender: str
    to: str
    deadline: int
    lasts: int
    state: str = "open"
    closed: bool = False  # a dead letter that was requeued or put away

    def now(self, minute: int) -> str:
        """Its state at this minute."""
        return "expired" if self.state == "open" and minute > self.deadline else self.state

    def settled(self, who: str, minute: int) -> str:
        """The code of accepting or declining."""
        for_role = self.to == "role:approver" and who in APPROVERS
        if who == self.sender or not (who == self.to or for_role):
            return "not_yours"
        return {"open": OK, "expired": "expired"}.get(self.now(minute), "already_settled")

    def withdrawn(self, who: str, minute: int) -> str:
        """The code of taking it back, or of putting a dead letter away."""
        if who != self.sender:
            return "not_yours"
        state = self.now(minute)
        return OK if state == "open" or (state == "expired" and not self.closed) else "already_settled"

    def requeued(self, who: str, minute: int) -> str:
        """The code of sending a dead letter again."""
        if who != self.sender:
            return "not_yours"
        state = self.now(minute)
        if state == "open":
            return "invalid_argument"
        return OK if state == "expired" and not self.closed else "already_settled"
