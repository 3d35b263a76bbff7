"""What can befall a store, and how it is mended."""

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import redis

from tests.own_engine import OwnEngine

PATIENCE = 20.0  # seconds for the engine to notice


@dataclass(frozen=True)
class Fault:
    """What befalls the store, how it is mended, what writers are told, and what readers are told ('' if nothing)."""

    cause: Callable[[OwnEngine], None]
    cure: Callable[[OwnEngine], None]
    code: str
    reads: str = ""

    def __str__(self) -> str:
        return self.cause.__name__


def until(holds: Callable[[], bool]) -> None:
    """Wait for the engine to notice."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def full(engine: OwnEngine) -> None:
    """No memory left: OOM."""
    engine.set("maxmemory", 1)


def roomy(engine: OwnEngine) -> None:
    """Memory again."""
    engine.set("maxmemory", 0)


def unsaved(engine: OwnEngine) -> None:
    """Its disk takes no snapshot: MISCONF."""
    (engine.folder / "dump.rdb").mkdir()
    engine.set("save", "3600 1")
    engine.root("BGSAVE")
    until(lambda: engine.root("INFO", "persistence")["rdb_last_bgsave_status"] == "err")


def saved(engine: OwnEngine) -> None:
    """A snapshot can be made again."""
    (engine.folder / "dump.rdb").rmdir()
    engine.root("BGSAVE")
    until(lambda: engine.root("INFO", "persistence")["rdb_last_bgsave_status"] == "ok")


def replica(engine: OwnEngine) -> None:
    """It follows another server that is not there: READONLY."""
    engine.root("REPLICAOF", "127.0.0.1", 1)


def primary(engine: OwnEngine) -> None:
    """It follows nobody."""
    engine.root("REPLICAOF", "NO", "ONE")


def alone(engine: OwnEngine) -> None:
    """It is to have a replica, and has none: NOREPLICAS."""
    engine.set("min-replicas-to-write", 1)


def content(engine: OwnEngine) -> None:
    """It needs no replica."""
    engine.set("min-replicas-to-write", 0)


def engrossed(engine: OwnEngine) -> None:
    """It runs somebody's script that does not end: BUSY."""

    def run() -> None:
        with suppress(redis.RedisError):
            engine.root("EVAL", "while true do end", 0)

    threading.Thread(target=run).start()
    until(lambda: _said(engine, "BUSY"))


def free(engine: OwnEngine) -> None:
    """The script is ended."""
    engine.root("SCRIPT", "KILL")
    until(lambda: not _said(engine, "BUSY"))


def hung(engine: OwnEngine) -> None:
    """It answers nothing."""
    engine.send(signal.SIGSTOP)


def awake(engine: OwnEngine) -> None:
    """It goes on where it was."""
    engine.send(signal.SIGCONT)


def down(engine: OwnEngine) -> None:
    """It is not there."""
    engine.end()


def up(engine: OwnEngine) -> None:
    """It is started again."""
    engine.start()


def _said(engine: OwnEngine, word: str) -> bool:
    try:
        engine.root("GET", "x")
    except redis.ResponseError as said:
        return word in str(said)
    return False


FAULTS = (
    Fault(full, roomy, "store_full"),
    Fault(unsaved, saved, "store_full"),
    Fault(replica, primary, "store_read_only"),
    Fault(alone, content, "store_read_only"),
    Fault(engrossed, free, "busy", "busy"),
    Fault(hung, awake, "store_unavailable", "store_unavailable"),
    Fault(down, up, "store_unavailable", "store_unavailable"),
)
