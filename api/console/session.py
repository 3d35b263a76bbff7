"""Sessions on pages: the cookie, and the token that binds a form to it."""

import hashlib
import hmac

from starlette.requests import Request
from starlette.responses import Response

from store.domain.errors import Refused
from store.engine.store import Store
from store.settings import Settings
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge, enterable, recognise
from store.verbs.perform import perform
from store.verbs.sessions import Session

from ..auth import COOKIE, own_origins

SPACES_LIMIT = 100  # spaces of one person that the first page looks into


def form_token(badge: Badge) -> str:
    """What a form of this session carries. Only whoever holds the cookie's secret can make it."""
    key = hashlib.sha256(f"logmem form\0{badge.secret}".encode()).digest()
    return hmac.new(key, badge.id.encode(), hashlib.sha256).hexdigest()


def check_form(request: Request, badge: Badge, token: str) -> None:
    """Let a form pass that this session was shown. Refuses scope_denied."""
    check_sender(request)
    if not hmac.compare_digest(token.encode(), form_token(badge).encode()):
        raise _foreign("This form was not made for your session.")


def check_sender(request: Request) -> None:
    """Turn away a form that another site sent. Refuses scope_denied.

    Browsers say `Origin: null` on forms of a page that gives no referrer, as ours do; they tell those apart from
    another site's by Sec-Fetch-Site. A form with neither is judged by its token alone.
    """
    origin = request.headers.get("origin", "null").lower()
    settings: Settings = request.app.state.settings
    if origin != "null" and origin not in own_origins(request, settings.public_url):
        raise _foreign("This form came from another site.")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _foreign("This form came from another site.")


def _foreign(why: str) -> Refused:
    return Refused(
        "scope_denied",
        f"{why} Nothing was changed. Open the page again and use the form there.",
        rule="forms-from-our-own-pages",
    )


async def own_spaces(store: Store, badge: Badge) -> list[str]:
    """The spaces that this session is live in; where it is in none, its 401. Refuses unauthenticated, key_expired."""
    names = await enterable(store, await recognise(store, badge))
    live, ended = [], None
    for name in names[:SPACES_LIMIT]:
        try:
            await perform(store, _in(badge, name), ROWS["spaces"], {})
            live.append(name)
        except Refused as no:
            ended = no if no.status == 401 else ended
            if no.status not in (401, 404):
                raise
    if ended and not live:
        raise ended
    return live


def _in(badge: Badge, space: str) -> Badge:
    return Badge(badge.kind, badge.id, badge.secret, badge.via, badge.client, spaces=(("page", space),))


def keep(response: Response, session: Session, *, secure: bool) -> None:
    """Hand the session to the browser, out of reach of scripts and of other sites' forms."""
    response.set_cookie(
        COOKIE, session.token, max_age=session.life // 1000, path="/", secure=secure, httponly=True, samesite="lax"
    )


def forget(response: Response, *, secure: bool) -> None:
    """Have the browser drop its session."""
    response.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="lax")
