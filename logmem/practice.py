"""A first ask, to try a decision on: of an agent `practice`. Nothing hangs on it, and nothing of it is left open.

What is approved is used at once, what is not decided is withdrawn, the agent's shift ends, and its key is revoked.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from .asking import unless_left
from .fault import REFUSED, UNREACHABLE, Fault
from .server import Access

if TYPE_CHECKING:
    import httpx

    from .operate import Operator

AGENT = "practice"
ROUND = 20  # seconds that the server holds one look
LIFE = "15m"
QUESTION = "Shall I say hello?"
SUMMARY = f"{QUESTION} (A practice ask: nothing hangs on it.)"
NOTES = "The practice is over; nothing is left to do."
PAYLOAD = {"say": "hello", "to": "you"}


async def practised(operator: "Operator", url: str, person: str) -> dict[str, Any] | None:
    """Ask a person, and wait: how the ask stands then; None where whoever sits here pressed Enter before.

    Fault: the server refuses or does not answer. The key is revoked in any case.
    """
    async with _asking(operator, url) as (http, space):
        asked = await _call(
            http, "ask", where=f"channel:{space}", summary=SUMMARY, payload=PAYLOAD, approvers=[person],
            expires_in=LIFE,
        )  # fmt: skip
        end = await unless_left(_settled(http, asked["trail"])) or await _withdrawn(http, asked["trail"])
        if end and end["status"] == "approved":
            await _call(http, "redeem", trail=asked["trail"])
        return end


async def _withdrawn(http: "httpx.AsyncClient", trail: str) -> dict[str, Any] | None:
    """Take the ask away: None, or how it stands where it was decided at that moment."""
    try:
        await _call(http, "ask", withdraw=trail)
    except Fault:
        return await _settled(http, trail)
    return None


@asynccontextmanager
async def _asking(operator: "Operator", url: str) -> AsyncIterator[tuple["httpx.AsyncClient", str]]:
    """The server, as an agent calls it with a key that ends with the block; and the space of both."""
    import httpx

    made = await operator.do("mint", name=AGENT, days=1)
    try:
        headers = {"Authorization": f"Bearer {made['token']}", "X-LogMem-Client": "logmem"}
        async with httpx.AsyncClient(base_url=url, **Access(url, headers, {}).client()) as http:
            try:
                yield http, made["space"]
            finally:
                with suppress(Fault):
                    await _call(http, "recap", notes=NOTES)
    finally:
        await operator.do("revoke", name=made["key"])


async def _settled(http: "httpx.AsyncClient", trail: str) -> dict[str, Any]:
    """The ask, once it is decided, over or withdrawn."""
    args: dict[str, Any] = {"what": trail, "wait": ROUND}
    while True:
        found = await _call(http, "follow", **args)
        if found["status"] != "pending":
            return found
        args["since"] = found["cursor"]


async def _call(http: "httpx.AsyncClient", verb: str, **args: Any) -> dict[str, Any]:
    import httpx

    try:
        answer = await http.post(f"/api/tools/{verb}", json=args)
        said: dict[str, Any] = answer.json()
    except (httpx.HTTPError, ValueError) as why:
        raise Fault(f"The server did not answer the practice ask ({type(why).__name__}).", code=UNREACHABLE) from None
    if answer.status_code != 200:
        error: Mapping[str, Any] = said.get("error", {})
        raise Fault(f"The practice ask was refused: {error.get('code')}: {error.get('message')}", code=REFUSED)
    return said
