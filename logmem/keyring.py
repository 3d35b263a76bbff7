"""Which key a client gets: the one that was given, the one that it has, or a new one; proven before it is used."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import show
from .configs import Link
from .fault import UNREACHABLE, USAGE, Fault
from .home import running
from .server import Access, Server, here

if TYPE_CHECKING:
    from store.settings import Settings

    from .operate import Operator

RENEWED = timedelta(days=30)  # of a lease that are left, or less: then it is extended
PATIENCE = 10.0  # seconds for an answer
TOLD = "--token"  # by whoever runs the command, who means this key
Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose key is wanted, and where; None is what nobody has said. `had` is what the client's file says now."""

    settings: "Settings"
    label: str
    usual: str
    agent: str | None
    space: str | None
    given: str | None
    source: str  # where the given key was said: --token, or the environment
    had: Link | None


@dataclass(frozen=True, slots=True)
class Held:
    """A key that opens a space for an agent; `how` it was come by: given, kept, renewed or made."""

    url: str
    agent: str
    space: str
    token: str
    how: str

    @property
    def key(self) -> str:
        """The public id."""
        return public(self.token)


def address(wanted: Wanted) -> str:
    """The server's address: the one that was said, of an installation here the present one, else as it was; or ''."""
    had, found = wanted.had.url if wanted.had else "", wanted.settings
    if found.rest_url or found.public_url:
        return found.rest_url or found.public_url or ""
    up = running(found.home)
    return up.url if up and (not had or _near(had)) else had


def _near(url: str) -> bool:
    """Whether it is an address of this machine."""
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


def public(token: str) -> str:
    """The public id of a key, by which it is revoked."""
    return token.split("_")[1] if token.count("_") >= 2 else ""


def held(wanted: Wanted) -> Held:
    """A key that opens what is wanted. Fault, Refused: there is none, and none can be made."""
    url = address(wanted) or here(wanted.settings)
    if wanted.given:
        return _given(wanted, url, wanted.given)
    # An address that was named just now may be anybody's: the key of another one is not shown to it.
    if wanted.had and wanted.had.token and (wanted.had.url == url or not wanted.settings.rest_url):
        kept = _kept(wanted, url, wanted.had.token)
        if kept:
            return kept
    return _made(wanted, url)


def shown(wanted: Wanted, placed: Held) -> Held:
    """What is shown and not written: a key only where it is known to be of the agent and space that stand beside it.

    Fault: the key that was given does not fit.
    """
    had = wanted.had
    if not wanted.given:
        fits = had and had.token and (had.agent, had.space) == (placed.agent, placed.space)
        return replace(placed, token=had.token) if had and fits else placed
    try:
        return held(wanted)
    except Fault as no:
        if no.code != UNREACHABLE:
            raise
        show.say(f"{no} So nobody said whose key that is, and it is left out.")
        return placed


def variable() -> str:
    """The variable that sets a key of the environment."""
    file = "LOGMEM_REST_TOKEN_FILE"
    return file if os.environ.get(file) else "LOGMEM_REST_TOKEN"


def _given(wanted: Wanted, url: str, token: str) -> Held:
    try:
        who = _who(wanted, url, token)
    except Fault as no:
        said = f"The key of {wanted.source}: {no}"
        caller = str((no.body or {}).get("caller", "")).partition(":")[2]
        # One in the environment may be there for something else, such as `call`: it says nothing of this client.
        if wanted.source != TOLD and caller and (no.body or {}).get("code") == "identity_mismatch":
            said = (
                f"{wanted.source} is the key of agent:{caller}, and {wanted.label} is to be agent:{wanted.agent}. "
                f"Nothing was written. Connect it as that agent: --agent {caller}; or unset {wanted.source}, and it "
                "keeps the key that it has, or gets one of its own."
            )
        raise Fault(said, code=no.code, body=no.body) from None
    return Held(url, who["agent"], who["space"], token, "given")


