"""Says what is to be said, each chat's words in their order, and again until Telegram has taken them or it is too late.

A chat that Telegram lets nobody write to for a while holds up its own words alone. Presses are answered beside them,
since Telegram counts no answer to a press. What cannot be said in the end is in the log.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import partial

import structlog

from store.domain.errors import Refused
from store.engine.copies import Copies
from store.engine.lease import LeaseLost
from store.engine.updates import Updates

from .client import Telegram
from .deck import Cards
from .door import Away, Door
from .failures import Bad, Blocked, Down, Flood, Gone, Migrated, Same, Uncertain
from .saying import NO_BUTTON, refusal, sentence, told
from .shelf import STORE_ERRORS
from .turns import REPLY, Place
from .words import Offer, Reply, Show, Toast, Verdict, Word, Words, spelled, spoken

__all__ = ["Speaker"]

TOO_LATE = 3_600_000  # ms after which nothing is said any more: what stands is on the cards
UNSURE = 3  # times that Telegram may have taken the same words
SOON, LATE = 0.25, 5.0  # seconds before the next try, doubled each time
IN_LINE = 50  # words that wait for one chat; no more are taken in, nor a card that is in line already
IDLE, AGAIN = 5, 20.0  # that anybody is told at once, and seconds until there is one more
KNOWN = 4096  # chats of whom that is remembered
ASKING = 1.0  # seconds between two looks at whether a claim was confirmed
SHOWING = 3.0  # seconds for which a chat's next update waits until a page has turned
BUSY = 1.0  # seconds of a pause after which the press is told that it comes later
COMES = "Telegram is busy. This comes in a moment."
FAILED = "Telegram did not take this. Nothing changed. See /pending."
OVER = (Bad, Blocked, Gone, Migrated, Same)  # the same words fail again
WAITS = (Away, Down, Flood, LeaseLost, Uncertain, *STORE_ERRORS)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Said:
    """The words of one update: `id` '' for those that are not kept; `left` are those still to be said."""

    id: str
    made: int
    left: list[Word] = field(default_factory=list)
    keeping: asyncio.Lock = field(default_factory=asyncio.Lock)
    tried: asyncio.Event = field(default_factory=asyncio.Event)  # to show what is to be shown, well or not


def _line(word: Word) -> Hashable:
    """What is said one after the other: a chat's words; answers to presses and what is waited for stand alone."""
    match word:
        case Toast():
            return word.query
        case Verdict():
            return word
    return word.chat


def _answer(show: Show, text: str, *, alert: bool) -> Toast:
    """The answer to the press that asked for this."""
    return Toast(query=show.query, chat=show.chat, message=show.message, text=text, alert=alert)


@dataclass(slots=True)
class _Part:
    word: Word
    of: _Said
    answered: bool = False  # a press, before what it asked for is shown


