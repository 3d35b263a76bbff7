"""What `doctor` looks at: the store, its users, the processes over it, and what must hold in every space. Only read.

Each check gives findings: what is so, and what to do where it is not as it should be.
"""

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import redis
from redis.asyncio import Redis

from store import invariants
from store.domain.inspection import SPACE, Inspection
from store.domain.moments import MINUTE, SECOND, since, span
from store.engine import acl
from store.engine.botstore import STARTING, WELL, bot_state, standing
from store.engine.client import open_client
from store.engine.exchange import exchange
from store.engine.reads import Doc
from store.engine.script import sha_of, text_of
from store.verbs.due import WAKES, due, leads

if TYPE_CHECKING:
    from .operate import Operator

FINE, NOTE, WRONG = "fine", "note", "wrong"
BEHIND = MINUTE  # by which a job may be late
SHOWN = 3  # breaches, and spaces, that a line names
ANSWER = 5.0  # seconds for the server's own word
NEW_USERS = "Give the server the ACL file of this version: logmem store-users FOLDER, then start it again."


@dataclass(frozen=True, slots=True)
class Finding:
    """How it stands with one thing, in a sentence; `do` is what to do about it. A note is no fault."""

    about: str
    state: str
    says: str
    do: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """For programs."""
        return {"about": self.about, "state": self.state, "says": self.says, **({"do": self.do} if self.do else {})}


async def store(operator: "Operator") -> AsyncIterator[Finding]:
    """What an acknowledgement is worth. A store that evicts keys, or is too old, is not even opened."""
    promise = operator.store.promise
    if promise is None:
        return
    bad = bool(promise.warnings) and promise.level in ("none", "no")
    state = WRONG if bad else FINE if promise.level == "always" else NOTE
    do = "Set appendonly yes and appendfsync always in the store's configuration." if state != FINE else ""
    yield Finding("store", state, f"{promise.server}, nothing is evicted; {promise.level}: {promise.text}.", do)


async def _denied(client: Redis, user: str) -> list[str]:
    """Which of its scripts the server lets a user not run. Without keys none of them does anything."""
    denied = []
    for name in acl.scripts(user):
        try:
            await exchange(client, [("EVALSHA", sha_of(text_of(name)), 0)])
        except redis.exceptions.NoPermissionError:
            denied.append(f"{name}.lua")
        except redis.ResponseError:  # the server does not know it yet, or it misses its keys
            continue
    return denied


async def users(operator: "Operator") -> AsyncIterator[Finding]:
    """Whether each user of the store comes in with its own password, as far as that lies here."""
    target = operator.store.target
    come, absent = [], []
    for user in acl.users():
        known = target.credentials(user)
        if known is None or known[0] != user:
            absent.append(user)
            continue
        client = open_client(target, user=user)
        try:
            await exchange(client, [("TIME",)])
            come.append(user)
            if denied := await _denied(client, user):
                says = f"{user} may not run {', '.join(denied)}: the server's users are those of another version."
                yield Finding("users", WRONG, says, NEW_USERS)
        except redis.RedisError as why:
            yield Finding("users", WRONG, f"{user} is not let in: {str(why).rstrip('.')}.", NEW_USERS)
        finally:
            await client.aclose()
    if come:
        yield Finding("users", FINE, f"{', '.join(come)} come in, each with a password of its own.")
    if absent and not come:
        do = "Make users of its own for LogMem: logmem store-users FOLDER, and set LOGMEM_REDIS_SECRETS."
        yield Finding("users", WRONG, "None of LogMem's users has a password here: whoever comes in may do all.", do)
    elif absent:
        yield Finding("users", NOTE, f"{', '.join(absent)}: no password lies here, so they were not tried.")


async def server(operator: "Operator") -> AsyncIterator[Finding]:
    """Whether the API answers, and that its store does."""
    import httpx

    from .fault import cause
    from .home import running
    from .setting import local_url, log_of

    found = operator.settings
    here = running(found.home)
    url = here.url if here else local_url(found.host, found.port)
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=ANSWER) as client:
            answer = await client.get(f"{url}/readyz")
    except httpx.HTTPError as why:
        do = "Start it: logmem up" if not found.redis_uri else "Start it: logmem serve api, or docker compose up -d"
        yield Finding("api", WRONG, f"Nothing answers at {url} ({cause(why)}).", do)
        return
    if answer.status_code == 200:
        yield Finding("api", FINE, f"{url} is ready.")
    else:
        do = f"See its log: {log_of(found, 'api')}"
        yield Finding("api", WRONG, f"{url} answers {answer.status_code} to /readyz.", do)


async def scheduler(operator: "Operator") -> AsyncIterator[Finding]:
    """Who leads, and whether they keep up in every space."""
    from .setting import log_of

    led = await leads(operator.store)
    if led is None or led.left <= 0:
        last = f" The last one was heard of {since(-led.left)}." if led else ""
        do = "Start it: logmem up, or logmem serve scheduler. Nothing is lost: it makes up for what is due."
        yield Finding("scheduler", WRONG, f"None runs: nobody is reminded, nothing is accounted for.{last}", do)
        return
    behind = []
    for name, found in (await due(operator.store, await operator.store.shared.spaces())).items():
        late = [(found.now - at, wake.job) for wake in WAKES if (at := found.at(wake)) and found.now - at > BEHIND]
        if late:
            ms, job = max(late)
            behind.append(f"{job} in {name} for {span(ms // SECOND * SECOND)}")
    if behind:
        do = f"See its log ({log_of(operator.settings, 'scheduler')}), and: logmem scheduler explain"
        yield Finding("scheduler", WRONG, f"It leads (epoch {led.epoch}) and is behind: {_some(behind)}.", do)
        return
    yield Finding("scheduler", FINE, f"It leads (epoch {led.epoch}), and is behind with nothing.")


