"""The console: pages and forms that work without JavaScript."""

from functools import cache

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from .pages import Console

__all__ = ["lost", "router"]

FOR_PROGRAMS = ("api", "mcp", "k")  # first words of addresses whose answers are JSON, also for a browser


def router() -> APIRouter:
    """Every path of the console, below `/`; the app has the store and the settings in its state."""
    return _console().router()


async def lost(request: Request) -> Response | None:
    """A page for a browser that asks for an address where nothing is; None for whoever wants no page."""
    looks = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    if not looks or request.url.path.split("/")[1] in FOR_PROGRAMS:
        return None
    return await _console().lost(request)


@cache
def _console() -> Console:
    return Console()