class Speaker:
    """`clock` gives ms. `close` leaves everything as it is; what was not said is said by the next one's `resume`."""

    def __init__(
        self, telegram: Telegram, cards: Cards, copies: Copies, updates: Updates, door: Door, *,
        clock: Callable[[], int],
    ) -> None:  # fmt: skip
        self._telegram, self._cards, self._copies, self._updates, self._clock = telegram, cards, copies, updates, clock
        self._claim = door.claim
        self._lines: dict[Hashable, deque[_Part]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: dict[
            int, tuple[float, float]
        ] = {}  # by chat: how many idle words it may still have, and since when

    async def resume(self) -> None:
        """Say what an earlier process has kept and not said."""
        for kept in await self._updates.unsaid():
            try:
                words, made = spoken(kept.raw)
            except ValueError as why:
                log.error("words are lost", id=kept.id, why=str(why))
                words, made = (), 0
            self._begin(kept.id, words, made=made)
            if not words:
                await self._updates.said(kept.id)

    async def close(self) -> None:
        """Stop at once."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def admitted(self, words: Words) -> Words:
        """Those of the words that are to be said, since nobody has been told too much already."""
        return tuple(word for word in map(self._admitted, words) if word)

    async def say(self, id: str, words: Words) -> None:
        """Say these, which are kept under this id ('' for nowhere), in the order of the calls for each chat.

        Returns at once, but for a card that is to change: then when it has, unless that takes long.
        """
        said = self._begin(id, words, made=self._clock())
        shown = [word.chat for word in words if isinstance(word, Show)]
        if shown and self._telegram.limiter.wait(shown[0]) < SHOWING:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SHOWING):
                    await said.tried.wait()

    def tell(self, words: Words) -> None:
        """Say what is not kept, beside what goes on."""
        self._begin("", words, made=self._clock())

    def _begin(self, id: str, words: Words, *, made: int) -> _Said:
        said = _Said(id, made)
        for word in words:
            self._add(word, said)
        return said

    def _admitted(self, word: Word) -> Word | None:
        """The word, or what is said in its place, if anything is; an answer to a press waits for nothing."""
        if isinstance(word, Toast | Verdict):
            return word
        line = self._lines.get(word.chat, ())
        if isinstance(word, Offer) and any(part.word == word for part in line):
            return None
        if len(line) >= IN_LINE:
            log.warning("too many words for a chat: these are not said", chat=word.chat)
            return _answer(word, FAILED, alert=True) if isinstance(word, Show) else None
        return word if not isinstance(word, Reply) or not word.idle or self._admits_idle(word) else None

    def _admits_idle(self, word: Reply) -> bool:
        now = time.monotonic()
        left, since = self._idle.pop(word.chat, (float(IDLE), now))
        left = min(IDLE, left + (now - since) / AGAIN)
        self._idle[word.chat] = (left - 1 if left >= 1 else left, now)
        while len(self._idle) > KNOWN:
            self._idle.pop(next(iter(self._idle)))
        return left >= 1

    def _add(self, word: Word, said: _Said) -> None:
        said.left.append(word)
        part = _Part(word, said)
        key = _line(word)
        if isinstance(word, Show) and self._telegram.limiter.wait(word.chat) > BUSY:
            self._answer_early(part)
        line = self._lines.get(key)
        if line is not None:
            line.append(part)
            return
        self._lines[key] = deque([part])
        task = asyncio.get_running_loop().create_task(self._run(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, key: Hashable) -> None:
        """Say the words of a line one after the other."""
        line = self._lines[key]
        while line:
            part = line[0]
            try:
                await self._finish(part)
            except Exception:  # whatever it is, what is behind it is to be said
                log.exception("words were given up")
            said = part.of
            if isinstance(part.word, Show):
                said.tried.set()
            line.popleft()
            said.left.remove(part.word)
            await self._note(said)
        del self._lines[key]

    async def _note(self, said: _Said) -> None:
        """Note that all was said; or, where something waits for long, what is left, so that nothing is said twice."""
        if not said.id:
            return
        async with said.keeping:
            if not said.left:
                await self._store(partial(self._updates.said, said.id))
            elif any(isinstance(word, Verdict) for word in said.left):
                await self._store(partial(self._updates.left, said.id, spelled(said.left, made=said.made)))

    async def _finish(self, part: _Part) -> None:
        """Say it, unless it has become too late."""
        try:
            async with asyncio.timeout(max(0, part.of.made + TOO_LATE - self._clock()) / 1000):
                await self._persist(part)
        except TimeoutError:
            log.warning("words were not said in time", chat=part.word.chat, kind=type(part.word).__name__)

    async def _persist(self, part: _Part) -> None:
        tries = unsure = 0
        while True:
            try:
                await self._once(part)
                return
            except OVER as why:
                log.info("words did not arrive", chat=part.word.chat, why=type(why).__name__)
                self._given_up(part)
                return
            except WAITS as why:
                tries += 1
                unsure += isinstance(why, Uncertain)
                if unsure >= UNSURE:
                    log.warning("it is not known whether words arrived", chat=part.word.chat, why=type(why).__name__)
                    self._given_up(part)
                    return
                seconds = why.seconds if isinstance(why, Flood) else 0.0
            part.of.tried.set()
            self._answer_early(part)
            await asyncio.sleep(max(seconds, min(LATE, SOON * 2.0 ** min(tries - 1, 10))))

    async def _once(self, part: _Part) -> None:
        match part.word:
            case Toast() as toast:
                if not await self._telegram.answer(toast.query, toast.text, alert=toast.alert):
                    self._say_late(toast, part.of)
            case Reply() as reply:
                number = await self._telegram.send(
                    reply.chat, reply.as_message, thread=reply.thread, reply_to=reply.reply_to,
                    placeholder=reply.placeholder,
                )  # fmt: skip
                if meaning := reply.meaning:
                    await self._store(lambda: self._copies.prompt(reply.chat, number, dict(meaning)))
            case Offer() as offer:
                await self._offer(offer)
            case Verdict() as verdict:
                said = await self._confirmed(verdict.claim)
                self._add(Reply(chat=verdict.chat, text=said, reply_to=verdict.reply_to), part.of)
            case Show() as show:
                async with self._telegram.limiter.claim(Place(REPLY, None, show.chat)):
                    text, alert = await self._shown(show)
                if alert or not part.answered:
                    self._answer(part, text, alert=alert)

    async def _confirmed(self, claim: str) -> str:
        """What became of a claim, once somebody has said so or its time has passed."""
        while True:
            found = await self._claim(claim=claim)
            if found["state"] != "waiting":
                return sentence(str(found["says"]))
            await asyncio.sleep(ASKING)

    async def _offer(self, offer: Offer) -> None:
        """Have a card sent anew, unless there is nothing to decide any more."""
        try:
            await self._cards.offer(offer.space, offer.ref, offer.who, chat=offer.chat)
        except Refused as no:
            log.info("a card is not offered again", ref=offer.ref, why=no.code)

    async def _shown(self, show: Show) -> tuple[str, bool]:
        """Change a card's message; the answer to the press, and whether that is a refusal."""
        try:
            if show.page >= 0:
                there = await self._cards.turn(show.space, show.token, show.page)
            else:
                there = await self._cards.rows(show.space, show.token, show.rows)
        except Gone:
            there = False
        except Refused as no:
            return refusal(no), True
        return (show.toast, False) if there else (NO_BUTTON, True)

    def _given_up(self, part: _Part) -> None:
        """What can be done about words that Telegram does not take."""
        if isinstance(part.word, Show):
            self._answer(part, FAILED, alert=True)
        elif isinstance(part.word, Toast):
            self._say_late(part.word, part.of)

    def _answer(self, part: _Part, text: str, *, alert: bool) -> None:
        word = part.word
        if isinstance(word, Show):
            part.answered = True
            self._add(_answer(word, text, alert=alert), part.of)

    def _answer_early(self, part: _Part) -> None:
        """Tell who pressed that it comes later."""
        if isinstance(part.word, Show) and not part.answered:
            self._answer(part, COMES, alert=False)

    def _say_late(self, toast: Toast, of: _Said) -> None:
        """Say to a card what the press on it can show no more; that something was done, the card itself shows."""
        if toast.alert and toast.text:
            text = told(toast.text)
            late = Reply(chat=toast.chat, text=text.text, entities=text.entities, reply_to=toast.message)
            for word in self.admitted((late,)):
                self._add(word, of)

    async def _store(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write what has happened already, however long the store is away."""
        while True:
            try:
                return await write()
            except STORE_ERRORS as why:
                log.warning("words cannot be noted as said", why=type(why).__name__)
                await asyncio.sleep(SOON)
