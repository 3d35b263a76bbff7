"""Server-sent events: what happens in a space, as it happens, for keys and for sessions."""

import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from store.domain.errors import Refused
from store.verbs import events
from store.verbs.call import Result

from .answers import HEADERS, failed, record, refused
from .auth import any_badge

PATH = "/api/events"
KEEP_ALIVE = 15.0  # seconds of silence after which a comment goes out, so that no proxy takes the stream for dead
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}  # some clients would end a line of the stream there
STREAMS = 16  # that one credential may have open in one process
RETRY = 2000  # ms after which a browser connects again


def router() -> APIRouter:
    """`GET /api/events`, resumable by Last-Event-ID (or `?after=` where a program cannot send that header)."""
    made = APIRouter()
    made.add_api_route(
        PATH, stream, methods=["GET"], operation_id="events", summary="What happens in the space, as it happens",
        response_class=StreamingResponse,
    )  # fmt: skip
    return made


async def stream(request: Request) -> Response:
    """The events since the one that the caller had last, then each as it comes. Refused like any read.

    Events: `open` and `commit` with an id to resume from; `gone` when some since that id are no longer kept;
    `end` with the refusal that ended the caller's rights.
    """
    streams: Counter[str] = request.app.state.streams
    try:
        after = request.headers.get("last-event-id", "") or request.query_params.get("after", "")
        badge = any_badge(request, space=request.query_params.get("space", ""))
        if streams[badge.id] >= STREAMS:
            raise Refused(
                "rate_limited",
                f"{STREAMS} streams of this credential are open already. Close one, or wait a second.",
                retry_after=1,
            )
        batches = events.events(request.app.state.store, badge, after=after)
        first = await anext(batches)
    except Refused as no:
        return refused(no)
    except Exception as fault:  # noqa: BLE001 - whatever it is, the caller gets an answer without a trace
        return failed(request, fault)
    headers = {**HEADERS, "X-Accel-Buffering": "no"}
    lines = _counted(badge.id, streams, _lines(request, first, batches))
    return StreamingResponse(lines, media_type="text/event-stream", headers=headers)


async def _counted(id: str, streams: "Counter[str]", lines: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    """The lines, counted among the credential's open streams while they last."""
    streams[id] += 1
    try:
        async with contextlib.aclosing(lines):
            async for line in lines:
                yield line
    finally:
        streams[id] -= 1
        if not streams[id]:
            del streams[id]


async def _lines(
    request: Request, first: list[Result], batches: AsyncGenerator[list[Result], None]
) -> AsyncGenerator[str, None]:
    """The stream's text. It ends with the process, or the caller's rights: `batches` looks at them each second."""
    yield f"retry: {RETRY}\n\n"
    async with contextlib.aclosing(batches):
        spoken = time.monotonic()
        batch = first
        while True:
            for event in batch:
                yield _event(event)
            now = time.monotonic()
            if batch or now - spoken >= KEEP_ALIVE:
                spoken = now
                if not batch:
                    yield ": still here\n\n"
            try:
                batch = await anext(batches)
            except StopAsyncIteration:
                return  # the process ends; the reader comes back to the next one
            except Refused as no:
                yield f"event: end\ndata: {_json({'error': no.body})}\n\n"
                return
            except Exception as fault:  # noqa: BLE001 - the answer has begun: all that is left is to end it
                record(request, fault)
                return


def _event(event: Result) -> str:
    kind = next((k for k in ("open", "gone") if event.get(k)), "commit")
    body = {k: v for k, v in event.items() if k not in ("id", "open", "gone")}
    return f"id: {event['id']}\nevent: {kind}\ndata: {_json(body)}\n\n"


def _json(value: Result) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(LINE_ENDS)
