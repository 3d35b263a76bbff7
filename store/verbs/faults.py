"""What the store says when it cannot, told to callers: what is so, that nothing was written, when to retry."""

import contextlib
from collections.abc import Iterator

import redis
import structlog

from ..domain.errors import Refused

log = structlog.get_logger(__name__)

STORE_FAULTS: tuple[tuple[str, str, str], ...] = (
    ("OOM", "store_full", "The store is full and takes no writes. Nothing was written. Reads go on."),
    ("MISCONF", "store_full", "The store cannot write to its disk. Nothing was written. Reads go on."),
    ("READONLY", "store_read_only", "The store is read-only now. Nothing was written. Reads go on."),
    ("NOREPLICAS", "store_read_only", "The store has too few replicas. Nothing was written. Reads go on."),
    ("BUSY", "busy", "The store is busy with something else. Nothing was written."),
)
_SPOKEN = {redis.exceptions.OutOfMemoryError: "OOM", redis.ReadOnlyError: "READONLY"}  # words that the library cuts off


@contextlib.contextmanager
def told_plainly() -> Iterator[None]:
    """Turn what the store says into refusals that say when to retry; nothing of its own words goes out."""
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError, TimeoutError) as lost:
        log.warning("store_unreachable", error=str(lost))
        raise Refused(
            "store_unavailable",
            "The store does not answer. Nothing was written. Retry in 5 s.",
            retry_after=5,
        ) from None
    except redis.ResponseError as said:
        log.error("store_refused", error=str(said))
        spoken = f"{_SPOKEN.get(type(said), '')} {said}"[:60]
        for word, code, text in STORE_FAULTS:
            if word in spoken:
                raise Refused(code, f"{text} Retry in 30 s.", retry_after=30) from None
        raise Refused(
            "store_unavailable",
            "The store refused this call. Nothing was written. Retry in 30 s.",
            retry_after=30,
        ) from None
