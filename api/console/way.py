"""Where a person wanted to go when they had to sign in first: kept for one sign-in, in a cookie of its own.

Only an address of a page of ours is ever kept or followed, so a sign-in leads to no other site.
"""

import re
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "logmem_next"
LIFE = 15 * 60  # seconds: a link is good for 10 minutes
LIMIT = 1000  # characters
OWN_PAGE = re.compile(r"/s(?:/[A-Za-z0-9._~%:@+-]+)+/?(?:\?[A-Za-z0-9._~%:@=&+,-]*)?")


def asked(request: Request) -> str:
    """The page that this request is for; '' for what is no page of ours, or only sent to."""
    query = request.url.query
    page = f"{request.url.path}{'?' if query else ''}{query}"
    return page if request.method == "GET" and _ours(page) else ""


def keep(response: Response, page: str, *, secure: bool) -> None:
    """Have the browser remember it until somebody signs in."""
    value = quote(page, safe="")
    response.set_cookie(COOKIE, value, max_age=LIFE, path="/", secure=secure, httponly=True, samesite="lax")


def wanted(request: Request) -> str:
    """The page that was kept, or the first one."""
    page = unquote(request.cookies.get(COOKIE, ""))
    return page if _ours(page) else "/"


def forget(response: Response, *, secure: bool) -> None:
    """Have the browser drop it: it was followed."""
    response.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="lax")


def _ours(page: str) -> bool:
    return len(page) <= LIMIT and bool(OWN_PAGE.fullmatch(page))
