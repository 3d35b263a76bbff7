"""The time of this machine."""

import time

__all__ = ["now"]


def now() -> int:
    """In ms."""
    return time.time_ns() // 1_000_000
