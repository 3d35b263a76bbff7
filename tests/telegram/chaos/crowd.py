"""People who get cards and do with them what people do: read, turn, approve, reject, double-tap, tap what is old."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Container
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.telegram.chaos.book import Book, Tap, Word, decides, part, shows_end
from tests.telegram.chaos.load import Load
from tests.telegram.phone import ControlError, Phone
from tests.telegram.shown import Button, Message

LOOK = 0.06  # seconds between two looks at all phones
WAIT = 18.0  # seconds that somebody waits for what they pressed
URGE = 0.5  # seconds between two looks at what lies about
AGAIN = 15.0  # seconds after which somebody who is asked to tries once more
T = TypeVar("T")


@dataclass
class Somebody:
    """One person with their phone."""

    name: str
    phone: Phone
    cards: dict[int, Message] = field(default_factory=dict)  # by message, as they look now
    busy: set[int] = field(default_factory=set)  # asks that they are dealing with
    last: dict[int, float] = field(default_factory=dict)  # when they dealt with it last
    met: set[int] = field(default_factory=set)  # messages that they have seen to
    open: dict[int, int] = field(default_factory=dict)  # asks by message, of those cards by which they can decide
    prompts: dict[int, int] = field(default_factory=dict)  # prompts by the card that they reply to

    @property
    def who(self) -> str:
        return f"human:{self.name}"


class Crowd:
    """All of them. `run` looks at the phones and lets people act, until cancelled.

    `done` are the asks of which the Log says that they have ended: nobody needs to see to them any more.
    """

    def __init__(self, load: Load, phones: dict[str, Phone], book: Book, *, done: Container[int]) -> None:
        self._load, self.book, self._done = load, book, done
        self._draw = random.Random(load.seed + 2)
        self.people = {phone.id: Somebody(name, phone) for name, phone in phones.items()}
        self._telegram = next(iter(phones.values())).telegram
        self._bell = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.failures: list[Exception] = []  # mistakes of the test's own

    async def run(self) -> None:
        """Until cancelled."""
        version, urged = 0, 0.0
        try:
            while True:
                news = await self._telegram.ask("GET", "news", since=version)
                version = news["version"]
                for view in sorted(news["messages"], key=lambda one: one["message"]["message_id"]):
                    self._see(Message.read(view))
                for answer in news["answers"]:
                    self.book.answered(answer["id"], answer["answer"])
                if news["messages"] or news["answers"]:
                    bell, self._bell = self._bell, asyncio.Event()
                    bell.set()
                if (now := asyncio.get_running_loop().time()) - urged > URGE:
                    self._urge(now)
                    urged = now
                await asyncio.sleep(LOOK)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _see(self, message: Message) -> None:
        person = self.people.get(message.chat_id)
        if person is None or not message.by_bot or message.deleted:
            return
        self.book.saw(message)
        if message.force_reply and message.reply_to is not None:
            person.prompts[message.reply_to] = message.id
            return
        n = part(message.text)
        if n < 0 or message.reply_to is not None:
            return
        old = person.cards.get(message.id)
        person.cards[message.id] = message
        if decides(message):
            person.open[message.id] = n
        else:
            person.open.pop(message.id, None)
        if decides(message) and message.id not in person.met:
            person.met.add(message.id)
            if self._draw.random() < 0.7:
                self._act(person, n, self._pick(message))
        elif old and decides(old) and shows_end(message):
            if self._draw.random() < 0.12:
                self._act(person, n, self._stale(old))
            if "Take back" in message.labels and self._draw.random() < 0.05:
                self._act(person, n, self._take_back)

    def _urge(self, now: float) -> None:
        """Have everybody see to what has waited for a while."""
        for person in self.people.values():
            for message, n in list(person.open.items()):
                if n in self._done or n in person.busy or now - person.last.setdefault(n, now) < AGAIN:
                    continue
                self._act(person, n, self._pick(person.cards[message], decisive=True))

    def _act(self, person: Somebody, n: int, act: "Act") -> None:
        if n in person.busy:
            return
        person.busy.add(n)
        wait = self._draw.expovariate(1 / self._load.think)
        task = asyncio.create_task(self._acting(person, n, act, min(wait, 5 * self._load.think)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _acting(self, person: Somebody, n: int, act: "Act", wait: float) -> None:
        try:
            await asyncio.sleep(wait)
            if card := self._card(person, n):
                await act(person, card)
        except ControlError:
            pass  # the message was forgotten, or the person has blocked the bot
        except Exception as why:  # noqa: BLE001 - told at the end
            self.failures.append(why)
        finally:
            person.busy.discard(n)
            person.last[n] = asyncio.get_running_loop().time()

    def _card(self, person: Somebody, n: int) -> Message | None:
        own = [card for card in person.cards.values() if part(card.text) == n]
        return self._draw.choice(own) if own else None

    def _pick(self, card: Message, *, decisive: bool = False) -> "Act":
        """What they will do."""
        ways: list[tuple[int, Act]] = [(22, self._say_no), (6, self._write_no)]
        labels = card.labels
        if any(label.startswith("Page") or label == "Approve" for label in labels):
            ways += [(50, self._say_yes), (9, self._twice)]
        if any(_data(b).startswith("v1:opt") for b in _buttons(card)) or "Answer" in labels:
            ways += [(60, self._answer)]
        if not decisive:
            ways += [(8, self._ask_back), (4, self._typed), (5, self._half_way)]
        return self._draw.choices([way for _, way in ways], [weight for weight, _ in ways])[0]

    # What people do

    async def _say_yes(self, person: Somebody, card: Message) -> None:
        """Read all pages, and approve."""
        card = await self._read(person, card)
        if button := _labelled(card, "Approve"):
            await self._tapped(person, card, button)

    async def _twice(self, person: Somebody, card: Message) -> None:
        """Tap Approve twice, and Reject, without waiting."""
        card = await self._read(person, card)
        if button := _labelled(card, "Approve"):
            taps = [self.press(person, card, _data(button)) for _ in range(2)]
            taps.append(self.press(person, card, _data(button).replace("approve", "why3")))
            for tap in await asyncio.gather(*taps):
                await self._told(tap)

    async def _say_no(self, person: Somebody, card: Message) -> None:
        """Reject, with one of the reasons or none."""
        card = await self._reasons(person, card)
        label = self._draw.choice(("Not now", "Wrong target", "No reason"))
        if button := _labelled(card, label):
            await self._tapped(person, card, button)

    async def _write_no(self, person: Somebody, card: Message) -> None:
        """Reject with a reason of one's own."""
        card = await self._reasons(person, card)
        if button := _labelled(card, "Write…"):
            await self._prompted(person, card, button, f"It does not fit: {self._draw.randrange(1000)}")

    async def _answer(self, person: Somebody, card: Message) -> None:
        """Answer by an option, or in words."""
        card = await self._read(person, card)
        options = [button for button in _buttons(card) if _data(button).startswith("v1:opt")]
        if options:
            await self._tapped(person, card, self._draw.choice(options))
        elif button := _labelled(card, "Answer"):
            await self._prompted(person, card, button, f"To the harbour {self._draw.randrange(1000)} \U0001f6a2")

    async def _ask_back(self, person: Somebody, card: Message) -> None:
        """Ask something by replying to the card."""
        await self._say(person, card, f"Which one do you mean? {self._draw.randrange(10**6)}", reply=card)

    async def _typed(self, person: Somebody, card: Message) -> None:
        """Approve or reject by the card's code."""
        if code := card.text.partition("Code: ")[2][:6]:
            await self._say(person, card, f"/{self._draw.choice(('approve', 'reject'))} {code}")

    async def _half_way(self, person: Somebody, card: Message) -> None:
        """Begin to reject, and go back."""
        card = await self._reasons(person, card)
        if button := _labelled(card, "Back"):
            await self._tapped(person, card, button)

    def _stale(self, card: Message) -> "Act":
        """Tap a button that is not there any more."""
        old = [_data(b).replace("reject", "why0") for b in _buttons(card) if _data(b).startswith("v1:")]
        choice = self._draw.choice(old)

        async def act(person: Somebody, now: Message) -> None:
            await self._told(await self.press(person, card, choice))

        return act

    async def _take_back(self, person: Somebody, card: Message) -> None:
        if button := _labelled(card, "Take back"):
            await self._tapped(person, card, button)

    # How they do it

    async def _read(self, person: Somebody, card: Message) -> Message:
        """Turn through the pages until there is something to say yes with, or it is over."""
        for _ in range(12):
            onward = next((b for b in _buttons(card) if b.text.endswith("→")), None)
            if any(_data(b).startswith(("v1:approve", "v1:opt", "v1:answer")) for b in _buttons(card)):
                return card
            if onward is None or not await self._tapped(person, card, onward):
                return card
            card = await self._changed(person, card)
        return card

    async def _changed(self, person: Somebody, card: Message) -> Message:
        """The card once it looks otherwise, or as it is after a while."""
        await self._until(lambda: person.cards[card.id].version > card.version, WAIT / 3)
        return person.cards[card.id]

    async def _reasons(self, person: Somebody, card: Message) -> Message:
        button = _labelled(card, "Reject")
        if button:
            await self._tapped(person, card, button)
            await self._until(lambda: "Write…" in person.cards[card.id].labels, WAIT / 3)
        return person.cards[card.id]

    async def _prompted(self, person: Somebody, card: Message, button: Button, text: str) -> None:
        """Press what asks for a text, and reply with it."""
        if not await self._tapped(person, card, button):
            return
        if number := await self._until(lambda: person.prompts.get(card.id), WAIT / 3):
            prompt = next((m for m in await person.phone.messages() if m.id == number), None)
            if prompt:
                await self._say(person, card, text, reply=prompt)

    async def _tapped(self, person: Somebody, card: Message, button: Button) -> bool:
        """Press, and wait for the answer. False: it was refused, or never answered."""
        tap = await self.press(person, card, _data(button))
        await self._told(tap)
        return tap.toast is not None and not tap.toast.alert

    async def press(self, person: Somebody, card: Message, data: str) -> Tap:
        """Press a button, or what is given out as one."""
        number = await person.phone.press(card, data=data)
        return self.book.pressed(Tap(number, person.who, part(card.text), data))

    async def _told(self, tap: Tap) -> None:
        await self._until(lambda: tap.toast, WAIT)

    async def _say(self, person: Somebody, card: Message, text: str, reply: Message | None = None) -> None:
        said = await person.phone.say(text, reply_to=reply)
        word = self.book.typed(person.phone.id, said.id, Word(person.who, part(card.text), text))
        await self._until(lambda: word.answer, WAIT)

    async def _until(self, look: Callable[[], T], seconds: float) -> T | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not (found := look()):
                    await self._bell.wait()
                return found
        return None


Act = Callable[[Somebody, Message], Awaitable[Any]]


def _buttons(card: Message) -> list[Button]:
    return [button for row in card.buttons for button in row]


def _labelled(card: Message, label: str) -> Button | None:
    return next((button for button in _buttons(card) if button.text == label), None)


def _data(button: Button) -> str:
    return button.callback_data or ""
