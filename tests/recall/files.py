"""Indexes of a few entries, for tests."""

import json
from pathlib import Path
from typing import Any

from store.recall.file import IndexFile
from store.recall.query import parse
from store.recall.search import Filter, Found, search

BEGIN = 1_790_000_000_000  # ms
MINUTE = 60_000


def record(n: int, summary: str, *, link: str = "", **more: Any) -> bytes:
    """A record of a ledger, one a minute."""
    body = {"where": "channel:x", "kind": "memo", "by": "agent:grok", "via": "token", "summary": summary, **more}
    text = json.dumps(body, ensure_ascii=False)
    return f"{BEGIN + n * MINUTE}-{n} {'a' * 64} {link or f'{n:040x}'} {'b' * 64} {text}".encode()


def redacted(n: int) -> bytes:
    """A record whose text was erased."""
    return f"{BEGIN + n * MINUTE}-{n} {'a' * 64} {n:040x} - ".encode()


def filled(path: Path, *entries: str | dict[str, Any]) -> IndexFile:
    """A file with these entries, numbered from 1: summaries, or fields of an entry."""
    file = IndexFile(path)
    bodies = [{"summary": e} if isinstance(e, str) else e for e in entries]
    file.add(file.mark(), [record(n, **body) for n, body in enumerate(bodies, 1)])
    return file


def find(file: IndexFile, query: str, *, kinds: tuple[str, ...] = (), where: str = "", limit: int = 10) -> Found:
    """What a query finds, a year after the first entry."""
    with file.reading() as db:
        now = BEGIN + 365 * 24 * 60 * MINUTE
        return search(db, parse(query), Filter(kinds, where), limit=limit, now=now)


def numbers(file: IndexFile, query: str, **more: Any) -> list[int]:
    """The numbers of the entries found, best first."""
    return [hit.seq for hit in find(file, query, **more).hits]
