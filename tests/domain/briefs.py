"""Documents and entries that a Brief is made of, for tests: told ones by hand, and any at random."""

import json
import random
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from store.domain.ask import Ask, step
from store.domain.brief import Brief, assemble
from store.domain.entry import ABSENT, Entry, Logged
from store.domain.fact import Fact
from store.domain.grant import Grant
from store.domain.huddle import Huddle
from store.domain.item import Item
from store.domain.item import step as item_step
from store.domain.job import Job
from store.domain.lines import View
from store.domain.mailbox import MailNote
from store.domain.moments import DAY, HOUR, MINUTE
from store.domain.sentences import text
from store.domain.slot import Now, Who
from store.domain.sync import ON_TIME, Window
from tests.tokenizer import tokens, vocabulary

ME = "agent:codex"
NOW = 1_796_000_000_000
BASE64 = string.ascii_letters + string.digits + "-_"
SHORT = "0123456789abcdefghjkmnpqrstvwxyz"
HEAD = {"ok": True, "space": "fleet", "caller": ME, "agent": ME}
STARTED = {**HEAD, "started": {"agent": ME, "shift": 3, "resumed": True}}


@dataclass
class Material:
    """A View in the making."""

    seed: int = 0
    documents: list[Any] = field(default_factory=list)
    entries: dict[int | str, Logged] = field(default_factory=dict)
    slots: dict[str, Any] = field(default_factory=dict)
    seats: dict[str, Item] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    @property
    def view(self) -> View:
        parts: dict[str, Any] = {"documents": tuple(self.documents), "entries": self.entries, "seats": self.seats}
        return View(me=ME, now=NOW, **parts, **self.slots)

    def change(self, **fields: Any) -> None:
        """The document made last, otherwise."""
        self.documents[-1] = replace(self.documents[-1], **fields)

    def say(self, summary: str, *, by: str = ME, ago: int = 0, kind: str = "memo", payload: Any = ABSENT) -> str:
        """The id of a new entry."""
        id = f"{NOW - ago}-{len(self.entries) + 1}"
        entry = Entry(where="job:x", kind=kind, by=by, via="token", client="test", summary=summary, payload=payload)
        self.entries[id] = Logged(id=id, entry=entry)
        return id

    def ask(self, summary: str = "Publish?", *, ago: int = 2 * HOUR, **more: Any) -> Ask:
        """A pending ask of ours."""
        made = Ask(
            id="ask_" + "".join(self.random.choices(BASE64, k=22)), by=ME, where="job:release", digest="",
            made=NOW - ago, deadline=NOW - ago + DAY, valid_for=DAY, asked=self.say(summary, ago=ago),
        )  # fmt: skip
        made = replace(made, **more)
        self.documents.append(made)
        return made

    def settled(
        self, verdict: str, *, ago: int = 3 * MINUTE, by: str = "human:ana", reason: str = "", **more: Any
    ) -> Ask:
        """An ask of ours that a person decided."""
        made = self.ask(**more)
        said = self.say(verdict, by=by, ago=ago, payload={"reason": reason} if reason else {})
        self.documents[-1] = replace(step(made, verdict, at=NOW - ago, by=by), decided=said)
        return made

    def questioned(self, question: str, *, ago: int = 5 * MINUTE, **more: Any) -> Ask:
        """An ask of ours that a person asked back about."""
        return self.ask(questioned=True, question=self.say(question, by="human:ana", ago=ago), **more)

    def item(self, summary: str = "Review it", *, ago: int = HOUR, sender: str = "agent:grok", **more: Any) -> Item:
        """An open handoff to us."""
        made = Item(
            id="ci_" + "".join(self.random.choices(SHORT, k=10)), sender=sender, to=ME, where="job:auth-flow",
            made=NOW - ago, deadline=NOW - ago + DAY, sent=self.say(summary, by=sender, ago=ago),
        )  # fmt: skip
        made = replace(made, **more)
        self.documents.append(made)
        return made

    def seat(self, question: str = "Which one?", **more: Any) -> Item:
        """An open seat of ours."""
        return self.item(question, **({"huddle": "hd_" + "".join(self.random.choices(SHORT, k=10))} | more))

    def huddle(self, question: str = "Which one?", *ended: str, ago: int = 2 * HOUR, open_: int = 0) -> Huddle:
        """A huddle that is ours to close: seats that ended in these ways half way, and open ones."""
        asked = self.say(question, by="agent:grok", ago=ago)
        id = "hd_" + "".join(self.random.choices(SHORT, k=10))
        for event in (*ended, *[""] * open_):
            seat = self.item(question, to="agent:muse", ago=ago, huddle=id, sent=asked)
            del self.documents[-1]
            at = NOW - ago // 2
            self.seats[seat.id] = item_step(seat, event, at=at, by="agent:muse") if event else seat
        seats = [seat for seat in self.seats.values() if seat.huddle == id]
        made = Huddle(
            id=id, by="agent:grok", where="job:auth-flow", closer=ME, seats=tuple(seat.id for seat in seats),
            made=NOW - ago, deadline=NOW - ago + DAY, asked=asked,
        )  # fmt: skip
        self.documents.append(made)
        return made

    def fact(self, text: str = "The staging database is Postgres 16", *, due: int = DAY, **more: Any) -> Fact:
        """A fact of ours that was to be reviewed a while ago."""
        id = "fa_" + "".join(self.random.choices(SHORT, k=10))
        made = Fact(
            id=id, by=ME, where="job:auth-flow", made=NOW - due - 90 * DAY, first=id, review_by=NOW - due,
            said=self.say(text, ago=due + 90 * DAY, kind="fact"),
        )  # fmt: skip
        self.documents.append(replace(made, **more))
        return made

    def declined(self, reason: str, *, ago: int = HOUR, **more: Any) -> Item:
        """A handoff of ours that was turned down."""
        made = self.item(sender=ME, to="agent:muse", **more)
        made = item_step(made, "decline", at=NOW - ago, by="agent:muse")
        self.documents[-1] = replace(made, ended=self.say(reason, by="agent:muse", ago=ago))
        return made

    def note(self, label: str = "for later", *, ago: int = 2 * HOUR, by: str = "agent:grok") -> MailNote:
        """A mailbox note."""
        made = MailNote(
            id="mb_" + "".join(self.random.choices(SHORT, k=10)), by=by, made=NOW - ago, expires=NOW - ago + DAY,
            size=10, posted=self.say(label, by=by, ago=ago),
        )  # fmt: skip
        self.documents.append(made)
        return made

    def blocked(self, name: str, by: str, *, ago: int = HOUR, waiting_on: str = "") -> Now:
        """Somebody's Now that says they are blocked."""
        made = Now(id=name, doing="something", blocked=by, waiting_on=waiting_on, since=NOW - ago)
        self.documents.append(made)
        return made

    def window(self, slot: str = "morning", *, ago: int = 20 * MINUTE) -> None:
        """An open window, in which we are not in yet."""
        opens = NOW - ago
        self.slots["window"] = Window(slot, "2026-11-30", opens, opens + ON_TIME, opens + 4 * HOUR)

    def job(self, id: str = "auth-flow", *, title: str = "Rebuild the login", stage: str = "in_progress") -> Job:
        """A job of ours; without a title it was never opened."""
        made = Job(id=id, by="agent:grok", created=NOW - 3 * DAY, assignee=ME, stage=stage if title else "")
        if title:
            made = replace(made, opened=self.say(title, by="agent:grok", ago=3 * DAY, kind="assigned"))
        self.documents.append(made)
        return made

    def key(self, *, left: int = 6 * DAY) -> None:
        """The key that we call by, with so much time left of 30 days."""
        expires = NOW + left
        made = Grant(id="4b8c1f0e2d73", principal=ME, via="token", created=expires - 30 * DAY, expires=expires)
        self.slots["key"] = made

    def who(self, name: str = "Codex", role: str = "Security & Verification Lead") -> None:
        """Who we are."""
        self.slots["who"] = Who(id=ME, name=name, role=role, since=NOW - 30 * DAY)

    def now(self, doing: str = "Reviewing PR backlog", *, ago: int = 12 * MINUTE, **more: Any) -> None:
        """What we do."""
        self.slots["slot"] = Now(id=ME, doing=doing, since=NOW - ago, revision=4, **more)

    def recap(self, summary: str, *steps: str, ago: int = 14 * HOUR, auto: bool = False) -> None:
        """Our last recap."""
        payload = {"shift": 2, "next": list(steps), **({"auto": True} if auto else {})}
        self.slots["recap"] = self.entries[self.say(summary, ago=ago, kind="recap", payload=payload)]

    def brief(self, budget: int = 800, *, head: Mapping[str, Any] = STARTED, since: int = 0) -> Brief:
        """The Brief of all that."""
        return assemble(self.view, head=head, budget=budget, since=since)


