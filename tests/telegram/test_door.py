"""The bot's side of the door: only what carries the door's sign is an answer of it, whatever else answers there."""

from typing import Any

import httpx
import pytest

from bot.door import SIGN, Away, Door
from store.domain.errors import Refused

Answer = tuple[int, Any, dict[str, str]]
SIGNED = {SIGN: "1"}
STRANGER = {"error": {"code": "unauthenticated", "message": "No.", "credential": "bot"}}
NOT_FOUND = {"error": {"code": "not_found", "message": "There is no such path. Nothing was done."}}


def door(answer: httpx.Response | Exception) -> Door:
    """A door at which this is answered to everything."""

    def respond(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    made = Door("http://127.0.0.1:1", "s" * 32)
    made._http = httpx.AsyncClient(base_url="http://127.0.0.1:1", transport=httpx.MockTransport(respond))
    return made


async def test_a_signed_answer_is_the_doors() -> None:
    """What is answered with 200 and the sign is given as it is."""
    assert await door(httpx.Response(200, json={"says": "Approved."}, headers=SIGNED)).reached(user=7) == {
        "says": "Approved."
    }


async def test_a_signed_refusal_is_for_the_person() -> None:
    """A refusal with the sign is a decision, with its code and facts."""
    body = {"error": {"code": "not_found", "message": "No such ask.", "near": 1}}
    with pytest.raises(Refused) as no:
        await door(httpx.Response(404, json=body, headers=SIGNED)).card(space="w", ref="ask:a")
    assert (no.value.code, no.value.message, no.value.facts["near"]) == ("not_found", "No such ask.", 1)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, json=NOT_FOUND),
        httpx.Response(404, json={"detail": "Not Found"}),
        httpx.Response(403, json={"error": {"code": "not_yours", "message": "by somebody else"}}),
        httpx.Response(200, json={"spaces": []}),
        httpx.Response(200, html="<p>Welcome to nginx!</p>", headers=SIGNED),
        httpx.Response(502, html="<p>Bad gateway</p>"),
        httpx.Response(200, json=["odd"], headers=SIGNED),
        httpx.Response(409, json={"error": {"code": "no such code", "message": "x"}}, headers=SIGNED),
        httpx.Response(401, json=STRANGER, headers=SIGNED),
        httpx.Response(503, json={"error": {"code": "store_unavailable", "message": "x"}}, headers=SIGNED),
        httpx.ConnectError("nobody listens"),
    ],
    ids=str,
)  # fmt: skip
async def test_everything_else_is_no_decision(answer: httpx.Response | Exception) -> None:
    """What a proxy, another server or an API without a door says is no word of the door: the call is made again."""
    with pytest.raises(Away) as away:
        await door(answer).spaces()
    assert not away.value.fails


@pytest.mark.parametrize(
    "answer",
    [httpx.Response(500, json={"error": {"code": "internal", "message": "x"}}, headers=SIGNED), httpx.ReadTimeout("x")],
    ids=str,
)
async def test_what_the_api_fails_at_is_told_apart(answer: httpx.Response | Exception) -> None:
    """The API is there, and fails at this call or does not end it: others may go well."""
    with pytest.raises(Away) as away:
        await door(answer).card(space="w", ref="ask:a")
    assert away.value.fails
