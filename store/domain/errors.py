"""Refusals: the one way in which the domain says no.

A refusal knows a status *hint* and nothing of HTTP: a surface decides what to make of it. The table below is
the whole list of codes; a code outside it is a mistake of the programmer, not something a caller can meet.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["STATUS", "Refused"]

_BY_STATUS: Mapping[int, tuple[str, ...]] = {
    400: (
        "invalid_argument",
        "unknown_argument",
        "malformed_id",
        "too_long",
        "payload_not_canonical",
        "reason_required",
        "reserved_kind",
        "digest_required",
        "scope_undeclared",
        "scope_mismatch",
    ),
    401: ("unauthenticated", "key_expired", "key_revoked"),
    403: (
        "identity_mismatch",
        "scope_denied",
        "humans_only",
        "not_an_approver",
        "not_yours",
        "assurance_too_low",
    ),
    404: ("not_found", "scope_unknown", "unknown_recipient"),
    409: (
        "already_settled",
        "already_redeemed",
        "already_checked_in",
        "not_approved",
        "digest_mismatch",
        "expired",
        "lapsed",
        "taken_back",
        "stale",
        "action_conflict",
        "open_obligations",
        "job_exists",
        "job_done",
        "skill_missing",
        "window_not_open",
        "window_closed",
        "id_taken",
    ),
    413: ("payload_too_large",),
    423: ("paused",),
    429: ("rate_limited", "too_many_pending", "room_full"),
    503: ("busy", "store_unavailable", "store_full", "store_read_only", "audit_unavailable", "unconfirmed"),
}

#: Every code with its HTTP status hint.
STATUS: Mapping[str, int] = MappingProxyType({code: status for status, codes in _BY_STATUS.items() for code in codes})


_UNCHANGED = re.compile(r"\s*\bNothing (?:was written|was done|changed)\.")


class Refused(Exception):
    """What was asked was not done, and nothing was written.

    `message` is one or two sentences for a person or a model: what is so, that nothing was written, and the
    call that helps. `facts` are the same things for a program (JSON values). Raises ValueError for a code that
    is not in `STATUS`.
    """

    def __init__(self, code: str, message: str, **facts: object) -> None:
        if code not in STATUS:
            raise ValueError(f"{code!r} is no code of a refusal; the list is store.domain.errors.STATUS")
        # Only these two go to Exception: together with __dict__ they let a refusal be copied and pickled.
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.facts: dict[str, object] = facts

    def of_a_read(self) -> "Refused":
        """The same for somebody who only wanted to read: that nothing was written says nothing then.

        What went wrong in the store is said in the same words to all.
        """
        if self.status >= 500:
            return self
        return Refused(self.code, _UNCHANGED.sub("", self.message).strip(), **self.facts)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def status(self) -> int:
        """The HTTP status that a surface over HTTP may answer with."""
        return STATUS[self.code]

    @property
    def body(self) -> dict[str, object]:
        """The refusal as a JSON object: code, message, then the facts (a new dict each time)."""
        return {"code": self.code, "message": self.message, **self.facts}