def full() -> Material:
    """A full Brief of a real day: 3 approvals, 2 questions, 6 handoffs, 3 mailbox notes, a recap with 4 steps, Now."""
    m = Material()
    for summary in (
        "Publish the v1.2 announcement to X?",
        "Delete the staging database?",
        "Send the invoice reminder to 40 customers?",
    ):
        m.settled("approve", summary=summary)
    m.questioned("Which region first?", summary="Deploy 1.2 to production?")
    m.questioned("Did the load test pass?", summary="Merge the auth rewrite?")
    for sender, where, summary in (
        ("agent:claude-code", "job:auth-flow", "Review PR 140 for token leaks"),
        ("agent:grok", "job:billing", "Check the retry logic of the webhook"),
        ("human:ana", "job:docs", "Rewrite the quickstart"),
        ("agent:muse", "channel:design", "Check contrast of the hero poster"),
        ("agent:grok", "job:social", "Collect the launch metrics"),
        ("agent:claude-code", "job:auth-flow", "Rotate the staging credentials"),
    ):
        m.item(summary, sender=sender, where=where)
    m.note("release checklist")
    m.note("notes from the call", by="human:bo")
    m.note("palette for the console", by="agent:muse")
    m.recap(
        "Shipped PR 134 coordination contract.",
        "Review auth flow", "Close the open PRs", "Write the migration guide", "Ask ana about the budget",
    )  # fmt: skip
    m.who()
    m.now()
    return m


