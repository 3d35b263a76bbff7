"""The Bot API called bare, as a library would not."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.telegram.phone import Telegram

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body of one call."""

    status: int
    body: Json
    headers: httpx.Headers

    @property
    def result(self) -> Any:
        """What a call gave that went well."""
        assert self.status == 200, self.body
        return self.body["result"]

    @property
    def error(self) -> tuple[int, str]:
        """Code and description of a refusal, whose status equals its code."""
        assert self.body == {**self.body, "ok": False, "error_code": self.status}
        return self.status, self.body["description"]


class Bot:
    """Calls methods with a JSON body and the emulator's token, unless told otherwise."""

    def __init__(self, telegram: Telegram) -> None:
        self.telegram = telegram
        self.http = httpx.AsyncClient(
            base_url=telegram.url, timeout=60, trust_env=False, verify=False
        )  # all is loopback

    async def __aenter__(self) -> "Bot":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def __call__(self, method: str, **params: Any) -> Answer:
        return await self.post(method, json=params)

    async def post(self, method: str, *, token: str | None = None, verb: str = "POST", **body: Any) -> Answer:
        """One call with any kind of body."""
        answer = await self.http.request(verb, f"/bot{token or self.telegram.token}/{method}", **body)
        return Answer(answer.status_code, answer.json(), answer.headers)

    async def updates(self, **params: Any) -> list[Json]:
        """GetUpdates."""
        return list((await self("getUpdates", **params)).result)


def keyboard(*buttons: Json) -> Json:
    """An inline keyboard of one row."""
    return {"inline_keyboard": [list(buttons)]}


APPROVE = {"text": "Approve", "callback_data": "v1:approve:abc"}
