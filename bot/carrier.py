"""One step of a plan, taken: a copy sent, edited, dropped, or somebody told of as not reached.

A copy is recorded as `sending` before it is sent, and with its message after. A page counts as seen when Telegram has
taken the message that shows it, or when a press on that message proves that it is there.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any, TypeVar

import structlog

from store.domain.copy import STEPS, Copy, step
from store.domain.errors import Refused

from .cards import answers, layout_of, render
from .client import Telegram
from .day import is_day
from .door import FAILED, Door
from .failures import Bad, Blocked, Down, Failure, Flood, Gone, Migrated, Same, Uncertain
from .lanes import Then
from .message import Message
from .plan import ASKED_FOR, BACK, GONE, Recipient, is_pending
from .shelf import Held, Shelf

__all__ = ["Carrier", "changing", "new_copy", "shown", "urgency"]

TOKEN_BYTES = 9  # 12 characters
UNSURE = 3  # times that the same answer may have arrived

Sent = TypeVar("Sent")
log = structlog.get_logger(__name__)


def shown(view: Mapping[str, Any], copy: Copy) -> Message:
    """A copy as it looks once it has arrived: the page that it is on has been seen then.

    One in a chat that is its person's no more looks as somebody's does who may not decide.
    """
    if not copy.to.startswith("chat:"):
        view = {**view, "to": [to for to in view["to"] if to["who"] != copy.to or to["chat"] in (0, copy.chat)]}
    if not is_pending(view):
        return render(view, copy.to, copy)
    copy = _laid_out(view, copy)
    return render(view, copy.to, replace(copy, seen=_with(copy.seen, copy.page)))


class Carrier:
    """Takes steps for the refs on a shelf; `clock` gives ms; `again` has a ref looked at anew."""

    def __init__(
        self, telegram: Telegram, door: Door, shelf: Shelf, *, clock: Callable[[], int],
        again: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        self._telegram, self._door, self._shelf, self._clock, self._again = telegram, door, shelf, clock, again
        self._unsure: dict[str, int] = {}  # by token: how often an answer may have arrived below that card

    async def send(self, held: Held, to: Recipient, token: str = "") -> Then:
        """Send a new copy, or the one of this token that was put off. It takes the place of the others."""
        view = _view(held)
        copy = held.copies[token] if token else new_copy(held, to, view)
        why = copy.why if copy.why == ASKED_FOR else ""
        copy = step(
            _laid_out(view, copy), "send", sent=self._clock(), why=why, push=to.push, heard=to.answered
        )  # fmt: skip
        message = shown(view, copy)
        copy = replace(copy, shown=message.hash)
        others = [replace(c, live=False) for c in held.of(to.who) if c.live and c.token != copy.token]
        await self._shelf.put(held, copy, *others)
        try:
            number = await _or_plainly(
                message,
                lambda words: self._telegram.send(
                    to.chat, words, silent=to.silent, thread=to.thread, kind=urgency(held, to)
                ),
            )
        except Failure as fault:
            return await self._not_sent(held, copy.token, fault)
        await self._arrived(held, copy.token, number, why=BACK if to.lost else why)
        return Then.DONE

    async def edit(self, held: Held, token: str, *, page: int | None = None, kind: str = "reply") -> Then:
        """Bring a message to what stands; `page` turns to it. Raises what a send does not: the failures of one."""
        async with held.speaking(token):
            view, copy = _view(held), held.copies[token]
            if page is not None:
                copy = replace(copy, page=max(page, 0))
                # Of what is over no page counts as seen any more, and none that was as unseen.
                copy = _laid_out(view, copy) if is_pending(view) else replace(copy, page=_last(view, copy))
                await self._shelf.put(held, copy)
            message = shown(view, copy)
            await _or_plainly(message, lambda words: self._telegram.edit(copy.chat, copy.message, words, kind=kind))
            copy = replace(held.copies[token], shown=message.hash)
            if is_pending(view):
                copy = _laid_out(view, copy)
                copy = replace(copy, seen=_with(copy.seen, copy.page))
            await self._shelf.put(held, copy)
        return Then.DONE

    async def mend(self, held: Held, token: str) -> Then:
        """`edit`, and what is to be done if that is not possible."""
        tried = self._clock()
        try:
            return await self.edit(held, token, kind=changing(held, held.copies[token].to))
        except (Flood, Same):
            return Then.MORE
        except Down:
            return Then.HELD
        except Uncertain:
            return Then.LATER
        except Failure as why:
            copy = held.copies[token]
            match why:
                case Gone():
                    copy = replace(copy, live=False, why=GONE)
                case Blocked() if (copy.state, "blocked") in STEPS:
                    copy = step(copy, "blocked", why=why.said, missed=tried)
                case Blocked() if then := await self._still_lost(held, replace(copy, missed=tried)):
                    return then  # what it shows is not what stands: it is edited once they are back
                case Migrated():
                    await self._moved(held, copy.chat, why.new)
                    copy = replace(copy, live=False, why=GONE)
                case _:  # said once, in the log: what is refused is not asked again until it looks different
                    copy = replace(copy, shown=shown(_view(held), copy).hash, why=why.said)
            await self._shelf.put(held, copy)
            return Then.MORE

    async def tell(self, held: Held, token: str) -> Then:
        """Tell the door that somebody is reached again, or is not; only then is that done with."""
        copy = held.copies[token]
        if not copy.to.startswith("chat:"):
            try:
                await self._tell(held, copy)
            except Refused as no:  # whose account it is not any more
                log.warning("the door does not hear who is reached", ref=held.ref, to=copy.to, why=no.code)
        told = {"why": ""} if copy.state == "sent" else {"live": False}
        await self._shelf.put(held, replace(held.copies[token], **told))
        return Then.MORE

    async def _still_lost(self, held: Held, copy: Copy) -> Then | None:
        """Tell the door that somebody thought to be back is not, if that is news there. None: it will not hear it."""
        to = held.to.get(copy.to)
        if copy.state != "unreachable":
            return None
        if to is None or to.lost:  # found by another of their cards, while this one was on its way
            return Then.MORE
        try:
            await self._tell(held, copy)
        except Refused as no:
            log.warning("the door does not hear who is reached", ref=held.ref, to=copy.to, why=no.code)
            return None
        if (to := held.to.get(copy.to)) is None or to.lost:
            return Then.MORE
        self._again(held.space, held.ref)  # the door knows better: they are back since, or it is another's chat by now
        return Then.LATER

    async def _tell(self, held: Held, copy: Copy) -> None:
        # It may have taken long to tell, and since then they may have come back, or left: the later word counts.
        age = max(0, self._clock() - (copy.missed or copy.sent))
        if copy.state == "sent":
            await self._door.reached(user=copy.chat, age=age)
            return
        failed = copy.state == "failed"
        why = FAILED if failed else copy.why
        said = await self._door.unreached(user=copy.chat, why=why, age=age, space=held.space, ref=held.ref)
        if to := held.to.get(copy.to):  # until the card is seen anew: else another copy would be sent at once
            lost = bool(said["lost"])
            held.to[copy.to] = replace(to, wanted=to.wanted and not (failed or lost), lost=lost or (failed and to.lost))

    async def say(self, held: Held, token: str) -> Then:
        """Tell somebody, below their card, what they were answered to their questions: once, as far as can be told.

        Noted after it was said; where it may have arrived it is said again a few times, and the card shows it as well.
        """
        copy, to = held.copies[token], held.to[held.copies[token].to]
        heard = max(c.heard for c in held.of(copy.to) if c.chat == copy.chat)
        message = answers(_view(held), copy.to, after=heard)
        number = 0
        try:
            number = await _or_plainly(
                message,
                lambda words: self._telegram.send(copy.chat, words, silent=to.silent, reply_to=copy.message),
            )
        except Flood:
            return Then.MORE
        except Down:
            return Then.HELD
        except Uncertain:
            self._unsure[token] = self._unsure.get(token, 0) + 1
            if self._unsure[token] < UNSURE:
                return Then.LATER
        except Failure as why:  # the card shows it all the same
            log.info("an answer was not said", ref=held.ref, to=copy.to, why=type(why).__name__, status=why.status)
        self._unsure.pop(token, None)
        await self._shelf.put(held, replace(held.copies[token], heard=to.answered))
        if number:
            await self._shelf.mean(copy, number)
        return Then.MORE

    async def drop(self, held: Held, token: str) -> Then:
        """A copy that was never sent, and is not to be."""
        await self._shelf.put(held, replace(held.copies[token], live=False, why="not needed any more"))
        return Then.MORE

    async def _moved(self, held: Held, old: int, new: int) -> None:
        """Tell the door that a group has another number, and see where the card is to go now."""
        await self._door.migrated(old=old, new=new)
        self._again(held.space, held.ref)

    async def _arrived(self, held: Held, token: str, number: int, *, why: str) -> None:
        copy = held.copies[token]
        if copy.state == "sending":  # else it was pressed already
            copy = step(copy, "delivered")
        await self._shelf.put(held, replace(copy, message=number, seen=_with(copy.seen, copy.page), why=why))

    async def _not_sent(self, held: Held, token: str, why: Failure) -> Then:
        copy, then = held.copies[token], Then.MORE
        others: list[Copy] = []
        if copy.state != "sending":
            return then  # pressed: it did arrive
        log.info("not sent", ref=held.ref, to=copy.to, why=type(why).__name__, status=why.status)
        match why:
            case Blocked():
                copy = step(copy, "blocked", why=why.said)
            case Flood():
                copy = step(copy, "put_off")
            case Down():
                copy, then = step(copy, "put_off"), Then.HELD
            case Migrated():
                copy = step(copy, "put_off")
                await self._shelf.put(held, copy)  # while the door is away it is tried again, and so found again
                await self._moved(held, copy.chat, why.new)
                copy, then = replace(copy, live=False), Then.DONE
            case Uncertain():
                copy = step(copy, "timed_out")
            case Bad() | _:
                others = [replace(c, live=True) for c in held.of(copy.to) if _still_there(c, copy)][-1:]
                copy = step(copy, "refused", why=why.said, live=not others)
        await self._shelf.put(held, copy, *others)
        return then


def _view(held: Held) -> Mapping[str, Any]:
    if held.view is None:
        raise RuntimeError("a ref was acted on before it was looked at")
    return held.view


def new_copy(held: Held, to: Recipient, view: Mapping[str, Any]) -> Copy:
    """A copy to be sent; what was seen of the same card on an older one stays seen."""
    pages, layout = layout_of(view, to.who)
    older = [c for c in held.of(to.who) if (c.digest, c.layout, c.chat) == (view["digest"], layout, to.chat)]
    seen = tuple(sorted({page for copy in older for page in copy.seen}))
    return Copy(
        token=token_urlsafe(TOKEN_BYTES),
        ref=held.ref,
        to=to.who,
        chat=to.chat,
        thread=to.thread,
        digest=view["digest"],
        pages=pages,
        seen=seen,
        bot=held.bot,
        layout=layout,
    )


def urgency(held: Held, to: Recipient) -> str:
    """The kind of message that a card is to somebody, as the limiter knows it."""
    if to.is_group:
        return "notice"
    if is_day(held.ref):
        return "reminder"
    return "reminder" if any(c.push < to.push and c.state == "sent" for c in held.of(to.who)) else "ask"


def changing(held: Held, who: str) -> str:
    """The kind of message that a change of a card is to somebody: a reply, where it shows what they did themselves."""
    if who.startswith("chat:"):
        return "notice"
    if is_day(held.ref):
        return "reminder"
    decided = (held.view or {}).get("decided") or {}
    return "reply" if decided.get("by") == who else "change"


async def _or_plainly(message: Message, say: Callable[[Message], Awaitable[Sent]]) -> Sent:
    """Say it, and once more without anything but words and buttons of ours where Telegram will not have it so."""
    try:
        return await say(message)
    except Bad as why:
        log.warning("said again in plain words", method=why.method, said=why.said)
        rows = tuple(tuple(each for each in row if "callback_data" in each) for row in message.rows)
        return await say(replace(message, entities=(), rows=tuple(row for row in rows if row)))


def _laid_out(view: Mapping[str, Any], copy: Copy) -> Copy:
    """With the pages that its card has now. What was seen when they were others counts no more."""
    pages, layout = layout_of(view, copy.to)
    same = (copy.digest, copy.layout) == (view["digest"], layout)
    return replace(
        copy,
        digest=view["digest"],
        layout=layout,
        pages=pages,
        page=min(copy.page, pages - 1),
        seen=copy.seen if same else (),
    )


def _last(view: Mapping[str, Any], copy: Copy) -> int:
    """The page of a copy, or the last one that there is."""
    return min(copy.page, layout_of(view, copy.to)[0] - 1)


def _still_there(copy: Copy, newer: Copy) -> bool:
    """Whether it can be used in place of a newer one that was not to be sent."""
    return copy.state == "sent" and copy.why != GONE and (copy.chat, copy.thread) == (newer.chat, newer.thread)


def _with(seen: tuple[int, ...], page: int) -> tuple[int, ...]:
    return seen if page in seen else tuple(sorted({*seen, page}))
