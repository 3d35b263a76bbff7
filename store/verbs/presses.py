"""What people press and type on Telegram: whose it is, on which copy of which card, and the one verb that does it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..domain import ask as ask_rules
from ..domain import item as item_rules
from ..domain.ask import Ask
from ..domain.calendar import SLOTS
from ..domain.commit import Commit
from ..domain.copy import Copy, check_press, check_whole
from ..domain.day import SyncDay
from ..domain.errors import Refused
from ..domain.ids import short_code
from ..domain.item import Item
from ..domain.moments import iso
from ..domain.pairing import check_private
from ..engine.copies import Copies
from ..engine.reads import Doc, Range
from ..engine.store import Store
from .asks import found, words
from .call import Call, Result, Row
from .catalog import ROWS
from .day_presses import CHECK_IN, MAY_CHECK_IN, REPLIED, STOP
from .decisions import ask_back, decide, take_back
from .faults import told_plainly
from .handoffs import accept, roles_of_caller
from .identity import Badge, enter, enterable, recognise
from .notes import note
from .perform import perform
from .places import missing
from .unheard import owners

ASKED = 5000  # asks of one owner among which a code is looked for
CODE_LIMIT = 20  # characters


@dataclass(frozen=True, slots=True)
class Press:
    """One press or line of one person: the update that brought it, the account, the chat; `bot` is the bot's number."""

    update: int
    user: int
    chat: int
    chat_type: str
    space: str = ""
    bot: int = 0

    @property
    def badge(self) -> Badge:
        """Whoever's account it is."""
        spaces = (("bot", self.space),) if self.space else ()
        return Badge("telegram", str(self.user), via="telegram", client="telegram", spaces=spaces)

    @property
    def action(self) -> str:
        """The same for the same update, however often it is handed over."""
        return f"tg:{self.bot}:{self.update}"


async def tap(
    store: Store, press: Press, *, message: int, verb: str, token: str, text: str = "", option: int = -1, near: str = ""
) -> Result:
    """Do what a button says; `near` is where it is probably. Refuses not_found, not_yours, and what its verb does."""
    check_private(user=press.user, chat=press.chat, chat_type=press.chat_type)
    copies, holder = Copies(store.reader), ""
    with told_plainly():
        held = await copies.by_token(token, near=near)
        if held and not held[1].message:
            holder = await copies.holder(held[1], message)
    own = held[1] if held else None
    copy = check_press(own, user=press.user, chat=press.chat, message=message, holder=holder)
    space = held[0] if held else ""
    return await _pressed(store, replace(press, space=space), copy, verb, text=text, option=option)


async def typed(store: Store, press: Press, *, verb: str, code: str) -> Result:
    """Approve or reject by the code of a card that was shown whole. Refuses not_found, and what `tap` does."""
    check_private(user=press.user, chat=press.chat, chat_type=press.chat_type)
    if verb not in ("approve", "reject"):
        raise Refused("invalid_argument", "A code approves or rejects. Nothing changed.", argument="verb")
    with told_plainly():
        who = await recognise(store, press.badge)
        spaces = await enterable(store, who)
    here: list[tuple[str, str]] = []
    over: list[tuple[str, str]] = []
    for space in spaces:
        named = {"code": code.strip().lower()[:CODE_LIMIT]}
        coded = await perform(store, replace(press, space=space).badge, _CODED, named)
        here += [(space, trail) for trail in coded["trails"]]
        over += [(space, trail) for trail in coded["over"]]
    here = here or over[:1]
    if len(here) != 1:
        why = "Two asks have this code" if here else "Nothing that waits for you has this code"
        raise Refused("not_found", f"{why}. Nothing changed. See /pending.")
    space, trail = here[0]
    with told_plainly():
        sent = await Copies(store.reader).of(space, f"{Ask.kind}:{trail}")
    mine = [c for c in sent if c.live and c.to == who.principal and c.chat == press.chat and c.message]
    # Of what is over it is said what became of it, whatever was shown. The card that there is comes first all the same:
    # by it a decision that is handed over again is the same, and its first result is told.
    if over[:1] == here and not mine:
        mine = [Copy(token="", ref=f"{Ask.kind}:{trail}", to=who.principal, chat=press.chat)]
    if not mine:
        raise Refused("not_found", "No card of it was sent to you. Nothing changed. See /pending.")
    best = max(mine, key=lambda copy: (copy.whole, len(copy.seen), copy.sent))
    return await _pressed(store, replace(press, space=space), best, verb)


