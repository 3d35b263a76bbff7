"""Canonical JSON (RFC 8785), digests and ledger lines."""

import hashlib
import secrets
from typing import Any

import rfc8785

from ..domain.entry import PAYLOAD_LIMIT, Entry
from ..domain.errors import Refused
from ..ledger.chain import Line, line


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """SHA-256 over the canonical form, in lowercase hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def check_payload(payload: Any, *, name: str = "payload") -> None:
    """Refuses payload_too_large (over 32 KiB in canonical form)."""
    size = len(canonical(payload))
    if size > PAYLOAD_LIMIT:
        raise Refused(
            "payload_too_large",
            f"{name} has {size} bytes in canonical form and may have {PAYLOAD_LIMIT}. Nothing was written. "
            "Put a link or a digest of the large part into it instead.",
            limit=PAYLOAD_LIMIT,
            size=size,
        )


def ledger_line(entry: Entry) -> Line:
    """The entry as the ledger keeps it, under a fresh salt."""
    return line(canonical(entry.body()), secrets.token_bytes(32))
