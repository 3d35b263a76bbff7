"""A book of what was said to whom, and whether the Log bears it out."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.domain.ask import Ask
from store.domain.entry import Logged
from tests.telegram.chaos.load import PART
from tests.telegram.shown import Message, Toast

ENDS = ("decided", "withdrawn", "expired")
SETTLED = re.compile(r"\b(\w+) (approved|rejected|answered) this\b")
UNDONE = re.compile(r"\b(\w+) took the approval back\b")
ON_CARD = re.compile(r"^(Approved|Rejected|Answered) by (\w+)", re.MULTILINE)
VERDICTS = {"approved": "approve", "rejected": "reject", "answered": "answer"}
KEPT = "Kept, not yet decided"
OFFERED = ("Not rejected yet", "Telegram is busy")  # answers that say nothing of a decision
DECIDING = re.compile(r"v1:(approve|opt\d+|why[013]|take_back):")  # buttons that settle something by themselves
WORDS = (
    "Approved", "Rejected", "Answered", "Used", "Taken back", "Lapsed", "Withdrawn", "Expired",
)  # fmt: skip


def part(text: str) -> int:
    """The number of the ask that a text is about, -1 for none."""
    found = PART.search(text)
    return int(found[1]) if found else -1


def shows_end(message: Message) -> bool:
    """Whether a card shows how its ask ended, and offers no decision any more."""
    return message.text.startswith(tuple(f"{word} ·" for word in WORDS)) and not decides(message)


def decides(message: Message) -> bool:
    """Whether it has a button by which one decides, or begins to."""
    data = (b.callback_data or "" for row in message.buttons for b in row)
    return any(d.startswith(("v1:approve", "v1:reject", "v1:opt", "v1:answer", "v1:why")) for d in data)


@dataclass
class Tap:
    """One press of somebody's, on the card of an ask; `toast` once it was answered."""

    id: str
    who: str
    n: int
    data: str
    toast: Toast | None = None


@dataclass
class Word:
    """A line that somebody typed about an ask, and what the bot answered."""

    who: str
    n: int
    text: str
    answer: str = ""


@dataclass
class Book:
    """Who did what, and what they were told of it."""

    taps: dict[str, Tap] = field(default_factory=dict)
    words: dict[tuple[int, int], Word] = field(default_factory=dict)  # by chat and message
    claims: Counter[tuple[int, str, str]] = field(default_factory=Counter)  # ask, verdict, who: as cards said
    cards: dict[tuple[int, int], Message] = field(default_factory=dict)  # by chat and message, as they look now
    strays: set[tuple[int, int]] = field(default_factory=set)  # cards of which the bot never heard that they arrived
    toasts: dict[str, Toast] = field(default_factory=dict)
    replies: dict[tuple[int, int], str] = field(default_factory=dict)  # the first to each message

    def pressed(self, tap: Tap) -> Tap:
        """Somebody has pressed; the answer may have come already."""
        self.taps[tap.id] = tap
        tap.toast = self.toasts.get(tap.id)
        return tap

    def typed(self, chat: int, message: int, word: Word) -> Word:
        """Somebody has typed something; the answer may have come already."""
        self.words[chat, message] = word
        word.answer = self.replies.get((chat, message), "")
        return word

    def saw(self, message: Message) -> None:
        """A message of the bot's, new or changed."""
        if message.reply_to is not None:
            to = (message.chat_id, message.reply_to)
            text = self.replies.setdefault(to, message.text)
            if to in self.words:
                self.words[to].answer = text
        n = part(message.text)
        if n < 0 or message.force_reply or message.reply_to is not None:
            return
        self.cards[message.chat_id, message.id] = message
        for verdict, who in ON_CARD.findall(message.text):
            self.claims[n, VERDICTS[verdict.lower()], f"human:{who}"] += 1

    def answered(self, press: str, answer: Mapping[str, Any]) -> None:
        """A press was answered."""
        toast = self.toasts[press] = Toast(answer["text"], answer["alert"], answer["url"])
        if press in self.taps:
            self.taps[press].toast = toast

    def of(self, n: int) -> list[Message]:
        """The cards of an ask."""
        return [card for card in self.cards.values() if part(card.text) == n]


@dataclass(frozen=True)
class Story:
    """What the Log says of one ask."""

    n: int
    trail: str
    entries: Sequence[Logged]

    def of(self, *kinds: str) -> list[Logged]:
        """Its entries of these kinds."""
        return [line for line in self.entries if line.entry and line.entry.kind in kinds]

    @property
    def verdict(self) -> tuple[str, str]:
        """Who decided, and how; ('', '') for nobody."""
        decided = [line.entry for line in self.of("decided")]
        return (decided[0].by, decided[0].payload["verdict"]) if decided and decided[0] else ("", "")

    @property
    def undone(self) -> str:
        """Who took the approval back."""
        taken = [line.entry.by for line in self.of("taken_back") if line.entry]
        return taken[0] if taken else ""


def stories(lines: Iterable[Logged]) -> dict[int, Story]:
    """What the Log says, by the number of the ask. AssertionError: one was asked twice."""
    trails: dict[str, list[Logged]] = defaultdict(list)
    for line in lines:
        if line.entry and line.entry.trail:
            trails[line.entry.trail].append(line)
    told: dict[int, Story] = {}
    for trail, own in trails.items():
        asked = [line for line in own if line.entry and line.entry.kind == "asked"]
        if not asked:
            continue
        n = part(asked[0].summary)
        assert n not in told, f"part {n} was asked twice"
        told[n] = Story(n, trail, own)
    return told