async def _coded(call: Call, *, code: str) -> Result:
    """The pending asks for the caller that have this code; and those that are over, the last one first."""
    await call.admit()
    names = owners(call.me, call.member)
    pages = await call.look_each(Range("inbox", name, ASKED, low=call.now) for name in names)
    trails = dict.fromkeys(id for page in pages for id in page.ids(Ask))
    found = [trail for trail in trails if short_code(trail) == code]
    return {"trails": found, "over": [] if found else await _over(call, code, names)}


async def _over(call: Call, code: str, names: Collection[str]) -> list[str]:
    page = await call.look(Range("settled", "", ASKED, latest=True))
    coded = [trail for trail in page.ids(Ask) if short_code(trail) == code]
    asks = await call.look_each(Doc(Ask, trail) for trail in coded) if coded else []
    return [ask.id for ask in asks if ask and {*names} & {*ask.approvers}]


@dataclass(frozen=True, slots=True)
class _Way:
    """A button's verb: the row that it comes to, and its arguments from the copy and what was said.

    `of` takes what the card is of, `text` what was said. `whole`: it may say yes, to what was shown whole alone;
    `window`: the option that was pressed names a window of the day.
    """

    row: Row
    of: str
    text: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    window: bool = False


async def _pressed(store: Store, press: Press, copy: Copy, verb: str, *, text: str = "", option: int = -1) -> Result:
    with told_plainly():
        who = await recognise(store, press.badge)
    if copy.to != who.principal:  # the account was somebody else's when the card came
        raise Refused("not_yours", "This card was sent to somebody else. Nothing changed.")
    kind, _, id = copy.ref.partition(":")
    way = _WAYS.get((kind, verb))
    if way is None:
        raise Refused("invalid_argument", f"This card has no {verb[:40]}. Nothing changed.", argument="verb")
    args = {way.of: id, **way.fixed}
    if text:
        args[way.text] = text
    if way.row is _DECIDE:
        args |= {"digest": copy.digest, **({"option": option} if option >= 0 else {})}
    if way.window:
        args |= {"slot": SLOTS[option] if 0 <= option < len(SLOTS) else ""}
    if way.whole and not copy.whole:  # said only then, so that a press stays the same when it is handed over again
        args |= {"pages": copy.pages, "shown": copy.read}
    with told_plainly():
        caller = await enter(store, press.badge, who=who)
    return await perform(store, press.badge, way.row, args, action_id=press.action, caller=caller)


async def _decide(
    call: Call,
    *,
    trail: str,
    verdict: str,
    digest: str,
    answer: str = "",
    reason: str = "",
    option: int = -1,
    pages: int = 1,
    shown: int = 1,
) -> Commit:
    """`decide` on a card: what is approved or answered there was shown whole (`shown` of its `pages` were)."""
    ask = await found(call, trail)
    if option >= 0 and not answer:
        options = (await words(call, ask)).options
        answer = options[option] if option < len(options) else ""
    if verdict != "reject" and ask.as_of(call.now).state == "pending":
        _check_shown(pages, shown, digest=digest, asked=ask.digest)
    return _told(call, await decide(call, trail=trail, verdict=verdict, digest=digest, answer=answer, reason=reason))


def _check_shown(pages: int, shown: int, *, digest: str = "", asked: str = "") -> None:
    """Let somebody say yes to a card that was shown so far. Refuses stale, digest_mismatch."""
    copy = Copy(token="", ref="", to="", chat=0, digest=digest, pages=pages, seen=tuple(range(shown)))
    check_whole(copy, digest=asked)


async def _ask_back(call: Call, *, trail: str, text: str = "") -> Commit:
    plan = await ask_back(call, trail=trail, text=text)
    says = "Your question is asked; the answer comes below the card. The ask stays open until its deadline."
    return replace(plan, result={**plan.result, "says": says})


async def _take_back(call: Call, *, trail: str, reason: str = "") -> Commit:
    return _told(call, await take_back(call, trail=trail, reason=reason))


async def _settle(
    call: Call, *, item: str, decline: bool = False, reason: str = "", pages: int = 1, shown: int = 1
) -> Commit:
    """`accept` on a card: what is accepted there was shown whole."""
    if not decline and await _is_open(call, item):
        _check_shown(pages, shown)
    return _told(call, await accept(call, item=item, decline=decline, reason=reason))


async def _answer(call: Call, *, item: str, summary: str = "", pages: int = 1, shown: int = 1) -> Commit:
    """Answer a seat in a huddle, the question of which was shown whole."""
    seat = await call.read(Doc(Item, item))
    if seat is None or not summary.strip():
        raise Refused("invalid_argument", "An answer needs its text. Nothing changed.", argument="text")
    if await _is_open(call, item):
        _check_shown(pages, shown)
    return _told(call, await note(call, where=seat.where, kind="answer", answers=item, summary=summary))