ALPHABETS: Sequence[str] = (
    string.ascii_letters + " ",
    string.printable,
    string.punctuation,
    "qzxjkvwQZXJKVW ",
    "\u202e\u200b\u2066\ufeff\x00\x1b\n\t",
    "🙂🚀🏽👩‍💻🇩🇪",
    "".join(map(chr, range(0x4E00, 0x4F00))),
    "".join(map(chr, range(0x600, 0x700))),
    '"\\/<>{}[]…→ ',
)


def any_text(r: random.Random, most: int) -> str:
    """Words, or the hardest of characters, or pieces of tokens."""
    kind = r.randrange(4)
    if kind == 0:
        return " ".join(r.choices(WORDS.split(), k=r.randint(1, max(1, most // 8))))[:most]
    if kind == 1:
        parts = r.choices(vocabulary(), k=r.randint(1, max(1, most // 4)))
        return b"".join(parts).decode(errors="ignore")[:most] or "-"
    return "".join(r.choices(r.choice(ALPHABETS), k=r.randint(1, most)))


WORDS = "publish delete the staging database review merge token customer before after release 1.2.3 PR 140"


def at_random(seed: int) -> Material:
    """Any number of any lines, their texts up to their limits."""
    m = Material(seed)
    r = m.random

    def says(most: int) -> str:
        return any_text(r, r.choice((20, 60, most)))

    making: Sequence[Callable[[], object]] = (
        lambda: m.settled(r.choice(("approve", "reject", "answer")), summary=says(1000), reason=says(1000)),
        lambda: m.ask(says(1000), ago=r.choice((HOUR, DAY - HOUR, 2 * DAY))),
        lambda: m.questioned(says(1000), summary=says(1000)),
        lambda: m.item(says(1000), ago=r.choice((HOUR, DAY - MINUTE, 2 * DAY)), sender=_name(r)),
        lambda: m.declined(says(1000), summary=says(1000)),
        lambda: m.note(says(120), by=_name(r)),
        lambda: m.blocked(_name(r), says(1000), waiting_on=r.choice(("", says(200)))),
        lambda: m.job("".join(r.choices(SHORT, k=r.randint(1, 63))), title=r.choice(("", says(200)))),
        lambda: m.seat(says(1000), ago=r.choice((HOUR, 2 * DAY)), sender=_name(r), urgent=r.random() < 0.5),
        lambda: m.huddle(says(1000), *r.choices(("answer", "decline"), k=r.randint(0, 12)), open_=r.choice((0, 0, 1))),
        lambda: m.fact(says(1000), due=r.choice((DAY, -DAY))),
    )
    for _ in range(r.choice((0, 1, 3, 8, 20))):
        r.choice(making)()
    if r.random() < 0.8:
        m.who(says(80), r.choice(("", says(120))))
    if r.random() < 0.5:
        m.window(r.choice(("morning", "midday", "closeout")), ago=r.choice((MINUTE, 3 * HOUR)))
    if r.random() < 0.3:
        m.key(left=r.choice((MINUTE, 6 * DAY, 20 * DAY)))
    if r.random() < 0.8:
        m.now(says(1000), ago=r.choice((MINUTE, DAY)), blocked=r.choice(("", says(1000))))
    if r.random() < 0.8:
        m.recap(says(1000), *(says(200) for _ in range(r.randint(0, 10))), ago=r.choice((HOUR, 9 * DAY)))
    return m


def _name(r: random.Random) -> str:
    return r.choice(("agent:", "human:")) + "".join(r.choices(SHORT + "-._", k=r.choice((3, 8, 62))))


def cost(result: Mapping[str, Any]) -> tuple[int, int]:
    """What an agent pays: tokens of the structure and of the text, by the real tokenizer."""
    return tokens(json.dumps(result, ensure_ascii=False, separators=(",", ":"))), tokens(text(result))
