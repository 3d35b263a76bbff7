"""Acting as `system:operator`: whoever can open the store as lm-api is the operator."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import redis

from store import telemetry
from store.domain.errors import Refused
from store.engine.client import Target
from store.engine.store import Store
from store.settings import BadSetting, Settings, load
from store.target import StoreProblem, opened, reached
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge
from store.verbs.perform import perform

from .fault import USAGE, Fault
from .home import running
from .show import say

PATIENCE = 3.0  # seconds for a store elsewhere: somebody is waiting

T = TypeVar("T")
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator at an open store; `space` is '' where none was said."""

    store: Store
    settings: Settings
    space: str
    said: str  # where the space was said

    async def do(self, verb: str, **args: Any) -> Result:
        """Perform a verb; arguments that are None were not given. Refuses what it refuses."""
        spaces = ((self.said, self.space),) if self.space else ()
        given = {name: value for name, value in args.items() if value is not None}
        try:
            return await perform(self.store, Badge("operator", client="logmem", spaces=spaces), ROWS[verb], given)
        except Refused as no:
            if no.code != "scope_undeclared":
                raise
            names = await self.store.shared.spaces()
            raise Refused(no.code, _undeclared(names), spaces=names) from None

    def address(self, path: str) -> str:
        """Where people and agents reach a path of the server; says so where none runs here."""
        return address(self.settings) + path


def settings(**given: Any) -> Settings:
    """The settings in force, options going before the environment. Fault: one that cannot be used."""
    try:
        return load(**given)
    except BadSetting as why:
        raise Fault(str(why), code=USAGE) from None


def operate(work: Callable[[Operator], Awaitable[T]], *, space: str | None = None) -> T:
    """Do some work as the operator, on a store that is started for it if it does not run.

    Fault, StoreProblem, Refused: what the one who called is told.
    """
    found = settings(space=space)
    quiet(found)
    said = "--space" if space else "LOGMEM_SPACE"
    with reached(found) as target:
        return asyncio.run(_work(work, target, settings=found, said=said))


async def _work(work: Callable[[Operator], Awaitable[T]], target: Target, *, settings: Settings, said: str) -> T:
    async with opened(target, patience=PATIENCE) as store:
        for warning in store.promise.warnings if store.promise else ():
            say(f"Warning: {warning}.")
        try:
            return await work(Operator(store, settings, settings.space or "", said))
        except redis.RedisError as why:
            raise StoreProblem(f"The store does not do as it should: {why}.") from why


def quiet(found: Settings) -> None:
    """A command speaks for itself: the log is shown only to somebody who asks for one."""
    telemetry.configure(found.log_level if os.environ.get("LOGMEM_LOG_LEVEL") else "critical")


def address(found: Settings) -> str:
    """`http(s)://host[:port]` of the server: the public one, that of the `up` that runs here, or the one to come."""
    if found.public_url:
        return found.public_url
    here = running(found.home)
    if here:
        return here.url
    say("LogMem is not up here: the address is the one that `logmem up` will have.")
    return local_url(found.host, found.port)


def local_url(host: str, port: int) -> str:
    """The address of a server on this machine that listens there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _undeclared(names: list[str]) -> str:
    if not names:
        return "There is no space yet. Nothing was done. Make one: logmem space NAME"
    return f"There are several spaces: {', '.join(names)}. Nothing was done. Say which: --space NAME, or LOGMEM_SPACE."
