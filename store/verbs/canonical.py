"""Canonical JSON (RFC 8785), digests and ledger lines."""

import hashlib
import json
import secrets
from typing import Any

import rfc8785

from ..domain.entry import PAYLOAD_LIMIT, Entry
from ..domain.errors import Refused
from ..ledger.chain import Line, line

WIDEST = 2**53 - 1  # the integers that RFC 8785 writes as they are

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), check_circular=False)


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value."""
    if _plain(value):
        try:
            return _ENCODER.encode(value).encode()
        except UnicodeEncodeError:  # half a character, which has no canonical form: the library says so
            pass
    return rfc8785.dumps(value)


def _plain(value: Any) -> bool:
    """Whether Python's own encoder gives the same bytes, in a fraction of the time: no floats, keys in ASCII.

    Floats are written otherwise, and keys sorted by UTF-16 there.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(-WIDEST <= value <= WIDEST)
    if kind is dict:
        for key, inner in value.items():
            if type(key) is not str or not key.isascii() or not (type(inner) is str or _plain(inner)):
                return False
        return True
    return (kind is list or kind is tuple) and all(map(_plain, value))


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
