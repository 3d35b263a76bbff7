"""settled.lua: a mark is removed by who has read that very mark, and only in the latest term of the bot.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

import secrets
from dataclasses import dataclass, field

import pytest

from store.engine.keys import Keys
from store.engine.lease import LeaseLost
from store.engine.outbox import Outbox

from .bot import BotScript


@dataclass
class Marked:
    """An outbox of a new space, and how it stands."""

    script: BotScript
    keys: Keys = field(default_factory=lambda: Keys(f"s{secrets.token_hex(6)}"))

    def outbox(self, epoch: int = 0) -> Outbox:
        """The outbox in a term."""
        return Outbox(self.script.client, script=self.script.text, epoch=epoch)

    async def put(self, **marks: int) -> None:
        """Mark these refs so."""
        await self.script.admin.zadd(self.keys.outbox, marks)

    async def settled(self, ref: str, mark: int = 0, *, again: int = 0, epoch: int = 0) -> bool:
        """What the script says."""
        return await self.outbox(epoch).settled(self.keys.space, ref, mark, again=again)

    async def left(self) -> set[str]:
        """The refs that are still marked."""
        return {ref.decode() for ref in await self.script.admin.zrange(self.keys.outbox, 0, -1)}

    async def opened(self) -> dict[str, int]:
        """The refs that are to be looked at again, and when."""
        return await self.outbox().opened(self.keys.space)

    async def everything(self) -> dict[bytes, bytes]:
        """DUMP of every key of the space."""
        return await self.script.everything(f"lm:{{{self.keys.space}}}:*")


MARK = 1_732_982_400_123_456  # microseconds
AT = 1_732_982_400_123  # ms


async def test_the_mark_that_was_read_is_removed(settled: BotScript) -> None:
    """With its own mark a ref goes, and only that ref, though another has the same mark."""
    marked = Marked(settled)
    await marked.put(a=MARK, b=MARK, c=MARK + 1)
    assert await marked.settled("a", MARK)
    assert await marked.left() == {"b", "c"}
    assert await marked.settled("c", MARK + 1)
    assert await marked.settled("b", MARK)
    assert not await settled.admin.exists(marked.keys.outbox)


async def test_a_later_mark_stays(settled: BotScript) -> None:
    """A ref that was marked again, a microsecond later even, stays; so does one with a mark before what was read."""
    marked = Marked(settled)
    await marked.put(a=MARK)
    for other in (MARK - 1, MARK + 1, 0, 1):
        assert not await marked.settled("a", other)
    assert await marked.left() == {"a"}


async def test_what_is_not_marked_is_left(settled: BotScript) -> None:
    """For a ref without a mark there is nothing to remove."""
    marked = Marked(settled)
    assert not await marked.settled("a", MARK)
    await marked.put(b=MARK)
    assert not await marked.settled("a", MARK)
    assert await marked.left() == {"b"}


async def test_an_old_mark_removes_no_new_one(settled: BotScript) -> None:
    """Two bots read one mark and one settles it; the ref is marked anew, and the other, late, changes nothing."""
    marked = Marked(settled)
    outbox = marked.outbox()
    await outbox.mark(marked.keys.space, "a")
    ((ref, first),) = await outbox.dirty(marked.keys.space)
    assert await outbox.settled(marked.keys.space, ref, first)
    await outbox.mark(marked.keys.space, "a")
    assert not await outbox.settled(marked.keys.space, ref, first)
    assert await marked.left() == {"a"}


async def test_the_next_look_is_noted_in_the_same_step(settled: BotScript) -> None:
    """With or without its mark: a time to look again takes the place of the one before, and none takes it away."""
    marked = Marked(settled)
    await marked.put(a=MARK)
    assert await marked.settled("a", MARK, again=AT)
    assert not await marked.settled("b", again=7)
    assert await marked.opened() == {"b": 7, "a": AT}
    assert not await marked.settled("a", MARK, again=AT - 1)
    assert await marked.opened() == {"b": 7, "a": AT - 1}
    assert not await marked.settled("a", MARK)
    assert await marked.opened() == {"b": 7}
    assert not await marked.settled("c", MARK)
    assert await marked.left() == set()


async def test_an_earlier_term_changes_nothing(settled: BotScript) -> None:
    """From the first word of a later term in a space, an earlier one writes nothing there; elsewhere it still does."""
    marked, elsewhere = Marked(settled), Marked(settled)
    await marked.put(a=MARK, b=MARK)
    assert await marked.settled("a", MARK, again=AT, epoch=9)
    assert await marked.settled("b", MARK, again=AT, epoch=10)
    assert await settled.admin.get(marked.keys.term) == b"10"
    await marked.put(a=MARK)
    before = await marked.everything()
    for again in (0, AT + 1):
        for old in (9, 1):
            with pytest.raises(LeaseLost):
                await marked.settled("a", MARK, again=again, epoch=old)
    assert await marked.everything() == before
    assert not await elsewhere.settled("a", again=AT, epoch=9)
    assert await elsewhere.opened() == {"a": AT}
    assert await marked.settled("a", MARK, epoch=10)
    assert not await marked.settled("b", again=1)  # outside of any term
    assert await settled.admin.get(marked.keys.term) == b"10"