def _kept(wanted: Wanted, url: str, token: str) -> Held | None:
    """The key that the client has, extended where it ends soon; None where it is none any more, or another's."""
    how = "kept"
    try:
        who = _who(wanted, url, token)
        if not _soon(who) or not _renewed(wanted, who["space"], token):
            return Held(url, who["agent"], who["space"], token, how)
        how = "renewed"
    except Fault as no:
        code = (no.body or {}).get("code")
        if code is None:
            raise
        if code != "key_expired" or not _renewed(wanted, wanted.space, token):
            return None
        who, how = _who(wanted, url, token), "renewed"
    return Held(url, who["agent"], who["space"], token, how)


def _made(wanted: Wanted, url: str) -> Held:
    """A new key, made as the operator."""
    settings = wanted.settings
    if not (_near(url) or settings.redis_uri or url == settings.public_url):
        raise Fault(
            f"{url} is elsewhere, and a key for it is made there: logmem mint {wanted.agent or wanted.usual}. "
            "Nothing was written. Give it with --token.",
            code=USAGE,
        )
    _reach(url)

    async def mint(operator: "Operator") -> Told:
        return await operator.do("mint", name=wanted.agent or wanted.usual)

    made = _operate(mint, wanted.space)
    token = str(made["token"])
    try:
        who = _who(wanted, url, token)
    except Fault as no:
        if (no.body or {}).get("code") != "unauthenticated":
            raise
        key = public(token)
        _operate(lambda operator: operator.do("revoke", name=key), made["space"])
        raise Fault(
            f"{url} is a server of another store than {settings.home}: a key that is made here does not open it. "
            "Nothing was written. Set LOGMEM_HOME to its folder, or give a key with --token.",
        ) from None
    return Held(url, who["agent"], who["space"], token, "made")


def _renewed(wanted: Wanted, space: str | None, token: str) -> bool:
    """Whether the lease could be extended: the key is one of the store that the operator reaches from here."""
    from store.domain.errors import Refused
    from store.engine.problem import StoreProblem

    try:
        _operate(lambda operator: operator.do("renew", name=public(token)), space)
    except (Fault, Refused, StoreProblem):
        return False
    return True


def _operate(work: "Callable[[Operator], Awaitable[Told]]", space: str | None) -> Told:
    from .operate import operate

    return operate(work, space=space)


def _who(wanted: Wanted, url: str, token: str) -> Told:
    """Whose the key is and which space it opens: the server compares what is wanted. Fault: it does not fit."""
    headers = {"Authorization": f"Bearer {token}", "X-LogMem-Client": "logmem", "Content-Type": "application/json"}
    for header, value in (("X-LogMem-Space", wanted.space), ("X-LogMem-Agent", wanted.agent)):
        headers |= {header: value} if value else {}
    if not all(value.isascii() and value.isprintable() for value in headers.values()):
        raise Fault("A name or key has characters that none has. Nothing was written.", code=USAGE)
    access = Access(url, headers, {"X-LogMem-Space": "--space", "X-LogMem-Agent": "--agent"})
    with Server(access=access, answer=PATIENCE) as server:
        try:
            told = server.ask("connection", "{}")
        except Fault as no:
            # A key whose tools are few: it was compared before, and says no more.
            if (no.body or {}).get("code") != "scope_denied":
                raise
            if not (wanted.agent and wanted.space):
                text = (
                    "The key has few tools, and none that says whose it is. Nothing was written. Give --agent, --space."
                )
                raise Fault(text, code=USAGE) from None
            return {"agent": wanted.agent, "space": wanted.space}
    return {**told, "agent": str(told["caller"]).partition(":")[2]}


def _soon(who: Told) -> bool:
    """Whether its lease ends soon, by the space's own clock."""
    if "expires_at" not in who:
        return False
    return datetime.fromisoformat(who["expires_at"]) - datetime.fromisoformat(who["clock"]) < RENEWED


def _reach(url: str) -> None:
    """Fault: no server answers there, so that a key would be made for nothing."""
    import httpx

    try:
        with httpx.Client(**Access(url, {}, {}).client(answer=PATIENCE)) as client:
            client.get(f"{url}/livez")
    except httpx.HTTPError as why:
        raise Fault(
            f"{url} does not answer ({str(why) or type(why).__name__}). Nothing was written. Is it up? Start it: "
            "logmem up; or say which with --url.",
            code=UNREACHABLE,
        ) from None
