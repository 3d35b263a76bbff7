"""Connections to the store, never with the library's defaults: those resend a script whose reply was lost.

    Target.parse(uri, secrets=folder) -> Target    `redis://`, `rediss://` or `unix://`, from LOGMEM_REDIS_URI
    Target.embedded(server) -> Target              an engine of `embedded.ensure`
    open_client(target, user="lm-api") -> Redis    for commands: nothing is retried, replies are bytes
    open_client(target, user="lm-read")            the same for pure readers: its user has no write command
    open_tail(target, user="lm-read") -> Redis     for blocking reads, `block` <= 3000 ms in a loop
    await durability({user: client}) -> Promise    what an ok is worth: level, text, warnings, server
    StoreProblem                                   what a person has to mend, with what to do

Close a client with `await client.aclose()`. A user's password is the URI's if the URI names that user, else
the text of the file `<secrets>/<user>`; without either, the URI's own user (or nobody) stands in for it, and
`durability` warns of that.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import hiredis
import redis
from redis.asyncio import BlockingConnectionPool, Connection, Redis, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig
from redis.typing import EncodableT

from .embedded import Embedded
from .problem import StoreProblem
from .promise import Promise, durability

__all__ = ["Promise", "StoreProblem", "Target", "durability", "open_client", "open_tail"]

CONNECTIONS = 64
TIMEOUT = 5.0  # seconds: to connect, to write, for a reply, for a free connection
TLS_OPTIONS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")


class _Lean(AbstractConnection):
    """Packs in C and writes without a task: redis-py's own ways take half of a call's client time."""

    def pack_command(self, *args: EncodableT) -> list[bytes]:
        """One command; its name may hold blanks, as in `CONFIG GET`."""
        name = args[0].split() if isinstance(args[0], str) else [args[0]]
        return [hiredis.pack_command((*name, *args[1:]))]

    _writer: asyncio.StreamWriter

    async def send_packed_command(self, command: bytes | str | Iterable[bytes], check_health: bool = True) -> None:
        """Write without a task of its own for the time-out, as the library makes one."""
        if isinstance(command, str | bytes):
            command = [command.encode() if isinstance(command, str) else command]
        if not self.is_connected:
            await self.connect_check_health(check_health=check_health)
        try:
            async with asyncio.timeout(self.socket_timeout):
                self._writer.writelines(command)
                await self._writer.drain()
        except TimeoutError:
            await self.disconnect(nowait=True)
            raise redis.TimeoutError("the store takes nothing in") from None
        except OSError as lost:
            await self.disconnect(nowait=True)
            raise redis.ConnectionError(f"the connection to the store was lost: {lost}") from None
        except BaseException:
            await self.disconnect(nowait=True)  # what was sent in part must not be read as the start of another command
            raise

    def pack_commands(self, commands: Iterable[Iterable[EncodableT]]) -> list[bytes]:
        """A pipeline as one piece."""
        return [b"".join(self.pack_command(*command)[0] for command in commands)]


class _Unix(_Lean, UnixDomainSocketConnection):
    async def connect_check_health(self, check_health: bool = True, retry_socket_connect: bool = True) -> None:
        """Connect; who is not let in is told so, as by the other kinds: here the library calls it a lost connection."""
        try:
            await super().connect_check_health(check_health, retry_socket_connect)
        except redis.ConnectionError as why:
            if isinstance(why.__cause__, redis.AuthenticationError):
                raise why.__cause__ from None
            raise


class _Tcp(_Lean, Connection):
    pass


class _Tls(_Lean, SSLConnection):
    pass


class _Pool(BlockingConnectionPool):
    """Hands out a free connection at once: the library's timers and counters cost as much as a command."""

    _queued = 0  # who waits for a connection, or makes one, the library's way

    async def get_connection(self, command_name: Any = None, *keys: Any, **options: Any) -> Any:
        """A connection that is there, with nothing on it that nobody has asked for."""
        if not self._available_connections or self._queued:
            self._queued += 1
            try:
                return await super().get_connection()  # type: ignore[no-untyped-call] # the library leaves it so
            finally:
                self._queued -= 1
        connection = self._available_connections.pop()
        self._in_use_connections.add(connection)
        try:
            if not connection.is_connected or await connection.can_read():
                await self.ensure_connection(connection)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def release(self, connection: Any) -> None:
        """Give it back; whoever waits for one is told."""
        if self._queued or connection.should_reconnect():
            await super().release(connection)
        else:
            self._in_use_connections.remove(connection)
            self._available_connections.append(connection)