async def bot(operator: "Operator") -> AsyncIterator[Finding]:
    """How the Telegram bot does, if there is one."""
    from . import botkeys
    from .setting import log_of
    from .telegram import WRONG as WHY
    from .telegram import to_do

    state = await bot_state(operator.store.reader)
    there = bool(botkeys.token(operator.settings))
    if not (there or state):
        yield Finding("bot", NOTE, "No Telegram bot was set up.", "If you want one: logmem telegram")
        return
    how, name = standing(state, now=await operator.store.shared.clock()), state.get("username", "")
    bot = f"@{name}" if name else "The bot"
    if how == WELL:
        yield Finding("bot", FINE, f"{bot} is at work.")
    elif how == STARTING:
        yield Finding("bot", NOTE, f"{bot} is starting.", "Look again in a few seconds.")
    elif not there and not WHY.get(how):
        yield Finding("bot", NOTE, f"{bot} has run here; there is no token now.", "To set it up: logmem telegram")
    else:
        why = WHY.get(how, how)
        do = f"See its log ({log_of(operator.settings, 'bot')}). {to_do(how)}"
        yield Finding("bot", WRONG, f"{bot} is not at work: {why}.", do)


async def spaces(operator: "Operator", *, now: bool) -> AsyncIterator[Finding]:
    """What must hold in every space: as the scheduler found it last, or all of it looked at `now`."""
    from .operate import MAKE, no_space

    names = await operator.store.shared.spaces()
    if not names:
        yield Finding("spaces", NOTE, no_space(operator.settings), MAKE)
        return
    if now:
        async for finding in _looked_at(operator, names):
            yield finding
        return
    found = await operator.store.across(names, Doc(Inspection, SPACE))
    known = {name: one for name, (one,) in zip(names, found, strict=True) if one and one.ended}
    clocks = await due(operator.store, list(known)) if known else {}
    breaches = {name: one.last for name, one in known.items()}
    oldest = max((clocks[name].now - one.ended for name, one in known.items()), default=0)
    if known:
        where = f"as looked at {since(oldest)} in {_count(len(known), 'space')}"
        for sentence, _ in invariants.PARTS:
            yield _held(sentence, breaches, where)
    more = sum(max(0, one.last_count - len(one.last)) for one in known.values())
    if more:
        yield Finding(
            "holds", WRONG, f"{more} more of these were found, and not kept.", "All of them: logmem doctor --now"
        )
    if left := [name for name in names if name not in known]:
        yield Finding(
            "holds", NOTE, f"Not looked at in {_some(left)} yet: the scheduler does once an hour.",
            "To look at all of it now: logmem doctor --now",
        )  # fmt: skip


async def _looked_at(operator: "Operator", names: Sequence[str]) -> AsyncIterator[Finding]:
    """Each invariant, looked at now by the administrator."""
    target = operator.store.target
    known = target.credentials("lm-admin")
    if known is None or known[0] != "lm-admin":
        do = "Run it where LOGMEM_REDIS_SECRETS has the password of lm-admin."
        yield Finding("holds", NOTE, "To look at all of a space takes lm-admin, whose password is not here.", do)
        return
    began = time.monotonic()
    client = open_client(target, user="lm-admin")
    try:
        breaches = {name: await invariants.check(client, name) for name in names}
    finally:
        await client.aclose()
    where = f"looked at now in {_count(len(names), 'space')}, in {time.monotonic() - began:.1f} s"
    for sentence, _ in invariants.INVARIANTS:
        yield _held(sentence, breaches, where)
    for name, found in breaches.items():
        for breach in [each for each in found if not each.startswith(tuple(s for s, _ in invariants.INVARIANTS))][
            :SHOWN
        ]:
            yield Finding("holds", WRONG, f"{name}: {breach}.", REPAIR)


REPAIR = "Keep a copy of the store as it is, and see what was changed by hand: logmem verify"


def _held(sentence: str, breaches: "dict[str, Any]", where: str) -> Finding:
    """Whether one invariant holds everywhere."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, each in breaches.items():
        for breach in each:
            if breach.startswith(f"{sentence}: "):
                found[name].append(breach.removeprefix(f"{sentence}: "))
    said = sentence[:1].upper() + sentence[1:]
    if not found:
        return Finding("holds", FINE, f"{said} ({where}).")
    broken = [
        f"{name}: {each[0]}{f' (and {len(each) - 1} more)' if len(each) > 1 else ''}" for name, each in found.items()
    ]
    return Finding("holds", WRONG, f"Broken: {sentence}. {_some(broken)}.", REPAIR)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _some(names: Iterable[str]) -> str:
    """The first of them, and how many more there are."""
    shown = list(names)
    rest = len(shown) - SHOWN
    return ", ".join(shown[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
