"""The names that this server is reached by, against pages that have a name of their own point here."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from store.settings import Settings

from .answers import plain_error

LOCAL = ("localhost", "127.0.0.1", "[::1]")
PROBES = ("/livez", "/readyz")  # asked by whatever runs us, under whatever name; they tell nothing of anybody
MCP = ("/mcp", "/k/")  # looks for itself, and answers in its own form
BOT = "/internal/"  # found under whatever name the bot has for it, and looks for itself how one came there
HSTS = "max-age=31536000"
PROXIES = ("forwarded", "via", "x-real-ip")  # headers that something between adds, beside x-forwarded-…
_PORT = re.compile(r":[0-9]{0,5}\Z")


@dataclass(frozen=True, slots=True)
class Hosts:
    """Host names in lower case; any port may follow them. An Origin must be a page of one of them."""

    names: frozenset[str]

    @classmethod
    def of(cls, *addresses: str | None) -> "Hosts":
        """The local names, and those of these URLs, host names and IP addresses."""
        return cls(frozenset((*LOCAL, *(_name(a) for a in addresses if a))))

    def fault(self, host: str, origin: str) -> tuple[int, str] | None:
        """The HTTP status and the sentence for a request that did not come here under one of the names."""
        if not self._known(host):
            return 421, "This server is not known by that Host. Nothing was done. LOGMEM_PUBLIC_URL says where it is."
        scheme, _, page = origin.partition("://")
        if origin and not (scheme in ("http", "https") and self._known(page)):
            return 403, "Pages of another origin may not call this. Nothing was done."
        return None

    def _known(self, netloc: str) -> bool:
        return _PORT.sub("", netloc).lower() in self.names


class Guard:
    """ASGI middleware: every request came here under one of our names, and with https comes by https from then on."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts, public_url: str | None) -> None:
        self.app, self.hosts = app, hosts
        self.https = (public_url or "").startswith("https://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Strict-Transport-Security"] = HSTS
            await send(message)

        out = strictly if self.https else send
        path = scope["path"]
        wrong = (
            None
            if path in PROBES or path.startswith((*MCP, BOT))
            else self.hosts.fault(Headers(scope=scope).get("host", ""), "")
        )
        if wrong:
            await plain_error(wrong[0], "unknown_host", wrong[1])(scope, receive, out)
            return
        await self.app(scope, receive, out)


def not_straight(headers: Headers, settings: Settings) -> str:
    """Why a request did not come straight from a process of ours, or '': through a proxy, or by our public name."""
    said = next((name for name in headers if name in PROXIES or name.startswith("x-forwarded-")), "")
    if said:
        return f"it came through a proxy, as its header {said} says"
    host = _PORT.sub("", headers.get("host", "")).lower()
    own = (*LOCAL, _name(settings.api_url))
    if settings.public_url and host == _name(settings.public_url) and host not in own:
        return "it came by the public name"
    return ""


def _name(address: str) -> str:
    netloc = urlsplit(address).netloc if "//" in address else address
    if netloc.count(":") > 1 and "[" not in netloc:
        return f"[{netloc.lower()}]"
    return _PORT.sub("", netloc).lower()
