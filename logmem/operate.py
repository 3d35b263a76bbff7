"""Acting as `system:operator`: whoever can open the store as lm-api is the operator."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import redis

from store.domain.errors import Refused
from store.domain.space import Space
from store.engine.client import Target
from store.engine.reads import Doc
from store.engine.store import Store
from store.settings import Settings
from store.target import StoreProblem, opened, reached
from store.verbs.call import Row
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge
from store.verbs.perform import perform

from .fault import Fault
from .setting import address, quiet, settings
from .show import say

PAGES = 10_000  # a bound on following cursors
MAKE = "To make one there: logmem space NAME"
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

    async def do(self, verb: str | Row, **args: Any) -> Result:
        """Perform a verb, of the catalogue by its name; arguments that are None were not given. Refuses as it does."""
        row = ROWS[verb] if isinstance(verb, str) else verb
        given = {name: value for name, value in args.items() if value is not None}
        try:
            spaces = ((self.said, self.space or await self.meant()),)
            return await perform(self.store, Badge("operator", client="logmem", spaces=spaces), row, given)
        except Refused as no:
            raise await self._told(no, reads=row.pure) from None

    async def every(self, verb: str) -> Result:
        """What a verb lists under its own name, page after page: the result of its first page with all rows."""
        result = page = await self.do(verb)
        for _ in range(PAGES):
            if "cursor" not in page:
                break
            page = await self.do(verb, cursor=page["cursor"])
            result[verb] += page[verb]
        return result

    async def spaces(self) -> tuple[list[str], list[str]]:
        """The spaces that there are: the real ones, and the simulated ones."""
        real: list[str] = []
        simulated: list[str] = []
        for name in await self.store.shared.spaces():
            [[space]] = await self.store.across([name], Doc(Space, name))
            if space:
                (simulated if space.simulated else real).append(name)
        return real, simulated

    async def default(self) -> str:
        """The space that is meant where none is said, or '': the only one, to which a demo beside it is no other."""
        real, simulated = await self.spaces()
        return (real or simulated)[0] if len(real or simulated) == 1 else ""

    async def meant(self) -> str:
        """The default space. Refuses scope_undeclared."""
        if name := await self.default():
            return name
        real, simulated = await self.spaces()
        text = _several(real, simulated) if real or simulated else f"{no_space(self.settings)} Nothing was done. {MAKE}"
        raise Refused("scope_undeclared", text, spaces=real + simulated)

    async def _told(self, no: Refused, *, reads: bool) -> Refused:
        """A refusal in the words of who runs a command."""
        text = no.message.replace(" Nothing was written.", "") if reads else no.message
        if no.code == "scope_unknown":
            text = text.replace(" Make it: ", f" {looked_in(self.settings)} To make it there: ")
        elif no.code == "malformed_id" and no.facts.get("argument") == "space":
            text = text.replace("space is ", f"{self.said} is ", 1)
        return Refused(no.code, text, **no.facts)

    def address(self, path: str) -> str:
        """Where people and agents reach a path of the server; says so where none runs here."""
        return address(self.settings) + path


def operate(work: Callable[[Operator], Awaitable[T]], *, space: str | None = None, makes: bool = False) -> T:
    """Do some work as the operator, on a store that is started for it if it does not run.

    `makes`: make the store too, where there is none. Fault, StoreProblem, Refused: what the one who called is told.
    """
    found = settings(space=space)
    quiet(found)
    if not (makes or found.redis_uri or (found.home / "store").exists()):
        raise Fault(f"There is no LogMem yet in {whereabouts(found)} To make one there: logmem up")
    said = "--space" if space else "LOGMEM_SPACE"
    with reached(found) as target:
        return asyncio.run(_work(work, target, settings=found, said=said))


def whereabouts(found: Settings) -> str:
    """The store that a command works on, and how it is told of another."""
    if found.redis_uri:
        return "the store that LOGMEM_REDIS_URI names."
    return f"{found.home}. If yours is in another folder, set LOGMEM_HOME to that."


def looked_in(found: Settings) -> str:
    """For what is missing, which may be in another store: which it was looked for in. What to do comes after it."""
    return f"This was looked for in {whereabouts(found)}"


def no_space(found: Settings) -> str:
    """That a store has none, and which store that is."""
    return f"There is no space yet. {looked_in(found)}"


async def _work(work: Callable[[Operator], Awaitable[T]], target: Target, *, settings: Settings, said: str) -> T:
    async with opened(target, patience=PATIENCE) as store:
        for warning in store.promise.warnings if store.promise else ():
            say(f"Warning: {warning}.")
        try:
            return await work(Operator(store, settings, settings.space or "", said))
        except redis.RedisError as why:
            raise StoreProblem(f"The store does not do as it should: {str(why).rstrip('.')}.") from why


def _several(real: list[str], simulated: list[str]) -> str:
    names = [*real, *(f"{name} (simulated)" for name in simulated)]
    return f"There are several spaces: {', '.join(names)}. Nothing was done. Say which: --space NAME, or LOGMEM_SPACE."
