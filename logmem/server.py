"""The REST surface of a server, for whoever holds a key; what stands in the way is told with what to do about it."""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .fault import REFUSED, UNREACHABLE, USAGE, Fault

if TYPE_CHECKING:
    from store.settings import Settings

ANSWER = 75  # seconds for an answer, of which a call may wait 50


class Lost(Fault):
    """A server that is there, and did not answer, or not as LogMem does: it may come back."""


class Unreached(Fault):
    """Nobody listens there: it may be about to start."""


@dataclass(frozen=True, slots=True)
class Access:
    """A server's address, and what each request to it carries; `sources` says where a header's value was set."""

    url: str
    headers: Mapping[str, str]
    sources: Mapping[str, str]

    def client(self, *, answer: float = ANSWER) -> dict[str, Any]:
        """What a client of httpx is made with, synchronous or not: headers, bounds in seconds, proxies."""
        import httpx

        url = httpx.URL(self.url)
        near = url.host in ("127.0.0.1", "localhost", "::1")  # never by way of a proxy
        # Reading the certificates of a machine takes longer than a call; without TLS none is asked for.
        verify = True if url.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        timeout = httpx.Timeout(answer, connect=5)
        return {"headers": self.headers, "timeout": timeout, "trust_env": not near, "verify": verify}


def access(found: "Settings", *, space: str = "", program: str = "logmem") -> Access:
    """The access that the settings name; `space` is where that one was said. Fault: none, or nothing to send."""
    from store.settings import PREFIX

    if found.rest_token is None:
        raise Fault(f"Set {PREFIX}REST_TOKEN to the key of an agent: logmem mint NAME", code=USAGE)
    token = found.rest_token.get_secret_value()
    if not _fits_a_header(token):
        raise Fault(f"{PREFIX}REST_TOKEN is not a key: it has characters that no key has.", code=USAGE)
    headers = {"Authorization": f"Bearer {token}", "X-LogMem-Client": program, "Content-Type": "application/json"}
    # What our headers say, with the names that whoever set them knows.
    sources = {"X-LogMem-Space": space or f"{PREFIX}SPACE", "X-LogMem-Agent": f"{PREFIX}AGENT"}
    for header, value in (("X-LogMem-Space", found.space), ("X-LogMem-Agent", found.agent)):
        if value and not _fits_a_header(value):
            name = sources[header]
            raise Fault(f"{name} is {value[:80]!a}: it has characters that no id has. Nothing was done.", code=USAGE)
        headers |= {header: value} if value else {}
    return Access(found.rest_url or here(found), headers, sources)


class Server:
    """The REST surface of a server, with the credential that the environment names, or with another access."""

    def __init__(self, space: str | None = None, *, access: Access | None = None, answer: float = ANSWER) -> None:
        import httpx

        access = access or _environments(space)
        self._url, self._sources = access.url, access.sources
        self._client = httpx.Client(**access.client(answer=answer))

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, verb: str, body: str, *, action_id: str = "") -> dict[str, Any]:
        """The result of one call. Fault: refused (with the `body` of the refusal), or not reached."""
        import httpx

        headers = {"Idempotency-Key": action_id} if action_id else {}
        try:
            answer = self._client.post(f"{self._url}/api/tools/{verb}", content=body.encode(), headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout) as why:
            raise _unreached(self._url, str(why)) from None
        except httpx.HTTPError as why:
            retry = "Repeat it with the same --action-id." if action_id else "Look before you repeat it."
            raise Lost(
                f"{self._url} did not answer ({type(why).__name__}): it may or may not have been done. {retry}",
                code=UNREACHABLE,
            ) from None
        return self._read(answer.status_code, answer.content)

    def _read(self, status: int, raw: bytes) -> dict[str, Any]:
        try:
            said = json.loads(raw)
        except ValueError:
            said = None
        if status == 200 and isinstance(said, dict):
            return said
        error = said.get("error") if isinstance(said, dict) else None
        if not isinstance(error, dict):
            kind = Lost if status >= 500 else Fault  # a proxy whose server is away, or no LogMem at all
            text = f"{self._url} answered {status}, and not as LogMem does. See LOGMEM_REST_URL."
            raise kind(text, code=UNREACHABLE)
        text = f"{error.get('code')}: {error.get('message')}"
        for header, source in self._sources.items():
            text = text.replace(f"header {header}", source)
        if error.get("code") == "scope_unknown":
            text = f"{text} The space is the one of {self._sources['X-LogMem-Space']}."
        if status in (502, 503, 504):
            raise Lost(text, code=UNREACHABLE, body=error)
        raise Fault(text, code=REFUSED, body=error)


def _environments(space: str | None) -> Access:
    from .setting import quiet, settings

    found = settings(space=space)
    quiet(found)
    return access(found, space="--space" if space else "")


def _unreached(url: str, why: str) -> Fault:
    """The fault for there being no connection: why, and what to do."""
    kind = Fault
    if "CERTIFICATE" in why.upper():
        hint = "its certificate is not one that this machine trusts. See LOGMEM_REST_URL."
    elif "SSL" in why.upper():
        hint = "it does not speak https there. Write http:// in LOGMEM_REST_URL."
    else:
        kind = Unreached
        hint = f"{why.rstrip('.')}. Is it up? Start it: logmem up; or set LOGMEM_REST_URL."
    return kind(f"{url} cannot be reached: {hint} Nothing was done.", code=UNREACHABLE)


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable()


def here(found: "Settings") -> str:
    """The address of the server that is up here. Fault: none is."""
    from .home import running

    here = running(found.home)
    if here is None:
        raise Fault(
            f"LogMem is not up in {found.home}. Start it: logmem up. If it runs elsewhere, set LOGMEM_HOME to its "
            "folder, or LOGMEM_REST_URL to its address.",
            code=UNREACHABLE,
        )
    return here.url
