"""Connections over which we ask: a pool with bounds, of which every request ends in an answer or in `Unanswered`.

A POST is never sent twice from here, and what was asked stands in no error and no log: an address may hold a token.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx

__all__ = ["Answer", "Connections", "Unanswered"]

KEPT = 4.0  # seconds that a connection is kept while it is idle: servers keep theirs for 5 and more
CLOSING = 5.0  # seconds to close those that are left

# Raised before anything of a request was written.
UNSENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
    RuntimeError,  # the pool was closed just now
)


class Answer(NamedTuple):
    """An answer of HTTP; `headers` are found by any spelling of their names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Unanswered(Exception):
    """No answer came. `sent`: the request may have got there; `late`: it was awaited for as long as was allowed.

    `crowded`: no connection came free to send it on. `why` names the cause.
    """

    def __init__(self, why: str, *, sent: bool, late: bool = False, crowded: bool = False) -> None:
        super().__init__(why)
        self.why, self.sent, self.late, self.crowded = why, sent, late, crowded


class Connections:
    """At most `size` connections to the server at `url`.

    Seconds: `connecting` to connect, `waiting` for a free connection. `environment`: proxies and certificates that are
    set there count; else no proxy is used, and certificates are those of the library.
    """

    def __init__(self, url: str, *, size: int, connecting: float, waiting: float, environment: bool) -> None:
        self._place, self._size, self._environment = urlsplit(url), size, environment
        self._connecting, self._waiting = connecting, waiting
        self._closed = False
        self._pool: _Pool | None = None

    async def post(self, url: str, body: bytes, *, patience: float, headers: Mapping[str, str]) -> Answer:
        """POST this; `patience` is how many seconds the server may say nothing. Raises Unanswered."""
        if self._closed:
            raise Unanswered("closed", sent=False)
        pool = self._pool = self._pool or self._opened()
        await self._turn(pool)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._connecting, sock_read=patience)
        try:
            async with pool.session.post(
                url, data=body, headers=headers, timeout=timeout, allow_redirects=False
            ) as answer:
                return Answer(answer.status, answer.headers, await answer.read())
        except UNSENT as why:
            raise Unanswered(type(why).__name__, sent=False) from None
        except (aiohttp.ClientError, OSError, ValueError) as why:
            raise Unanswered(type(why).__name__, sent=True, late=isinstance(why, TimeoutError)) from None
        finally:
            pool.turns.release()

    async def renew(self) -> None:
        """Leave the connections there are, and make new ones."""
        old, self._pool = self._pool, None
        if old:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSING):
                    await old.session.close()

    async def close(self) -> None:
        """Close all, for good."""
        self._closed = True
        await self.renew()

    async def _turn(self, pool: "_Pool") -> None:
        if not pool.turns.locked():
            await pool.turns.acquire()
            return
        try:
            async with asyncio.timeout(self._waiting):
                await pool.turns.acquire()
        except TimeoutError:
            raise Unanswered("no connection is free", sent=False, crowded=True) from None

    def _opened(self) -> "_Pool":
        secure = self._place.scheme == "https"
        context: ssl.SSLContext | bool = httpx.create_ssl_context(trust_env=self._environment) if secure else True
        connector = aiohttp.TCPConnector(limit=self._size, keepalive_timeout=KEPT, ssl=context)
        session = aiohttp.ClientSession(
            connector=connector, proxy=self._proxy(), trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
        )
        return _Pool(session, asyncio.Semaphore(self._size))

    def _proxy(self) -> str | None:
        """The proxy that the environment names for this server, looked up once."""
        if not self._environment or proxy_bypass(self._place.hostname or ""):
            return None
        named = getproxies()
        return named.get(self._place.scheme) or named.get("all")


class _Pool(NamedTuple):
    """`turns` are taken by those who use a connection of the session: waiting for one is told from connecting."""

    session: aiohttp.ClientSession
    turns: asyncio.Semaphore
