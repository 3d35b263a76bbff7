"""The API process: MCP, REST and the console over one store."""

import asyncio
import gc
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import redis
import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from store.domain.errors import Refused
from store.engine.store import Store
from store.settings import Settings
from store.verbs import repeating

from . import answers, console, internal, rest
from .access import Access
from .hosts import Guard, Hosts
from .mcp import Mcp

GARBAGE_THRESHOLD = 50_000  # allocations between two collections: requests leave few cycles behind
READY_PATIENCE = 2.0  # seconds that the store has for its PONG

log = structlog.get_logger(__name__)


def create(store: Store, settings: Settings) -> FastAPI:
    """The application over an open store; whoever opened the store closes it."""
    hosts = Hosts.of(settings.public_url, settings.host, settings.api_url)
    mcp = Mcp(store, hosts=hosts)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with mcp.wire.run():
            settle_memory()
            chores = asyncio.create_task(repeating.always(store))
            yield
            chores.cancel()
            await asyncio.gather(chores, return_exceptions=True)

    # The framework's pages of documentation load scripts from elsewhere, onto the console's own origin.
    app = FastAPI(title="LogMem", lifespan=life, docs_url=None, redoc_url=None)
    app.state.store, app.state.settings = store, settings
    app.state.streams = Counter()
    app.add_middleware(Guard, hosts=hosts, public_url=settings.public_url)
    app.add_middleware(Access)  # the outermost, since it was added last
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_api_route("/livez", livez, include_in_schema=False)
    app.add_api_route("/readyz", readyz, include_in_schema=False)
    app.router.routes[:0] = [*mcp.routes(), *internal.routes()]  # first, since they are asked for most
    app.include_router(rest.router())
    app.include_router(console.router())
    return app


def settle_memory() -> None:
    """Keep the collector away from all that stands once the application has started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD, 10, 10)


async def livez() -> Response:
    """That this process answers."""
    return JSONResponse({"ok": True})


async def readyz(request: Request) -> Response:
    """Whether the store answers, to the user that commits and to the one that reads."""
    store: Store = request.app.state.store
    began = time.perf_counter()
    try:
        async with asyncio.timeout(READY_PATIENCE):
            await asyncio.gather(_ping(store.writer), _ping(store.reader))
    except (redis.RedisError, OSError, TimeoutError) as lost:
        log.warning("not_ready", error=type(lost).__name__)
        return answers.refused(Refused("store_unavailable", "The store does not answer.", retry_after=5))
    return JSONResponse({"ok": True, "store_ms": round((time.perf_counter() - began) * 1000, 1)})


async def _ping(client: Any) -> None:
    await client.execute_command("PING")


# Each is registered for one class only, which the framework's types do not know.


async def _refused(request: Request, no: Exception) -> Response:
    return answers.refused(cast("Refused", no))


async def _http_error(request: Request, no: Exception) -> Response:
    error = cast("HTTPException", no)
    page = await console.lost(request) if error.status_code == 404 else None
    return page or answers.http_error(request, error)


async def _misshapen(request: Request, no: Exception) -> Response:
    first = cast("RequestValidationError", no).errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    return answers.refused(Refused("invalid_argument", f"{name}: {first['msg']}. Nothing was done."))
