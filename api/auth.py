"""What a request carries as proof and what it declares beside it. Nothing is checked here: `perform` does."""

from starlette.requests import HTTPConnection

from store.domain.errors import Refused
from store.verbs.identity import Badge, read_token

COOKIE = "logmem_session"
CSRF_HEADER = "x-logmem-csrf"  # no form and no link of another site can send a header
CLIENT_LIMIT = 40  # characters of a program's own name


def key_badge(request: HTTPConnection, *, key: str = "", client: str = "", space: str = "") -> Badge:
    """The badge of an agent's request: its bearer, or the key of a minted URL. Refuses unauthenticated.

    `space` is the argument of that name; `client` what the program calls itself in its protocol.
    """
    said = request.headers.getlist("authorization")
    scheme, _, bearer = (said[0] if said else "").partition(" ")
    own = bearer.strip() if scheme.lower() == "bearer" else ""
    if len(said) > 1 or (key and own and own != key):
        raise Refused("unauthenticated", "Two credentials came with this call. Nothing was done. Send one.")
    token = key or own
    return _badge(request, token, client=client, space=space)


def session_badge(request: HTTPConnection, *, space: str = "", source: str = "argument space") -> Badge:
    """The badge of a person's request: the cookie of their session. Refuses unauthenticated."""
    return _badge(request, request.cookies.get(COOKIE, ""), client="console", space=space, source=source)


def any_badge(request: HTTPConnection, *, space: str = "") -> Badge:
    """The badge of a request that may come from an agent or a person: the bearer, if there is one."""
    if "authorization" in request.headers:
        return key_badge(request, space=space)
    return session_badge(request, space=space)


def own_origins(request: HTTPConnection, public_url: str | None) -> tuple[str, ...]:
    """Where our own pages come from: the public address, and the host that this request was sent to."""
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return (public_url.lower(), here) if public_url else (here,)


def check_own_page(request: HTTPConnection, public_url: str | None) -> None:
    """Let a program's call with a cookie pass only from our own pages. Refuses scope_denied, invalid_argument."""
    head = request.headers
    if head.get(CSRF_HEADER) != "1" or head.get("origin", "").lower() not in own_origins(request, public_url):
        raise Refused(
            "scope_denied",
            "A call with a session's cookie needs the header X-LogMem-CSRF: 1 and this server's own Origin "
            "(rule cookies-from-our-own-pages). Nothing was written.",
            rule="cookies-from-our-own-pages",
        )
    if head.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(
            "invalid_argument",
            "A call with a session's cookie has Content-Type: application/json. Nothing was written.",
            argument="Content-Type",
        )


def program(name: str) -> str:
    """A program's own name, as it is kept."""
    return name[:CLIENT_LIMIT] if name.isprintable() else "".join(c for c in name if c.isprintable())[:CLIENT_LIMIT]


def _badge(request: HTTPConnection, token: str, *, client: str, space: str, source: str = "argument space") -> Badge:
    kind, via, id, secret = read_token(token)
    if (kind == "session") != (token == request.cookies.get(COOKIE, "")):
        raise Refused("unauthenticated", "A session comes as the console's cookie, a key as a bearer or in the URL.")
    head = request.headers
    name = client or head.get("x-logmem-client", "") or head.get("user-agent", "").partition("/")[0]
    declared = [*(("header X-LogMem-Space", said.strip()) for said in head.getlist("x-logmem-space")), (source, space)]
    agents = (("header X-LogMem-Agent", said.strip()) for said in head.getlist("x-logmem-agent"))
    return Badge(
        kind,
        id,
        secret,
        via,
        program(name),
        spaces=tuple((where, said) for where, said in declared if said),
        agents=tuple((where, said) for where, said in agents if said),
    )
