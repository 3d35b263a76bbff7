"""The bot as a whole: of several processes one does the work, the one that holds the lease; the others wait for it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import structlog
import uvicorn

from store.domain.errors import Refused
from store.engine.botstore import BotStore, open_bot_store
from store.engine.client import Target
from store.engine.lease import Lease, LeaseLost
from store.listening import Bounded
from store.settings import Settings

from . import handlers
from .client import Telegram
from .clock import now
from .context import Context
from .deck import Cards
from .door import Away, Door
from .failures import Failure
from .handlers.commands import COMMANDS
from .health import Health
from .inbox import Inbox
from .poller import STATES, Poller
from .shelf import STORE_ERRORS
from .speaker import Speaker
from .webhook import Proof, Webhook, serving

__all__ = ["App", "opened"]

LIFE = 3.0  # seconds that a lease lasts without being renewed
RENEW = LIFE / 4
PAUSE = 1.0  # seconds before a term is begun again
GRACE = 2  # seconds that a webhook has at the end
PROVE = 30.0  # seconds between two looks at whether a webhook stands
LONG = 19  # digits that no number of a bot has
SLOWEST = 30.0  # seconds between two tries to learn who we are

log = structlog.get_logger("bot")


class _Listener(uvicorn.Server):
    """Leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class App:
    """One process of the bot over its part of the store."""

    def __init__(self, store: BotStore, telegram: Telegram, door: Door, settings: Settings) -> None:
        self._store, self._telegram, self._door, self._settings = store, telegram, door, settings
        self._updates = store.updates.of(number_of(settings))
        self.health = Health(store, clock=now)
        self._webhook: Webhook | None = None
        if settings.webhook_url and settings.webhook_secret:
            path = urlsplit(settings.webhook_url).path or "/"
            secret = settings.webhook_secret.get_secret_value()
            self._webhook = Webhook(self._updates, self.health, path=path, secret=secret)
            self._proof = Proof(settings.webhook_url, secret)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set."""
        listener = _Listener(
            uvicorn.Config(
                serving(self.health, self._webhook),
                http=Bounded,
                host=self._settings.bot_host,
                port=self._settings.bot_port,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
                limit_concurrency=256,
            )
        )
        tasks = [asyncio.create_task(listener.serve()), asyncio.create_task(self._work())]
        try:
            await asyncio.wait([*tasks, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
        finally:
            listener.should_exit = True
            tasks[1].cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
        for what in done:
            if isinstance(what, BaseException) and not isinstance(what, asyncio.CancelledError):
                raise what

    async def _work(self) -> None:
        """Take the lease, work while it is held, and take it again: nothing but being cancelled ends this."""
        lease = self._store.lease(owner=token_hex(8), life=int(LIFE * 1000))
        while True:
            try:
                asked = asyncio.get_running_loop().time()
                if await lease.take():
                    # In a task of its own: a group that fails leaves a mark of being cancelled on the task it is in.
                    await self._told(asyncio.create_task(self._term(lease, asked)))
            except* LeaseLost:
                log.warning("another process has the lease now")
            except* STORE_ERRORS as why:
                log.error("the store is away", why=type(why.exceptions[0]).__name__)
            except* Exception:
                log.exception("the work is begun anew")
            finally:
                self.health.holding = False
                self.health.waiting = dict
                with contextlib.suppress(*STORE_ERRORS):
                    await asyncio.shield(lease.drop())
            if (me := asyncio.current_task()) and me.cancelling():
                raise asyncio.CancelledError  # until Python 3.13 a group that fails meanwhile does not pass it on
            await asyncio.sleep(PAUSE)

    async def _told(self, term: Awaitable[None]) -> None:
        """A term, whose end is said where it ends with the process."""
        try:
            await term
        except asyncio.CancelledError:
            await self.health.ends()
            raise

    async def _term(self, lease: Lease, asked: float) -> None:
        """All the work of the bot, for as long as the lease is held; what it writes of cards is refused after that."""
        log.info("this process has the lease", epoch=lease.epoch)
        self.health.holding = True
        async with asyncio.TaskGroup() as group:
            group.create_task(_renewing(lease, asked))
            await self.health.starts()
            group.create_task(self.health.live())
            me = await self._introduce()
            await self.health.begin()
            copies = self._store.copies.under(lease.epoch, bot=int(me.get("id") or 0))
            cards = Cards(self._telegram, self._door, self._store.outbox.under(lease.epoch), copies)
            self.health.waiting = lambda: cards.waiting
            context = Context(door=self._door, cards=cards, copies=copies, me=me)
            speaker = Speaker(self._telegram, cards, copies, self._updates, self._door, clock=now)
            inbox = Inbox(
                self._updates, speaker, lambda update: handlers.handle(context, update), clock=now
            )  # fmt: skip
            group.create_task(cards.run())
            group.create_task(inbox.run())
            group.create_task(_until_done(cards.look_everywhere))
            group.create_task(_until_done(lambda: self._telegram.commands(COMMANDS)))
            group.create_task(self._offering(cards))
            if self._webhook:
                group.create_task(self._prove())
            else:
                poller = Poller(self._telegram, self._updates, self.health, epoch=lease.epoch)
                group.create_task(poller.run())

    async def _introduce(self) -> Mapping[str, Any]:
        """Learn who we are at Telegram, and say so in the store; without that there is nothing to do."""
        pause = PAUSE / 4
        while True:
            most = 2 * PAUSE
            try:
                me = await self._telegram.me()
                await self._store.say(username=str(me.get("username", "")), id=str(me.get("id", "")))
                return me
            except Failure as why:
                log.error("telegram does not say who we are", status=why.status, said=why.said)
                await self.health.failed(STATES.get(why.status, "away"), why.said)
                most = SLOWEST if why.status in STATES else most  # only a person can mend it
            await asyncio.sleep(pause)
            pause = min(most, 2 * pause)

    async def _offering(self, cards: Cards) -> None:
        """Offer the cards again each time that presses may have been lost."""
        while True:
            await self.health.missed.wait()
            self.health.missed.clear()
            log.warning("open cards are offered again")
            for work in (cards.offer_all, self.health.made_good, cards.look_everywhere):
                await _until_done(work)

    async def _prove(self) -> None:
        """Have Telegram send updates to us, and see from time to time that they do come."""
        while True:
            try:
                why = await self._proof.look(self._telegram, heard=self.health.heard)
            except Failure as fault:
                log.error("the webhook is not set", status=fault.status, said=fault.said)
                await self.health.failed(STATES.get(fault.status, "away"), fault.said)
                await asyncio.sleep(PAUSE)
                continue
            if why:
                log.error("the webhook brings nothing", why=why)
                await self.health.failed("webhook", why)
            else:
                await self.health.polled()
            await asyncio.sleep(PROVE)


def number_of(settings: Settings) -> int:
    """The bot's number at Telegram, which its token begins with; 0 for a token that does not."""
    token = settings.bot_token.get_secret_value() if settings.bot_token else ""
    number = token.partition(":")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < LONG else 0


