"""card.lua: copies are written by the latest term of the bot alone, and kept for as long as a card can be open.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

import secrets
from dataclasses import dataclass, field, replace

import pytest

from store.domain.copy import Copy
from store.engine.copies import LIFE, Copies
from store.engine.keys import Keys
from store.engine.lease import LeaseLost

from .bot import BotScript

A = Copy(token="aaaaaaaaaaaa", ref="ask:a", to="human:ana", chat=7, sent=1, why="\u05d0\0\n")
B = Copy(token="bbbbbbbbbbbb", ref="ask:a", to="human:bo", chat=8, sent=2)


@dataclass
class Card:
    """The card of a ref in a new space."""

    script: BotScript
    keys: Keys = field(default_factory=lambda: Keys(f"s{secrets.token_hex(6)}"))

    def copies(self, epoch: int = 0) -> Copies:
        """The copies in a term."""
        return Copies(self.script.client, script=self.script.text).under(epoch, bot=5)

    async def put(self, *copies: Copy, epoch: int = 0) -> None:
        """Write these."""
        await self.copies(epoch).put(self.keys.space, *copies)

    async def taken(self, epoch: int = 0) -> list[Copy]:
        """What there is, for who is going to write."""
        return await self.copies(epoch).taken(self.keys.space, A.ref)

    async def everything(self) -> dict[bytes, bytes]:
        """DUMP of every key of the space."""
        return await self.script.everything(f"lm:{{{self.keys.space}}}:*")


async def test_copies_are_written_and_given(card: BotScript) -> None:
    """Each under its token, word for word; a later state takes the place of one, and the others stay."""
    there = Card(card)
    assert await there.taken() == []
    await there.put(A, B)
    assert await there.taken() == [A, B]
    await there.put(later := replace(B, state="sent", message=3))
    assert await there.taken() == [A, later] == await there.copies().of(there.keys.space, A.ref)
    assert await card.admin.hlen(there.keys.card(A.ref)) == 2
    assert not await card.admin.exists(there.keys.term)


async def test_they_live_from_their_last_change(card: BotScript) -> None:
    """What is written lives for long; what is looked at lives no longer because of it."""
    there = Card(card)
    key = there.keys.card(A.ref)
    await there.put(A)
    assert LIFE - 60_000 < await card.admin.pttl(key) <= LIFE
    await card.admin.pexpire(key, 600_000)
    await there.taken(3)
    assert await card.admin.pttl(key) <= 600_000
    await there.put(B)
    assert LIFE - 60_000 < await card.admin.pttl(key) <= LIFE


async def test_an_earlier_term_writes_nothing(card: BotScript) -> None:
    """From when a later term has read or written in a space, an earlier one neither writes there nor reads to write."""
    there, elsewhere = Card(card), Card(card)
    await there.put(A, epoch=9)
    assert await there.taken(10) == [A]
    assert await card.admin.get(there.keys.term) == b"10"
    before = await there.everything()
    for old in (9, 1):
        with pytest.raises(LeaseLost):
            await there.put(replace(A, state="sent"), epoch=old)
        with pytest.raises(LeaseLost):
            await there.taken(old)
    assert await there.everything() == before
    await there.put(B, epoch=10)
    await there.put(replace(B, sent=5))  # outside of any term
    assert await there.taken(11) == [A, replace(B, sent=5)]
    with pytest.raises(LeaseLost):
        await there.put(B, epoch=10)
    await elsewhere.put(A, epoch=9)
    assert await elsewhere.taken(9) == [A]
