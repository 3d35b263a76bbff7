"""Whatever is done to a ledger behind the product's back, verify names the first entry that it was done to [C-51]."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from store.ledger.chain import SEGMENT, Record, link
from store.ledger.verify import CHUNK, Report, verify
from tests.world import World

from .lines import Tamperer, rewritten, tampering, write


async def checked(world: World) -> Report:
    """The report of verify."""
    return await verify(world.store, world.space)


async def test_c51_a_sound_ledger(empty: World) -> None:
    """A ledger of several segments verifies to its last entry, telling how far it is, and that no checkpoint stands."""
    await write(empty, 2 * SEGMENT + 10)
    told: list[tuple[int, int]] = []
    report = await verify(empty.store, empty.space, progress=lambda done, all_: told.append((done, all_)))
    async with tampering(empty) as hand:
        head = int(await hand.admin.hget(empty.keys.head, "seq"))
    assert (report.ok, report.entries, report.redacted, report.fault, report.head_ok) == (True, head, 0, None, True)
    assert report.window == (1, head)
    assert f"Entries 1 to {head} (no checkpoint yet)" in report.unseen
    assert told[-1] == (head, head)
    assert len(told) >= head // CHUNK


async def test_c51_an_empty_ledger(empty: World) -> None:
    """A space that was never made has no entries, no fault, and nothing that could be hidden."""
    report = await verify(empty.store, "never-made")
    assert (report.ok, report.entries, report.unseen) == (True, 0, "")


async def test_c51_while_others_write(empty: World) -> None:
    """Entries that are committed during the walk are no fault."""
    await write(empty, SEGMENT - 20)
    reports = asyncio.gather(*(checked(empty) for _ in range(5)))
    await write(empty, 60, at_once=3)
    assert all(report.ok for report in await reports)
    assert (await checked(empty)).ok


FIELDS: dict[str, Callable[[Record], Record]] = {
    "its text": lambda r: replace(r, text=b"{}"),
    "one byte of its text": lambda r: replace(r, text=r.text[:-2] + b"!}"),
    "its salt": lambda r: replace(r, salt=secrets.token_hex(32)),
    "its salt to no hex": lambda r: replace(r, salt="zz"),
    "its leaf": lambda r: replace(r, leaf="0" * 64),
    "its link": lambda r: replace(r, link="0" * 40),
    "its time": lambda r: replace(r, id=f"{int(r.id.partition('-')[0]) + 1}-{r.id.partition('-')[2]}"),
    "its number": lambda r: replace(r, id=f"{r.id.partition('-')[0]}-999999"),
    "its id to none": lambda r: replace(r, id="x"),
    "text, salt and leaf": lambda r: rewritten(r, b"{}"),
    "redacted, but with a text": lambda r: replace(r, salt="-", text=b"{}"),
    "redacted, with another leaf": lambda r: replace(r, salt="-", text=b"", leaf="0" * 64),
}


@pytest.mark.parametrize("what", FIELDS)
@pytest.mark.parametrize("number", [1, 7, SEGMENT, SEGMENT + 1, SEGMENT + 6])
async def test_c51_altered(empty: World, what: str, number: int) -> None:
    """Any field of any record altered: that entry is named, and the entries before it are counted."""
    await write(empty, SEGMENT + 6 - await size(empty))
    async with tampering(empty) as hand:
        await hand.put(number, FIELDS[what](await hand.read(number)))
    report = await checked(empty)
    assert report.fault
    assert (report.fault.number, report.entries, report.ok) == (number, number - 1, False), str(report.fault)


async def size(world: World) -> int:
    """How many entries the space has."""
    return (await checked(world)).entries


async def forty(world: World) -> None:
    """A ledger of 40 entries."""
    await write(world, 40 - await size(world))


async def removed(hand: Tamperer) -> None:
    """An entry taken away."""
    await hand.remove(20)


async def removed_and_closed_up(hand: Tamperer) -> None:
    """An entry taken away, and the others moved up to close the gap, with the head."""
    for number in range(20, 40):
        await hand.put(number, await hand.row(number + 1))
    await hand.remove(40)
    await hand.head_at(39)
    await hand.head(seq=39)


async def swapped(hand: Tamperer) -> None:
    """Two records in each other's place."""
    first, second = await hand.row(20), await hand.row(30)
    await hand.put(20, second)
    await hand.put(30, first)


async def swapped_neighbours(hand: Tamperer) -> None:
    """Two records that follow on each other in each other's place."""
    first, second = await hand.row(20), await hand.row(21)
    await hand.put(20, second)
    await hand.put(21, first)


async def swapped_under_each_other_s_ids(hand: Tamperer) -> None:
    """Two entries in each other's place, each with the id that belongs there."""
    first, second = await hand.read(20), await hand.read(30)
    await hand.put(20, replace(second, id=first.id))
    await hand.put(30, replace(first, id=second.id))


async def inserted(hand: Tamperer) -> None:
    """Everything from 20 on one further, and a forged entry in the gap, with a leaf and a link that fit."""
    for number in range(40, 19, -1):
        await hand.put(number + 1, await hand.row(number))
    forged = rewritten(await hand.read(20), b'{"kind":"decided"}', before=(await hand.read(19)).link)
    await hand.put(20, forged)
    await hand.head(seq=41)


async def cut_off(hand: Tamperer) -> None:
    """The last entries taken away."""
    await hand.remove(*range(20, 41))


async def cut_off_with_the_head(hand: Tamperer) -> None:
    """The head set back, but one entry left over."""
    await hand.remove(*range(21, 41))
    await hand.head_at(19)


