"""Sessions on pages: the cookie, and the token that binds a form to it."""

import hashlib
import hmac

from starlette.requests import Request
from starlette.responses import Response

from store.domain.errors import Refused
from store.settings import Settings
from store.verbs.identity import Badge
from store.verbs.sessions import Session

from ..auth import COOKIE, own_origins


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

    Browsers say `Origin: null` on forms of a page that gives no referrer, as ours of a session do; they tell those
    apart from another site's by Sec-Fetch-Site. A form with neither is judged by its token alone.
    """
    origin = request.headers.get("origin", "null").lower()
    settings: Settings = request.app.state.settings
    if origin != "null" and origin not in own_origins(request, settings.public_url):
        raise _foreign("This form came from another site.")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _foreign("This form came from another site.")


def check_signing_in(request: Request) -> None:
    """Turn away a sign-in that another site sent: it would put its own session into this browser.

    Such a form has no session to be bound to, and over plain http browsers leave Sec-Fetch-Site out. But on every POST
    they say where it came from, and the page of a link lets them name itself; only another site's page says null then.
    What says nothing at all is no browser. Refuses scope_denied.
    """
    check_sender(request)
    if request.headers.get("origin", "").lower() == "null" and "sec-fetch-site" not in request.headers:
        raise _foreign("This form came from another site.")


def _foreign(why: str) -> Refused:
    return Refused(
        "scope_denied",
        f"{why} Nothing was changed. Open the page again and use the form there.",
        rule="forms-from-our-own-pages",
    )


def keep(response: Response, session: Session, *, secure: bool) -> None:
    """Hand the session to the browser, out of reach of scripts and of other sites' forms."""
    response.set_cookie(
        COOKIE, session.token, max_age=session.life // 1000, path="/", secure=secure, httponly=True, samesite="lax"
    )


def forget(response: Response, *, secure: bool) -> None:
    """Have the browser drop its session."""
    response.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="lax")
