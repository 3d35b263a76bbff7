"""Pages of a list: each member once, in order, whatever comes, goes or stands at one score."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from store.engine.client import Target, open_client
from store.engine.reads import Range
from store.verbs.call import Call, Result, Row
from store.verbs.paging import fitting, page, price, squeezed
from store.verbs.perform import perform
from tests.contract.test_gate import refused
from tests.tokenizer import tokens
from tests.world import World

Standing = dict[str, int]  # members of an index, by score
SEED = 7


async def put(world: World, owner: str, members: Standing, gone: Sequence[str] = ()) -> None:
    """Write to an index that no document has."""
    admin: Any  # redis-py types its commands for both its clients at once
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        key = world.keys.index("paged", owner)
        if gone:
            await admin.zrem(key, *gone)
        if members:
            await admin.zadd(key, members)


async def read(world: World, ranges: Sequence[Range], *, cursor: str = "", limit: int = 7) -> Result:
    """One page, as a verb would read it."""

    async def look(call: Call) -> Result:
        paged = await page(call, ranges, cursor=cursor, limit=limit)
        shown = [f"{kind}:{id}" for kind, id in paged.members]
        return {"shown": shown, "size": paged.size, "next": paged.next, "after": paged.after(1) if shown else ""}

    return await perform(world.store, world.badges["agent:grok"], Row("look", "read", look, ("fleet",)), {})


def order(members: Standing, *, latest: bool = False) -> list[str]:
    """The members as the index has them."""
    return [ref for _, ref in sorted(((score, ref) for ref, score in members.items()), reverse=latest)]


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("scores", [1, 3, 1000])
async def test_each_member_is_on_one_page(world: World, scores: int, latest: bool) -> None:
    """Over several indexes, one after the other, also where hundreds share a score."""
    draw = random.Random(SEED)
    parts: list[Standing] = [
        {f"job:{part}{n}": draw.randint(1, scores) for n in range(size)}
        for part, size in (("a", 300), ("b", 0), ("c", 9))
    ]
    for n, part in enumerate(parts):
        await put(world, str(n), part)
    ranges = [Range("paged", str(n), latest=latest) for n in range(len(parts))]
    seen: list[str] = []
    cursor = ""
    for _ in range(100):
        got = await read(world, ranges, cursor=cursor)
        assert got["size"] == 309
        seen += got["shown"]
        cursor = got["next"]
        if not cursor:
            break
    assert seen == [ref for part in parts for ref in order(part, latest=latest)]


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("scores", [1, 40])
async def test_who_leaves_or_comes_moves_nobody_else(world: World, scores: int, latest: bool) -> None:
    """Between any two pages some go, those that the cursor names among them; who stays is seen once, in order."""
    draw = random.Random(SEED)
    here: Standing = {f"job:{n}": draw.randint(1, scores) for n in range(200)}
    stays = {ref for ref in here if draw.random() < 0.5}
    await put(world, "", here)
    seen: list[str] = []
    cursor = ""
    for turn in range(100):
        got = await read(world, [Range("paged", latest=latest)], cursor=cursor)
        seen += got["shown"]
        cursor = got["next"]
        if not cursor:
            break
        gone = [ref for ref in here if ref not in stays and (ref == got["shown"][-1] or draw.random() < 0.2)]
        new = {f"new:{turn}-{n}": draw.randint(1, scores) for n in range(3)}
        await put(world, "", new, gone)
        here = {ref: score for ref, score in here.items() if ref not in gone} | new
    assert len(seen) == len(set(seen))
    kept = [ref for ref in seen if ref in stays]
    assert kept == order({ref: here[ref] for ref in stays}, latest=latest)


async def test_bounds_of_a_range_hold_on_every_page(world: World) -> None:
    """What stands outside them is neither shown nor counted; a page may go on after any of its members."""
    await put(world, "", {f"job:{n:02}": n for n in range(1, 41)})
    for latest in (False, True):
        ranges = [Range("paged", low=11, high=30, latest=latest)]
        first = await read(world, ranges)
        assert first["size"] == 20
        rest = await read(world, ranges, cursor=first["after"], limit=50)
        every = [f"job:{n:02}" for n in range(11, 31)]
        assert [first["shown"][0], *rest["shown"]] == (every[::-1] if latest else every)
        assert rest["next"] == ""


async def test_a_cursor_is_of_one_list(world: World) -> None:
    """Of another index, of the other direction, cut or changed, it is refused."""
    await put(world, "", {f"job:{n}": 1 for n in range(20)})
    cursor = (await read(world, [Range("paged")]))["next"]
    changed = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    others = ([Range("paged", "other")], [Range("paged", latest=True)], [Range("paged"), Range("paged", "other")])
    for ranges in others:
        no = await refused("invalid_argument", read(world, ranges, cursor=cursor))
        assert no.facts["argument"] == "cursor"
    for bad in (cursor[:-2], cursor[2:], changed, cursor + "A", "5", "x" * 20, "\u4e2d" * 9, "A" * 1000):
        await refused("invalid_argument", read(world, [Range("paged")], cursor=bad))


def test_what_fits_is_priced_as_structure_and_as_text() -> None:
    """The first lines that there is room for, at least one; a text is cut until it fits."""
    lines = [{"title": "word " * 20, "n": n} for n in range(50)]
    fit = fitting(lines, budget=300)
    assert 1 < len(fit) < 50
    assert fit == lines[: len(fit)]
    assert fitting(lines, budget=1) == lines[:1]
    assert fitting([]) == []
    for text in ("word " * 300, "\u4e2d\u6587\u2728" * 300, "\U000e0041" * 900, 'a"\\\n' * 200):
        assert price(text) >= tokens(text)
        assert price(squeezed(text, budget=200)) <= 200
    assert squeezed("short", budget=50) == "short"
