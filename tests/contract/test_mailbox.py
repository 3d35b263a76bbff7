"""The mailbox: texts for whoever comes next."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from store.engine.client import Target, open_client
from tests.contract.test_gate import DAY, HOUR, MINUTE, refused
from tests.world import Result, World, found

KIB = 1024
WHOLE = {  # the command that reads a key of this type whole; '' stands for its name
    b"string": ("GET", ""),
    b"hash": ("HGETALL", ""),
    b"list": ("LRANGE", "", "0", "-1"),
    b"zset": ("ZRANGE", "", "0", "-1"),
    b"stream": ("XRANGE", "", "-", "+"),
}


async def posted(world: World, text: str = "The deploy is half done.", **more: Any) -> Result:
    """A note of grok's for whoever comes next."""
    return await world.do("agent:grok", "handoff", **({"to": "anyone", "text": text} | more))


async def read(world: World, note: Result, who: str = "agent:codex") -> Result:
    """The note as somebody reads it."""
    return await world.do(who, "view", what=note["note"])


async def listed(world: World) -> list[Result]:
    """The notes that codex's Brief lists."""
    notes: list[Result] = (await world.do("agent:codex", "brief"))["brief"].get("mailbox", [])
    return notes


async def keys_with(world: World, text: str) -> set[str]:
    """The classes of the space's keys in which a text stands."""
    hit = set()
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        names = [str(n, "ascii") if isinstance(n, bytes) else n for n in await admin.keys(f"lm:{{{world.space}}}:*")]
        command: Callable[..., Awaitable[Any]] = admin.execute_command
        for name in names:
            held = await command(*(part or name for part in WHOLE[await command("TYPE", name)]))
            if text in repr(held):
                hit.add(name.split(":")[2])
    return hit


async def test_c43_a_note_is_read_by_whoever_comes_next(world: World) -> None:
    """Posted by one, read by another agent and a person, with who left it and when."""
    note = await posted(world, label="Deploy", text="half\ndone ✓")
    assert note["note"].startswith("mb_")
    assert note["label"] == "Deploy"
    assert note["next"] == {"tool": "logmem_view", "args": {"what": note["note"]}}
    for who in ("agent:codex", "human:bo", "agent:grok"):
        seen = await read(world, note, who)
        assert (seen["text"], seen["label"], seen["by"]) == ("half\ndone ✓", "Deploy", "agent:grok")
        assert seen["byline"] == "grok (via test)"


async def test_c43_notes_are_listed_without_their_text(world: World) -> None:
    """The list has label, author and end of life; what ends first stands on top."""
    late = await posted(world, text="secret-of-late", label="Late", deadline="48h")
    soon = await posted(world, text="secret-of-soon", deadline="1h")
    notes = await listed(world)
    assert [n["note"] for n in notes] == [soon["note"], late["note"]]
    assert (notes[1]["label"], notes[1]["by"]) == ("Late", "agent:grok")
    assert "secret-of" not in repr(notes)


async def test_c43_the_ledger_has_the_label_alone(world: World) -> None:
    """A `posted` entry says that there is a note; the text lies in its own key and nowhere else."""
    note = await posted(world, text="quite-the-secret", label="Deploy", where="job:schema", action_id="p1")
    log = (await world.do("agent:codex", "view", what="job:schema"))["log"]
    assert [(e["kind"], e["summary"], e["trail"]) for e in log] == [("posted", "Deploy", note["note"])]
    assert await keys_with(world, "quite-the-secret") == {"mail"}
    assert "log" in await keys_with(world, "Deploy")


async def test_c43_reading_uses_nothing_up(world: World) -> None:
    """Read ten times it is there as before, and reading writes nothing."""
    note = await posted(world)
    before = await world.dump()
    seen = [await read(world, note) for _ in range(10)]
    assert {s["text"] for s in seen} == {"The deploy is half done."}
    assert len(await listed(world)) == 1
    assert await world.dump() == before


async def test_c43_a_note_is_gone_when_its_life_ends(world: World) -> None:
    """24 h unless said: then it is no longer listed, and whoever asks for it is told plainly."""
    note = await posted(world)
    await world.pass_time(DAY - MINUTE)
    assert (await read(world, note))["text"]
    await world.pass_time(MINUTE)
    no = await refused("expired", read(world, note))
    assert no.message.startswith(f"The life of {note['note']} ended")
    assert "half done" not in no.message
    assert await listed(world) == []


async def test_c43_the_text_is_kept_for_its_life_only(world: World) -> None:
    """The store itself forgets the text: its key has the life of the note."""
    note = await posted(world, deadline="2h")
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        left = await admin.pttl(world.keys.mail(note["note"]))
    assert HOUR < left <= 2 * HOUR


