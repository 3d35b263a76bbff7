"""What must hold in a space at any time, looked at a part at a time: the documents that a few indexes name."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..domain.commit import Commit, put
from ..domain.document import Document, entry_fields
from ..domain.inspection import SPACE, Inspection, went_on
from ..engine.reads import Doc, Range, Read, Score, Scored, Written
from ..invariants import Part, kinds_of_documents, look_at
from .call import Call
from .sweeping import did, row

DOCUMENTS = 200  # that one part looks at
INDEXES = (  # that name, between them, a document of each kind but for what stands beside others
    *(("roster", ""), ("members", ""), ("keys", ""), ("places", "channel"), ("places", "job")),
    *(("due", ""), ("settled", ""), ("known", ""), ("mail", ""), ("occurrences", ""), ("blocked", ""), ("turn", "")),
)


async def _inspect(call: Call) -> Commit:
    """The next part. What is found is looked at again, since a commit may come between two reads."""
    await call.admit()
    inspection = await call.read(Doc(Inspection, SPACE))
    if inspection is None or inspection.next > call.now:
        return did(0)
    name, owner = INDEXES[min(inspection.index, len(INDEXES) - 1)]
    low, _, offset = inspection.after.partition(":")
    page = await call.look(Scored(Range(name, owner, DOCUMENTS, low=int(low or 0), offset=int(offset or 0))))
    refs = [ref for _, ref in page]
    breaches = await _breaches(call, name, owner, refs)
    if breaches:
        again = set(await _breaches(call, name, owner, refs))
        breaches = [breach for breach in breaches if breach in again]
    after = _after(inspection.after, [score for score, _ in page]) if len(page) == DOCUMENTS else ""
    new = went_on(inspection, breaches, seen=len(refs), after=after, indexes=len(INDEXES), now=call.now)
    return did(len(refs), puts=(put(new),))


def _after(before: str, scores: Sequence[int]) -> str:
    """Where the next part begins: at a score, behind so many that have it."""
    low, _, offset = before.partition(":")
    last = scores[-1]
    same = sum(score == last for score in scores)
    return f"{last}:{same + (int(offset or 0) if low and int(low) == last else 0)}"


async def _breaches(call: Call, name: str, owner: str, refs: Iterable[str]) -> list[str]:
    """What is broken about the documents that this index names."""
    kinds = dict(kinds_of_documents())
    named = [(ref, kinds.get(kind), id) for ref in refs for kind, _, id in (ref.partition(":"),)]
    known = [(ref, kind, id) for ref, kind, id in named if kind]
    found = await call.look_each(Doc(kind, id) for _, kind, id in known)
    docs: dict[str, Document | None] = {ref: None for ref, _, _ in named}
    docs |= {ref: doc for (ref, _, _), doc in zip(known, found, strict=True)}
    there = {ref: doc for ref, doc in docs.items() if doc}
    places = [(i.name, i.owner, ref) for ref, doc in there.items() for i in doc.indexes()]
    places = list(dict.fromkeys((*((name, owner, ref) for ref in there), *places)))
    ids = list(dict.fromkeys(id for doc in there.values() for f in entry_fields(type(doc)) if (id := getattr(doc, f))))
    reads: list[Read[Any]] = [*(Score(*place) for place in places), *map(Written, ids)]
    got = await call.look_each(reads)
    scores = dict(zip(places, got[: len(places)], strict=True))
    entries = {id: entry is not None for id, entry in zip(ids, got[len(places) :], strict=True)}
    return look_at(Part(docs, scores, entries))


INSPECT = row("inspect", _inspect)