def check(book: Book, told: Mapping[int, Story], asks: Mapping[str, Ask], *, count: int) -> None:
    """The book and the Log agree; `asks` are the documents as of now, by trail. AssertionError with what does not."""
    wrong = [*_ends(told, asks, count), *_toasts(book, told), *_words(book, told), *_cards(book, told)]
    wrong += _unasked(book, told)
    assert not wrong, f"{len(wrong)} things are wrong, the first:\n" + "\n".join(wrong[:20])


def _ends(told: Mapping[int, Story], asks: Mapping[str, Ask], count: int) -> Iterator[str]:
    """Each ask was made once and has ended once, and its document says the same."""
    if missing := sorted(set(range(count)) - told.keys()):
        yield f"never asked: {missing[:10]}"
    for story in told.values():
        ends = Counter(line.entry.kind for line in story.of(*ENDS) if line.entry)
        after = Counter(line.entry.kind for line in story.of("redeemed", "taken_back", "lapsed") if line.entry)
        state = asks[story.trail].state
        if sum(ends.values()) > 1 or sum(after.values()) > 1 or (after and not ends["decided"]):
            yield f"part {story.n} ended more than once: {ends} {after}"
        if state == "pending":
            yield f"part {story.n} has not ended"
        decided = state in ("approved", "rejected", "answered", "redeemed", "taken_back", "lapsed")
        if decided != bool(ends["decided"]):
            yield f"part {story.n} is {state}, and its Log has {dict(ends)}"


def _toasts(book: Book, told: Mapping[int, Story]) -> Iterator[str]:
    """What a press was answered with is so."""
    for tap in book.taps.values():
        if tap.toast is None or tap.toast.text.startswith((KEPT, *OFFERED)):
            continue
        yield from _claimed(
            tap.who, tap.n, tap.toast.text, told, refused=tap.toast.alert, what=f"a toast to {tap.data}"
        )
        if DECIDING.match(tap.data) and not tap.toast.text:
            yield f"{tap.who} pressed {tap.data} on part {tap.n} and was told nothing"


def _words(book: Book, told: Mapping[int, Story]) -> Iterator[str]:
    """What a line was answered with is so; a question that is said to be asked stands in the Log."""
    for word in book.words.values():
        yield from _claimed(word.who, word.n, word.answer, told, refused=True, what=f"an answer to {word.text!r}")
        if word.answer.startswith("Your question is asked") and not any(
            line.entry and (line.entry.by, line.entry.summary) == (word.who, word.text)
            for line in told[word.n].of("question")
        ):
            yield f"{word.who}: {word.text!r} on part {word.n} is said to be asked, and is not"


def _claimed(who: str, n: int, text: str, told: Mapping[int, Story], *, refused: bool, what: str) -> Iterator[str]:
    """A sentence about an ask: whoever it says has decided has; one that is no refusal says so of `who`."""
    story = told[n]
    for name, state in SETTLED.findall(text):
        by = _named(name, who)
        if story.verdict != (by, VERDICTS[state]):
            yield f"{what} of part {n} says that {by} {state}: the Log has {story.verdict}"
        if not refused and by != who:
            yield f"{what} of part {n} tells {who} of {by}'s decision as if it were theirs"
    for by in (_named(name, who) for name in UNDONE.findall(text)):
        if story.undone != by:
            yield f"{what} of part {n} says that {by} took it back: the Log has {story.undone!r}"
    if not refused and text and not SETTLED.search(text) and not UNDONE.search(text):
        yield f"{what} of part {n} was {text!r}"


def _named(name: str, who: str) -> str:
    """The person whom a sentence names, told to `who`."""
    return who if name in ("You", "you") else f"human:{name}"


def _cards(book: Book, told: Mapping[int, Story]) -> Iterator[str]:
    """Whatever a card ever said of a decision is so."""
    for n, verdict, by in book.claims:
        if told[n].verdict != (by, verdict):
            yield f"a card of part {n} said {verdict} by {by}: the Log has {told[n].verdict}"


def _unasked(book: Book, told: Mapping[int, Story]) -> Iterator[str]:
    """Nobody decided by Telegram who has not pressed or typed anything about that ask."""
    acted = {(tap.who, tap.n) for tap in book.taps.values()} | {(word.who, word.n) for word in book.words.values()}
    for story in told.values():
        for line in story.of("decided", "taken_back", "question"):
            if line.entry and line.entry.via == "telegram" and (line.entry.by, story.n) not in acted:
                yield f"{line.entry.by} is said to have {line.entry.kind} part {story.n}, and did nothing"


def told_so(book: Book) -> Mapping[str, int]:
    """How the taps ended, counted."""
    ends: Counter[str] = Counter()
    for tap in book.taps.values():
        if tap.toast is None:
            ends["unanswered"] += 1
        elif tap.toast.text.startswith(KEPT):
            ends["kept"] += 1
        elif tap.toast.alert:
            ends["refused"] += 1
        else:
            ends["done" if tap.toast.text else "shown"] += 1
    return ends
