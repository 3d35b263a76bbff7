"""The server that the demo plays on: the one that is up, or one of its own that ends with it."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..fault import UNREACHABLE, Fault

if TYPE_CHECKING:
    import socket

    from store.engine.client import Target
    from store.settings import Settings

    from ..children import Api

ANSWER = 5.0  # seconds for a server to say that it is there
START = 60.0  # seconds for one of our own


@dataclass(frozen=True, slots=True)
class House:
    """A server: where agents reach it (`url`), where people do (`console`), its store; `own` is one that we start."""

    settings: "Settings"
    target: "Target"
    url: str
    console: str
    fleet: str = ""  # the space of the `up` that runs here
    own: "Own | None" = None


@dataclass(frozen=True, slots=True)
class Own:
    """What a server of our own consists of, beside its store."""

    api: "Api"
    log: Path


@contextmanager
def house(settings: "Settings") -> Iterator[House]:
    """The server that is up, found as other commands find it; or a new one in a temporary folder.

    Blocks: call it before the event loop. Fault, StoreProblem: LOGMEM_REST_URL names one that is not there, or there
    can be none.
    """
    from store.target import reached

    from .. import home

    here = home.running(settings.home)
    url = _up(settings, here.url if here else "")
    if url:
        with reached(settings) as target:
            yield House(settings, target, url, settings.public_url or url, here.space if here else settings.space or "")
        return
    with _own(settings) as made:
        yield made


def _up(settings: "Settings", running: str) -> str:
    """The address of the server that is up, or ''."""
    from ..setting import local_url

    if settings.rest_url:
        if not _answers(settings.rest_url):
            raise Fault(
                f"{settings.rest_url} does not answer, which LOGMEM_REST_URL names. Nothing was done. Start it, or "
                "leave LOGMEM_REST_URL out.",
                code=UNREACHABLE,
            )
        if not (settings.redis_uri or (settings.home / "store").exists()):
            raise Fault(
                f"LOGMEM_REST_URL names {settings.rest_url}, whose store is not {whose(settings)}: there is none yet. "
                "Nothing was done. The demo makes keys, and so is called where the server keeps its store."
            )
        return settings.rest_url
    shared = (settings.public_url, local_url(settings.host, settings.port)) if settings.redis_uri else ()
    return next((url for url in (running, *shared) if url and _answers(url)), "")


def _answers(url: str) -> bool:
    """Whether a server of LogMem answers there."""
    import httpx

    from ..server import Access

    try:
        with httpx.Client(**Access(url, {}, {}).client(answer=ANSWER)) as client:
            return client.get(f"{url}/readyz").status_code == 200
    except httpx.HTTPError:
        return False


@contextmanager
def _own(settings: "Settings") -> Iterator[House]:
    """A server with a state folder of its own; nothing of the environment's settings is meant for it."""
    from store.target import reached

    from ..children import Api
    from ..importpath import environment
    from ..listener import listen
    from ..setting import local_url

    with tempfile.TemporaryDirectory(prefix="logmem-demo-") as folder, listen("127.0.0.1", 0) as listener:
        nothing = dict.fromkeys(("index", "redis_uri", "redis_secrets", "public_url", "rest_url", "space", "agent"))
        found = settings.model_copy(update={**nothing, "home": Path(folder), "host": "127.0.0.1", "fsync": "everysec"})
        log = Path(folder) / "api.log"
        env = {name: value for name, value in environment().items() if not name.startswith("LOGMEM_")}
        url = local_url("127.0.0.1", _port(listener))
        with reached(found) as target:
            yield House(found, target, url, url, own=Own(Api(found, listener, log, env=env), log))


def _port(listener: "socket.socket") -> int:
    port: int = listener.getsockname()[1]
    return port


@asynccontextmanager
async def served(house: House) -> AsyncIterator[None]:
    """The server answers for as long as the block lasts. Fault: one of our own does not start."""
    if house.own is None:
        yield
        return
    api = house.own.api
    kept = asyncio.create_task(api.keep())
    ready = asyncio.create_task(api.ready())
    try:
        await asyncio.wait((kept, ready), timeout=START, return_when=asyncio.FIRST_COMPLETED)
        if kept.done():
            kept.result()
        if not ready.done():
            raise Fault(f"The demo's own server is not ready after {START:.0f} s.", code=UNREACHABLE)
        yield
    finally:
        await api.stop()
        for task in (kept, ready):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Fault):
                await task


def whose(settings: "Settings") -> str:
    """The store that keys are made in."""
    return "the one of LOGMEM_REDIS_URI" if settings.redis_uri else f"the one in {settings.home}"


def whereabouts(house: House) -> str:
    """Where the demo plays, in a sentence."""
    if house.own is None:
        return f"It plays on the server at {house.url}."
    return (
        f"No server is up{_at(house)}, so the demo starts one for itself at {house.url}, in a temporary folder.\n"
        "It ends with the demo, and so does all that stands in it."
    )


def _at(house: House) -> str:
    return f" in {os.environ['LOGMEM_HOME']}" if os.environ.get("LOGMEM_HOME") else ""
