"""The bot's side of the door: only what carries the door's own sign is an answer of it, whatever else answers there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.door import SIGN, Away, Door
from store.domain.errors import Refused
from tests.telegram.answering import answering, spelled

Answer = tuple[int, Any, dict[str, str]]
SIGNED = {SIGN: "1"}
STRANGER = {"error": {"code": "unauthenticated", "message": "No.", "credential": "bot"}}
NOT_FOUND = {"error": {"code": "not_found", "message": "There is no such path. Nothing was done."}}
NOBODY = "http://127.0.0.1:1"


@asynccontextmanager
async def door(answer: Answer | None) -> AsyncIterator[Door]:
    """A door at which this is answered to everything, or nothing ever."""
    async with answering(spelled(*answer) if answer else None) as server:
        made = Door(server.url, "s" * 32, patience=15 if answer else 0.2)
        yield made
        await made.close()


async def test_a_signed_answer_is_the_doors() -> None:
    """What is answered with 200 and the sign is given as it is."""
    async with door((200, {"says": "Approved."}, SIGNED)) as it:
        assert await it.reached(user=7) == {"says": "Approved."}


async def test_a_signed_refusal_is_for_the_person() -> None:
    """A refusal with the sign is a decision, with its code and facts."""
    async with door((404, {"error": {"code": "not_found", "message": "No such ask.", "near": 1}}, SIGNED)) as it:
        with pytest.raises(Refused) as no:
            await it.card(space="w", ref="ask:a")
    assert (no.value.code, no.value.message, no.value.facts["near"]) == ("not_found", "No such ask.", 1)


@pytest.mark.parametrize(
    "answer",
    [
        (404, NOT_FOUND, {}),
        (404, {"detail": "Not Found"}, {}),
        (403, {"error": {"code": "not_yours", "message": "by somebody else"}}, {}),
        (307, {"error": {"code": "not_found", "message": "elsewhere"}}, {"Location": "/elsewhere"}),
        (200, {"spaces": []}, {}),
        (200, "<p>Welcome to nginx!</p>", SIGNED),
        (502, "<p>Bad gateway</p>", {}),
        (200, ["odd"], SIGNED),
        (409, {"error": {"code": "no such code", "message": "x"}}, SIGNED),
        (401, STRANGER, SIGNED),
        (503, {"error": {"code": "store_unavailable", "message": "x"}}, SIGNED),
    ],
    ids=str,
)  # fmt: skip
async def test_everything_else_is_no_decision(answer: Answer) -> None:
    """What a proxy, another server or an API without a door says is no word of the door: the call is made again."""
    async with door(answer) as it:
        with pytest.raises(Away) as away:
            await it.spaces()
    assert not away.value.fails


async def test_nobody_there_is_no_decision() -> None:
    """Where nothing listens, or what is set is no address, the call is made again."""
    for url in (NOBODY, "http://", "nonsense"):
        it = Door(url, "s" * 32)
        with pytest.raises(Away) as away:
            await it.spaces()
        assert not away.value.fails
        await it.close()


@pytest.mark.parametrize("answer", [(500, {"error": {"code": "internal", "message": "x"}}, SIGNED), None], ids=str)
async def test_what_the_api_fails_at_is_told_apart(answer: Answer | None) -> None:
    """The API is there, and fails at this call or does not end it: others may go well."""
    async with door(answer) as it:
        with pytest.raises(Away) as away:
            await it.card(space="w", ref="ask:a")
    assert away.value.fails