async def _until_done(work: Callable[[], Awaitable[None]]) -> None:
    """Do it, again and again until it succeeds. LeaseLost."""
    pause = PAUSE
    while True:
        try:
            await work()
            return
        except LeaseLost:
            raise
        except (Away, Failure, Refused, *STORE_ERRORS) as why:
            log.warning("to be tried again", why=str(why) or type(why).__name__)
        except Exception:  # what is done beside the work must not end it
            log.exception("to be tried again")
        await asyncio.sleep(pause)
        pause = min(SLOWEST, 2 * pause)


async def _renewing(lease: Lease, asked: float) -> None:
    """Hold the lease that was asked for at this time (of the event loop).

    LeaseLost: it is somebody else's, or may be from this very moment on, whether or not the store answers.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(asked + LIFE) as held:
            while True:
                await asyncio.sleep(RENEW)
                asked = loop.time()
                try:
                    async with asyncio.timeout(RENEW):
                        ours = await lease.renew()
                except STORE_ERRORS as why:
                    log.warning("the lease is not renewed", why=type(why).__name__)
                    continue
                if not ours:
                    raise LeaseLost("somebody else has taken it")
                held.reschedule(asked + LIFE)
    except TimeoutError:
        raise LeaseLost("the store was away for longer than the lease lasts") from None


@contextlib.asynccontextmanager
async def opened(target: Target, settings: Settings) -> AsyncIterator[App]:
    """An app with everything it needs, closed at the end. ValueError: no token or no credential in the settings."""
    if settings.bot_token is None or settings.bot_secret is None:
        raise ValueError("the bot needs LOGMEM_BOT_TOKEN and LOGMEM_BOT_SECRET")
    store = open_bot_store(target)
    telegram = Telegram(
        settings.bot_token.get_secret_value(), api_url=settings.telegram_api_url, limits=settings.telegram_limits
    )
    door = Door(settings.api_url, settings.bot_secret.get_secret_value(), bot=number_of(settings))
    try:
        yield App(store, telegram, door, settings)
    finally:
        for close in (door.close, telegram.close, store.close):
            with contextlib.suppress(Exception):
                await close()