async def _is_open(call: Call, item: str) -> bool:
    """Whether it waits to be settled; of what does not, it is said what became of it."""
    found = await call.read(Doc(Item, item))
    return found is not None and found.as_of(call.now).state == "open"


async def _reply(call: Call, *, item: str, text: str = "", pages: int = 1, shown: int = 1) -> Commit:
    """Say what a reply to the card of an item means: the answer of a seat, or a question about a handoff."""
    found = await call.read(Doc(Item, item))
    if found is None:
        raise await missing(call, item)
    ended = (await call.recall([found.ended])).get(found.ended)
    kind = item_rules.answered_by(found, now=call.now, ended=ended)
    if kind == "answer":
        return await _answer(call, item=item, summary=text, pages=pages, shown=shown)
    if not item_rules.addressed(found, by=call.me, roles=await roles_of_caller(call)):
        raise Refused("not_yours", f"This was handed to {found.to}; {call.me} has no part in it. Nothing changed.")
    plan = await note(call, where=found.where, kind=kind, trail=found.thread, summary=text)
    says = f"Your question stands on its trail, where {found.sender} sees it."
    return replace(plan, result={**plan.result, "says": says}, cards=(*plan.cards, found.ref))


def _told(call: Call, plan: Commit) -> Commit:
    """The commit with a sentence for whoever pressed: what stands once it is done."""
    for each in plan.puts:
        match each.doc:
            case Ask() as ask:
                use = f" {ask.by} can use it once, until {iso(ask.lapses)}." if ask.state == "approved" else ""
                return replace(plan, result={**plan.result, "says": ask_rules.told(ask, now=call.now) + use})
            case Item() as item:
                return replace(plan, result={**plan.result, "says": item_rules.told(item, now=call.now)})
    return plan


_DECIDE, _BACK, _UNDO = (
    Row("decide", "decide", _decide),
    Row("ask_back", "decide", _ask_back),
    Row("take_back", "decide", _take_back),
)
_SETTLE, _ANSWER, _REPLY = Row("accept", "write", _settle), Row("note", "write", _answer), Row("reply", "write", _reply)
_CODED = Row("coded", "read", _coded)
_WAYS: Mapping[tuple[str, str], _Way] = {
    (Ask.kind, "approve"): _Way(_DECIDE, "trail", "reason", {"verdict": "approve"}, whole=True),
    (Ask.kind, "reject"): _Way(_DECIDE, "trail", "reason", {"verdict": "reject"}, whole=True),
    (Ask.kind, "answer"): _Way(_DECIDE, "trail", "answer", {"verdict": "answer"}, whole=True),
    (Ask.kind, "ask_back"): _Way(_BACK, "trail", "text"),
    (Ask.kind, "reply"): _Way(_BACK, "trail", "text"),
    (Ask.kind, "take_back"): _Way(_UNDO, "trail", "reason"),
    (Item.kind, "accept"): _Way(_SETTLE, "item", "reason", whole=True),
    (Item.kind, "decline"): _Way(_SETTLE, "item", "reason", {"decline": True}),
    (Item.kind, "answer"): _Way(_ANSWER, "item", "summary", whole=True),
    (Item.kind, "reply"): _Way(_REPLY, "item", "text", whole=True),
    (SyncDay.kind, "all_good"): _Way(CHECK_IN, "day", "notes", {"outcome": "pass"}, window=True),
    (SyncDay.kind, "attention"): _Way(CHECK_IN, "day", "notes", {"outcome": "attention"}, window=True),
    (SyncDay.kind, "may_check_in"): _Way(MAY_CHECK_IN, "day", "notes", window=True),
    (SyncDay.kind, "reply"): _Way(REPLIED, "day", "text"),
    (SyncDay.kind, "stop"): _Way(STOP, "day", "reason"),
}

# What a person may call from their chat with the bot, each with the arguments that its command has and no others.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "inbox": (),
    "fleet": (),
    "board": (),
    "sync": (),
    "connection": (),
    "spaces": (),
    "oncall": ("on",),
    "quiet": ("snooze", "hours"),
    "unpair": (),
    "attend": ("on",),
}


async def command(store: Store, press: Press, verb: str, args: Mapping[str, Any]) -> Result:
    """Do what a person asks for by a command. Refuses not_yours, invalid_argument, and what the verb does."""
    check_private(user=press.user, chat=press.chat, chat_type=press.chat_type)
    if verb not in COMMANDS:
        raise Refused("invalid_argument", f"{verb[:40]} is nothing for the bot. Nothing was done.", argument="verb")
    if other := sorted(set(args) - set(COMMANDS[verb])):
        raise Refused("unknown_argument", f"{verb} takes no {other[0][:40]} here. Nothing was done.", argument=other[0])
    return await perform(store, press.badge, ROWS[verb].in_full, args, action_id=press.action)
