"""The digest of a day, told once to each owner."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from ..domain.ask import Ask
from ..domain.calendar import SLOTS
from ..domain.commit import Commit, put
from ..domain.day import day_ref
from ..domain.digest import Day, Digest, payload, summary
from ..domain.entry import SUMMARY_LIMIT
from ..domain.occurrence import Occurrence
from ..domain.person import Member
from ..domain.slot import Now
from ..engine.reads import Count, Doc, Head, Range, Read
from .call import Call
from .sweeping import did, row

OWNERS = 20  # who are told
ASKS = 500  # of a day that are counted by how they ended
BLOCKED = 100


async def _digest(call: Call) -> Commit:
    """The day that was over first."""
    await call.admit()
    page = await call.look(Range("digests", "", 2, high=call.now))
    ids = page.ids(Digest)[:1]
    digest = await call.read(Doc(Digest, ids[0])) if ids else None
    if digest is None:
        return did(0)
    owners = (await call.look(Range("role", "owner", OWNERS))).ids(Member)
    of, seq = await _day(call, digest)
    again = replace(digest, due=0, seq=seq)
    more = len(page.members) > 1
    if of.quiet or not owners:
        return did(1, more=more, puts=(put(again),))
    text, said = summary(digest.id, of)[:SUMMARY_LIMIT], payload(digest.id, of)
    entries = tuple(call.entry(owner, "digest", text, payload=said) for owner in owners)
    return did(1, more=more, puts=(put(again, told=0),), entries=entries, cards=(day_ref(digest.id),))


async def _day(call: Call, digest: Digest) -> tuple[Day, int]:
    """What there is to tell of the day, and how many entries the ledger has now."""
    before = (date.fromisoformat(digest.id) - timedelta(days=1)).isoformat()
    since, until = digest.since, digest.until - 1
    reads: list[Read[Any]] = [Doc(Occurrence, f"{digest.id}:{slot}") for slot in SLOTS]
    reads += [Doc(Digest, before), Head(), Range("settled", "", ASKS, low=since, high=until)]
    reads += [Count("inbox", "role:approver", low=call.now), Count("known", "", low=since, high=until)]
    reads += [Range("blocked", "", BLOCKED)]
    *occurrences, last, seq, settled, waiting, facts, blocked = await call.look_each(reads)
    asks = await call.look_each(Doc(Ask, id) for id in settled.ids(Ask)) if settled.members else []
    of = Day(
        syncs=[each for each in occurrences if each],
        asks=Counter(ask.as_of(call.now).state for ask in asks if ask),
        waiting=waiting,
        facts=facts,
        entries=max(0, seq - last.seq) if last and last.seq else 0,
        blocked=blocked.ids(Now),
    )
    return of, seq


DIGEST = row("digest", _digest)