async def rewritten_with_its_link(hand: Tamperer) -> None:
    """An entry with another text, its leaf and its link made anew."""
    old = await hand.read(19)
    await hand.put(19, rewritten(old, b"{}", before=(await hand.read(18)).link))


async def older(hand: Tamperer) -> None:
    """An entry dated back, with all links made anew."""
    old = await hand.read(20)
    await hand.put(20, replace(old, id="1-20"))
    await hand.relink(range(20, 41))
    await hand.head_at(40)


async def head_forward(hand: Tamperer) -> None:
    """A head that counts an entry more."""
    await hand.head(seq=41)


async def head_back(hand: Tamperer) -> None:
    """A head that names the entry before the last."""
    await hand.head_at(39)


async def head_gone(hand: Tamperer) -> None:
    """No head."""
    await hand.admin.delete(hand.world.keys.head)


async def appended(hand: Tamperer) -> None:
    """An entry that fits, without the head."""
    last = await hand.read(40)
    await hand.put(41, Record("9999999999999-41", last.leaf, link(last.link, "9999999999999-41", last.leaf), "-", b""))


async def a_foreign_field(hand: Tamperer) -> None:
    """A field in the last segment that is nearly a number."""
    await hand.admin.hset(hand.world.keys.segment(0), "040", "x")


async def another_type(hand: Tamperer) -> None:
    """Something else where a segment was."""
    await hand.admin.delete(hand.world.keys.segment(0))
    await hand.admin.set(hand.world.keys.segment(0), "x")


# What was done, the number that is to be named, what is to be said of it, whether the head is still right.
DONE: list[tuple[Callable[[Tamperer], Awaitable[None]], int, str, bool]] = [
    (removed, 20, "is missing: it was removed", True),
    (removed_and_closed_up, 20, r"was removed: entry \d+-21 stands in its place", False),
    (swapped, 20, r"\d+-30 stands in the place of number 20: entries were reordered", True),
    (swapped_neighbours, 20, r"entry \d+-21 stands in its place", True),
    (swapped_under_each_other_s_ids, 20, "breaks the chain", True),
    (inserted, 20, "was inserted", False),
    (cut_off, 20, "and all after it are missing: they were cut off", False),
    (cut_off_with_the_head, 20, "stands beyond the head", False),
    (rewritten_with_its_link, 20, r"breaks the chain: .* or entry \d+-19 before it was rewritten with its link", True),
    (older, 20, "is older than the entry before it", True),
    (head_forward, 41, "missing: they were cut off, or the head was set forward", False),
    (head_back, 40, "stands beyond the head: it was inserted, or the head was set back", False),
    (head_gone, 1, "stands beyond the head", False),
    (appended, 41, "stands beyond the head: it was inserted", False),
    (a_foreign_field, 40, "'040': put in", False),
    (another_type, 1, "and all after it are missing", False),
]


@pytest.mark.parametrize(("act", "number", "words", "head"), DONE, ids=[act.__name__ for act, *_ in DONE])
async def test_c51_tampered(
    empty: World, act: Callable[[Tamperer], Awaitable[None]], number: int, words: str, head: bool
) -> None:
    """Entries removed, moved, put in or cut off, or the head altered: the first one is named, and what was done."""
    await forty(empty)
    async with tampering(empty) as hand:
        await act(hand)
    report = await checked(empty)
    assert report.fault
    assert report.fault.number == number, str(report.fault)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(str(report.fault))
    assert (report.ok, report.head_ok) == (False, head)


@pytest.mark.parametrize("field", [{"seq": "x"}, {"ms": 5}, {"h": "0" * 40}, {"seq": -3}, {"h": b"\xff"}])
async def test_c51_head_altered(empty: World, field: dict[str, Any]) -> None:
    """Each field of the head altered is seen, whatever it was altered to."""
    await forty(empty)
    async with tampering(empty) as hand:
        await hand.head(**field)
    report = await checked(empty)
    assert report.fault
    assert not report.head_ok


async def test_c51_a_field_in_a_full_segment(empty: World) -> None:
    """What was put beside the entries of a full segment is found."""
    await write(empty, SEGMENT + 30)
    async with tampering(empty) as hand:
        await hand.admin.hset(empty.keys.segment(0), "note", "x")
    report = await checked(empty)
    assert report.fault
    assert (report.fault.number, "'note'" in report.fault.what) == (SEGMENT, True)


async def test_c51_redacted_keeps_its_place(empty: World) -> None:
    """A redacted entry has no text any more; its leaf and its place in the chain still verify, and it is counted."""
    await forty(empty)
    async with tampering(empty) as hand:
        for number in (20, 40):
            await hand.put(number, replace(await hand.read(number), salt="-", text=b""))
    report = await checked(empty)
    assert (report.ok, report.entries, report.redacted) == (True, 40, 2)


async def test_c51_a_tail_made_anew_is_in_the_window(empty: World) -> None:
    """Entries reordered with links and head made anew are not seen; the report says that of just these entries."""
    await forty(empty)
    async with tampering(empty) as hand:
        first, second = await hand.read(20), await hand.read(21)
        await hand.put(20, replace(second, id=f"{first.id.partition('-')[0]}-20"))
        await hand.put(21, replace(first, id=f"{second.id.partition('-')[0]}-21"))
        await hand.relink(range(20, 41))
        await hand.head_at(40)
    report = await checked(empty)
    assert report.ok
    assert report.window == (1, 40)
    assert "reordered, rewrote or cut them off and made the links anew cannot be seen" in report.unseen
