"""How a person likes the console: light or dark, and whether single keys do something. Kept in cookies of its own."""

import re
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from store.domain.errors import Refused

COOKIES = {"look": ("auto", "light", "dark"), "keys": ("on", "off")}  # the first is the usual
YEAR = 365 * 24 * 3600  # seconds
OWN_PATH = re.compile(r"/(?:[A-Za-z0-9._~%:-]+/?)*")


@dataclass(frozen=True, slots=True)
class Looks:
    """`auto` follows the person's system; keys are the shortcuts of single letters."""

    look: str = "auto"
    keys: str = "on"

    @classmethod
    def of(cls, request: Request) -> "Looks":
        """As the browser has kept it; what nobody could have chosen is as if nothing had been."""
        kept = {name: request.cookies.get(f"logmem_{name}", "") for name in COOKIES}
        return cls(**{name: said for name, said in kept.items() if said in COOKIES[name]})


def keep(response: Response, name: str, value: str, *, secure: bool) -> None:
    """Have the browser remember a choice. Refuses invalid_argument."""
    if value not in COOKIES.get(name, ()):
        raise Refused("invalid_argument", "There is no such choice. Nothing was changed.")
    response.set_cookie(f"logmem_{name}", value, max_age=YEAR, path="/", secure=secure, httponly=True, samesite="lax")


def own(path: str) -> str:
    """Where to go back to: an address of ours, or the first page."""
    return path if OWN_PATH.fullmatch(path) else "/"