_KINDS = {"unix": _Unix, "redis": _Tcp, "rediss": _Tls}


@dataclass(frozen=True, slots=True)
class Target:
    """A server and how its users come in; the password of the URI is not shown in its repr."""

    scheme: str
    where: tuple[tuple[str, str | int], ...]  # host and port, or path, and files for TLS
    login: tuple[str, str] | None = field(default=None, repr=False)  # user and password of the URI
    secrets: Path | None = None  # folder of password files, one a user

    @classmethod
    def parse(cls, uri: str, *, secrets: Path | None = None) -> "Target":
        """From `redis://user:password@host:port`, `rediss://…?ssl_ca_certs=file`, `unix://user:password@/path`.

        StoreProblem: another scheme, a database other than 0, an option that is not known.
        """
        try:
            parts = urlsplit(uri)
            port = parts.port or 6379
        except ValueError as why:
            raise StoreProblem(f"LOGMEM_REDIS_URI cannot be read: {why}.") from None
        if parts.scheme not in _KINDS:
            raise StoreProblem(
                f"LOGMEM_REDIS_URI begins with {parts.scheme!r}: it must be redis://, rediss:// or unix:// "
                f"(Sentinel and Cluster are not supported yet)."
            )
        path = unquote(parts.path)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        database = options.pop("db", "0" if parts.scheme == "unix" else path.strip("/") or "0")
        if database != "0":
            raise StoreProblem(f"LOGMEM_REDIS_URI names database {database!r}: LogMem uses 0 and may select no other.")
        known = TLS_OPTIONS if parts.scheme == "rediss" else ()
        if unknown := sorted(set(options) - set(known)):
            raise StoreProblem(
                f"LOGMEM_REDIS_URI has an option {unknown[0]!r}: here it can have {', '.join(known) or 'none'}."
            )
        if parts.scheme == "unix" and not path.strip("/"):
            raise StoreProblem("LOGMEM_REDIS_URI names no socket: write unix:///path/to/socket.")
        where: dict[str, str | int] = {"host": parts.hostname or "localhost", "port": port}
        if parts.scheme == "unix":
            where = {"path": path}
        login = (unquote(parts.username or "default"), unquote(parts.password)) if parts.password else None
        return cls(parts.scheme, tuple({**where, **options}.items()), login, secrets)

    @classmethod
    def embedded(cls, server: Embedded) -> "Target":
        """An embedded engine, with its own passwords."""
        return cls("unix", (("path", str(server.socket)),), None, server.home / "secrets")

    def credentials(self, user: str) -> tuple[str, str] | None:
        """Name and password to come in with as `user`; another's, or None, where the target has no better."""
        if self.login and self.login[0] == user:
            return self.login
        if self.secrets and (self.secrets / user).exists():
            try:
                return user, (self.secrets / user).read_text().strip()
            except OSError as why:
                raise StoreProblem(f"The password of {user} cannot be read: {why}.") from why
        return self.login


def open_client(target: Target, *, user: str) -> Redis:
    """A client for commands: no retries, at most 64 connections, 5 s for anything."""
    return _open(target, user, timeout=TIMEOUT)


def open_tail(target: Target, *, user: str) -> Redis:
    """A client for blocking reads, which end by their own `block` (at most 3000 ms, in a loop)."""
    return _open(target, user, timeout=None)


def _open(target: Target, user: str, *, timeout: float | None) -> Redis:
    username, password = target.credentials(user) or (None, None)
    options: dict[str, Any] = {
        **dict(target.where),
        "username": username,
        "password": password,
        "socket_timeout": timeout,
        "socket_connect_timeout": TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 3,
        "driver_info": None,  # CLIENT SETINFO is younger than Redis 7.0, so no user may call it
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
    }
    pool = _Pool(connection_class=_KINDS[target.scheme], max_connections=CONNECTIONS, timeout=TIMEOUT, **options)
    return Redis.from_pool(pool)