async def test_c43_a_text_that_is_gone_is_told_as_expired(world: World) -> None:
    """Where the key went a moment before the clock says so, nothing is shown either."""
    note = await posted(world)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        await admin.delete(world.keys.mail(note["note"]))
    await refused("expired", read(world, note))


@pytest.mark.parametrize(("life", "fits"), [("72h", True), ("73h", False), ("5m", True), ("4m", False)])
async def test_c43_a_life_has_bounds(world: World, life: str, fits: bool) -> None:
    """From 5 minutes to 72 hours."""
    if fits:
        assert (await posted(world, deadline=life))["note"]
        return
    no = await refused("invalid_argument", posted(world, deadline=life))
    assert no.facts["argument"] == "deadline"
    assert await listed(world) == []


@pytest.mark.parametrize(
    "text",
    ["x" * 64 * KIB, "é" * 32 * KIB, "\0" * 64 * KIB, "$\\\"'\r\n\0 {x}"],
    ids=["full", "full-of-two-bytes", "full-of-nul", "odd"],
)
async def test_c43_a_text_comes_back_as_it_was(world: World, text: str) -> None:
    """Up to 64 KiB of UTF-8, to the last character."""
    note = await posted(world, text)
    assert note["bytes"] == len(text.encode())
    assert (await read(world, note))["text"] == text


@pytest.mark.parametrize(
    "text",
    ["x" * (64 * KIB + 1), "é" * 32 * KIB + "x", "\U0001f680" * 16 * KIB + "x"],
    ids=["one-byte", "two-bytes", "four-bytes"],
)
async def test_c43_a_longer_text_is_refused(world: World, text: str) -> None:
    """One byte over the limit, and nothing is written."""
    before = await world.dump()
    no = await refused("payload_too_large", posted(world, text))
    assert no.facts["limit"] == 64 * KIB
    assert no.facts["size"] == len(text.encode())
    assert await world.dump() == before


async def test_c60_a_text_is_unicode(world: World) -> None:
    """A lone surrogate would not reach anybody: refused, and nothing is written."""
    await refused("payload_not_canonical", posted(world, "a\ud800"))
    assert await listed(world) == []


@pytest.mark.parametrize(
    ("args", "code", "argument"),
    [
        ({"text": ""}, "invalid_argument", "text"),
        ({"text": " \n"}, "invalid_argument", "text"),
        ({"label": "x" * 121}, "too_long", "label"),
        ({"label": "two\nlines"}, "invalid_argument", "label"),
        ({"label": "two\u2028lines"}, "invalid_argument", "label"),
        ({"label": "a\x1b[2J"}, "invalid_argument", "label"),
        ({"summary": "x" * 121}, "too_long", "label"),
        ({"summary": "a", "label": "b"}, "invalid_argument", "summary"),
        ({"where": "a b"}, "malformed_id", "where"),
    ],
)
async def test_c43_what_cannot_be_posted_is_refused(world: World, args: Result, code: str, argument: str) -> None:
    """Named, and nothing is written."""
    before = await world.dump()
    no = await refused(code, posted(world, **args))
    assert no.facts["argument"] == argument
    assert await world.dump() == before


async def test_c43_a_summary_serves_as_the_label(world: World) -> None:
    """Who hands off to anyone as to somebody gets what they meant; without either it is listed as having none."""
    assert (await read(world, await posted(world, summary="Deploy")))["label"] == "Deploy"
    assert (await read(world, await posted(world)))["label"] == "a note without a label"


async def test_c12_a_repeated_posting_is_one_note(world: World) -> None:
    """The same action_id posts once and gives the same answer again."""
    one = await posted(world, label="Deploy", action_id="p1")
    assert await posted(world, label="Deploy", action_id="p1") == {**one, "replayed": True}
    assert len(await listed(world)) == 1


async def test_c43_a_note_is_of_its_space_alone(world: World) -> None:
    """Elsewhere there is no such note, and a malformed id is named as such."""
    note = await posted(world)
    other = await found(world.engine, world.store)
    await other.agent("codex")
    await refused("not_found", read(other, note))
    await refused("malformed_id", read(world, {"note": "mb_1"}))


async def test_c43_people_leave_notes_too(world: World) -> None:
    """A note of a person's stands in their own Log unless a place is said."""
    note = await world.do("human:bo", "handoff", to="anyone", text="Back at nine.")
    assert (await read(world, note))["by"] == "human:bo"
    log = (await world.do("agent:codex", "view", what="human:bo"))["log"]
    assert log[-1]["kind"] == "posted"
