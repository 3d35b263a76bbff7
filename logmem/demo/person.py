"""The person of the demo: somebody in the console, or with --auto a session of `human:demo-owner`'s over REST.

Either way a person's session decides; no key of an agent's can.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..fault import UNREACHABLE, Fault
from .house import House

if TYPE_CHECKING:
    from ..operate import Operator

STAND_IN = "demo-owner"


@dataclass(frozen=True, slots=True)
class Person:
    """Who owns the demo's space and decides in it."""

    name: str
    operator: "Operator"
    house: House

    @property
    def id(self) -> str:
        return f"human:{self.name}"

    async def link(self) -> str:
        """A one-time link by which they sign in."""
        path: str = (await self.operator.do("link", name=self.name))["link_path"]
        return path

    async def signed_in(self) -> bool:
        """Whether a session of theirs is open here."""
        found = (await self.operator.every("people"))["people"]
        return any(each["person"] == self.id and each["signed_in"] for each in found)

    async def phone(self) -> str:
        """The bot that brings the ask to their phone, or '': they are not paired, or it is not at work."""
        from store.engine.botstore import WELL, bot_state, standing

        found = await self.operator.do("people", person=self.name)
        store = self.operator.store
        state = await bot_state(store.reader)
        works = standing(state, now=await store.shared.clock()) == WELL
        return state.get("username", "") if found.get("telegram") == "paired" and works else ""

    async def approve(self, trail: str) -> Mapping[str, Any]:
        """Sign in by a link, look at the ask, approve what was shown, sign out. Fault: the server refuses."""
        import httpx

        from ..server import Access

        headers = {"Origin": self.house.url, "X-LogMem-CSRF": "1", "X-LogMem-Space": self.operator.space}
        access = Access(self.house.url, headers, {}).client()
        try:
            async with httpx.AsyncClient(base_url=self.house.url, **access) as browser:
                entered = await browser.post(await self.link())
                if entered.status_code != 303:
                    raise Fault(f"The sign-in link of {self.id} was answered {entered.status_code}.")
                ask = await _call(browser, "inbox", {"trail": trail})
                verdict = {"trail": trail, "digest": ask["digest"], "verdict": "approve"}
                decided = await _call(browser, "decide", verdict)
                await self._sign_out(dict(browser.cookies))
        except httpx.HTTPError as why:
            raise Fault(f"{self.house.url} did not answer a person: {why}.", code=UNREACHABLE) from None
        return decided

    async def _sign_out(self, cookies: Mapping[str, str]) -> None:
        """End the session, so that nobody seems to sit there who does not."""
        from store.verbs.identity import Badge, read_token
        from store.verbs.sessions import sign_out

        for value in cookies.values():
            kind, via, id, secret = read_token(value)
            await sign_out(self.operator.store, Badge(kind, id, secret, via, "logmem"))


async def _call(browser: Any, verb: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = await browser.post(f"/api/tools/{verb}", json=args)
    said: Mapping[str, Any] = answer.json()
    if answer.status_code != 200:
        raise Fault(f"{verb} was refused to a person: {said['error']['code']}: {said['error']['message']}")
    return said


async def who_decides(operator: "Operator", house: House, *, auto: bool) -> str:
    """Whose word counts in the demo: the owner of the space that is up here, or a stand-in where there is none."""
    from store.domain.errors import Refused

    from ..operate import Operator

    if auto or not house.fleet:
        return STAND_IN
    try:
        there = await Operator(operator.store, house.settings, house.fleet, "LOGMEM_SPACE").every("people")
    except Refused:  # there is no such space
        return STAND_IN
    owners = [each["person"].partition(":")[2] for each in there["people"] if each["role"] == "owner"]
    return owners[0] if owners else STAND_IN
