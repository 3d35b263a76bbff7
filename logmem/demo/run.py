"""One demo from its beginning to its end: a space, a person, a key and a process for each agent; all put away again."""

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version as installed

import redis

from store.domain.calendar import windows_of
from store.domain.errors import Refused
from store.domain.ids import bare
from store.domain.space import Space
from store.engine.reads import Doc
from store.ledger.verify import verify
from store.target import StoreProblem, opened

from .. import ledger, show
from ..fault import REFUSED, Fault
from ..operate import PATIENCE, Operator
from .accounts import accounts
from .actor import Actor, actor
from .clock import HOME_ZONE, Clock, movable, zone_where_morning_is
from .house import House, served, whereabouts, whose
from .person import Person, who_decides
from .script import FLEET
from .stage import Stage, Wishes
from .tell import Teller

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KEY_DAYS = 60  # the days that are played and those before and between them, with room, so that no key ends soon


async def run(house: House, wishes: Wishes, *, space: str, teller: Teller) -> int:
    """Play the demo in `space`; gives the exit code. Fault, StoreProblem, Refused: it could not be played."""
    with _interruptible():
        teller.remark(whereabouts(house), url=house.console)
        async with served(house), opened(house.target, patience=PATIENCE) as store:
            code = await _played(house, Operator(store, house.settings, space, "--space"), wishes, teller=teller)
            report = await verify(store, space)
    code = code if report.ok else REFUSED
    if teller.json:
        show.as_json({"event": "end", "space": space, "code": code, "verified": ledger.facts(report)})
    else:
        ledger.tell(report)
    return code


async def _played(house: House, operator: Operator, wishes: Wishes, *, teller: Teller) -> int:
    clock, fresh = await _space(house, operator)
    teller.zone = clock.windows.zone
    person = Person(await who_decides(operator, house, auto=wishes.auto), operator, house)
    await operator.do("human", name=person.name, role="owner")
    new = "made for it" if fresh else "in which an earlier one was played"
    teller.remark(f"Its space is {operator.space}, {new}; {person.id} decides there.", space=operator.space)
    if not clock.moves:
        teller.remark(f"The day is not moved along: {clock.why}.")
    tag = "" if fresh else f"-{secrets.token_hex(2)}"
    async with AsyncExitStack() as stack:
        watched = await stack.enter_async_context(accounts(house, operator)) if clock.moves else None
        if watched:
            await watched.wake()
        actors = await stack.enter_async_context(_fleet(house, operator, person))
        await teller.title(clock.now, "Four agents connect")
        for each in actors.values():
            joined = f"connects by MCP {each.protocol} with a key of its own and sees {each.tools} tools"
            await teller.step(clock.now, f"agent:{each.id}", joined)
        stage = Stage(teller, wishes, clock, person, actors, watched, tag)
        await stage.play()
    teller.remark("\nThe agents' processes have ended, and their keys are revoked.")
    if house.own is None:
        look = f"{house.console}/s/{operator.space}/"
        sign_in = f"logmem human link {person.name} --space {operator.space}"
        teller.remark(f"Look at it in the console: {look} (to sign in: {sign_in})", url=look)
    return stage.code


async def _space(house: House, operator: Operator) -> tuple[Clock, bool]:
    """The space, made if it is absent, with its clock; whether it was made. Fault: it is no place for a demo."""
    name = bare(operator.space, "space", name="--space")
    [[found]] = await operator.store.across([name], Doc(Space, name))
    if found and not found.simulated:
        raise Fault(
            f"{name} is there and is not simulated. Nothing was done: the demo plays in spaces of its own. Leave "
            "--space out, or name one that does not exist yet."
        )
    why = await movable(house.target, name)
    if not found:
        zone = zone_where_morning_is(datetime.now(UTC)) if why else HOME_ZONE
        await operator.do("space", simulated=True, zone=zone)
    [[space]] = await operator.store.across([name], Doc(Space, name))
    clock = Clock(operator, house.target, windows_of(space), why)
    await clock.read()
    return clock, found is None


@asynccontextmanager
async def _fleet(house: House, operator: Operator, person: Person) -> AsyncIterator[dict[str, Actor]]:
    """A process with a key of its own for each agent, connected. Ended with the block, and the keys revoked."""
    async with AsyncExitStack() as stack:
        actors = {id: await stack.enter_async_context(actor(id)) for id in FLEET}
        stack.push_async_callback(_ended, actors.values())
        tokens = await stack.enter_async_context(_keys(operator, person))
        await _check_alone(operator, FLEET[0])
        how = {"url": house.url, "version": installed("logmem")}
        try:
            await asyncio.gather(*(each.connect(token=tokens[id], **how) for id, each in actors.items()))
        except Fault as why:
            raise Fault(f"{why} Is {house.url} a server of another store than {whose(house.settings)}?") from None
        yield actors


async def _ended(actors: Iterable[Actor]) -> None:
    """End them all at the same time."""
    await asyncio.gather(*(each.end() for each in actors))


@asynccontextmanager
async def _keys(operator: Operator, person: Person) -> AsyncIterator[dict[str, str]]:
    """A key for each agent, revoked with the block. Fault: one could not be, and none other went before."""
    tokens: dict[str, str] = {}
    keys: list[str] = []
    try:
        for id in FLEET:
            minting = asyncio.create_task(operator.do("mint", name=id, days=KEY_DAYS, responsible=person.id))
            try:
                made = await asyncio.shield(minting)
            except asyncio.CancelledError:  # it may be made already, and is revoked too
                keys.append((await minting)["key"])
                raise
            keys.append(made["key"])
            tokens[id] = made["token"]
        yield tokens
    except BaseException:
        for trouble in await _revoked(operator, keys):
            show.say(trouble)
        raise
    if left := await _revoked(operator, keys):
        raise Fault(" ".join(left))


async def _revoked(operator: Operator, keys: list[str]) -> list[str]:
    """Revoke them all; a sentence for each that could not be."""
    left = []
    for key in keys:
        try:
            await operator.do("revoke", name=key)
        except (Refused, StoreProblem, redis.RedisError) as why:
            if not (isinstance(why, Refused) and why.code == "not_found"):  # somebody has revoked it already
                left.append(
                    f"The key {key} is live still ({why}). End it: logmem revoke {key} --space {operator.space}"
                )
    return left


async def _check_alone(operator: Operator, agent: str) -> None:
    """Fault: another demo plays in this space, or was killed there."""
    keys = (await operator.every("keys"))["keys"]
    if sum(each["name"] == agent and each["state"] == "live" for each in keys) > 1:
        raise Fault(
            f"A demo is playing in {operator.space}, or was killed there: agent:{agent} has another live key. Nothing "
            f"was played. Take another space, or end its keys: logmem revoke {agent} --space {operator.space}"
        )


@contextmanager
def _interruptible() -> Iterator[None]:
    """A signal breaks the demo off, once: what it has started is ended in good order, whatever comes after."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    heard = False

    def broken_off() -> None:
        nonlocal heard
        if task and not heard:
            show.say("Breaking off: the agents are ended, and their keys revoked …")
            task.cancel()
        heard = True

    for each in SIGNALS:
        loop.add_signal_handler(each, broken_off)
    yield
