"""What all pages stand in: templates, static files, the headers that keep a page safe, and how it looks to a person."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from . import inert
from .looks import Looks

HERE = Path(__file__).parent
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
JOINED = ("css", "js")
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

_PLAIN = re.compile("[A-Za-z0-9_.~-]*")

Headers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Tab:
    """A page in the navigation: its name for templates, its word, and where it is below the space."""

    name: str
    word: str
    path: str


@dataclass(frozen=True, slots=True)
class Whose:
    """What a page shows of its session. `after` is where the feed ended before the page was read, '' where none is."""

    caller: str = ""
    token: str = ""
    space: str = ""
    simulated: bool = False
    now: str = ""
    after: str = ""


NOBODY = Whose()


class Frame:
    """Renders pages over the templates and static files that are shipped with it."""

    def __init__(self, tabs: Sequence[Tab]) -> None:
        self.tabs = tabs
        self.static = _static(HERE / "static")
        version = hashlib.sha256(b"".join(self.static[name] for name in sorted(self.static))).hexdigest()[:12]
        self.env = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.env.filters |= {name: getattr(inert, name) for name in inert.FILTERS}
        self.env.globals |= {"version": version, "ours": inert.OURS, "quote": quoted}

    def page(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        headers: Headers | None = None,
        whose: Whose = NOBODY,
        tab: str = "",
        **context: Any,
    ) -> Response:
        """A page, with what keeps it from being framed, kept or made to load anything. `tab` is where it belongs."""
        text = self.env.get_template(template).render(
            me=whose, tabs=self.tabs, tab=tab, looks=Looks.of(request), at=request.url.path, **context
        )
        return HTMLResponse(text, status, {**HEADERS, **(headers or {})})

    def file(self, name: str) -> Response | None:
        """A static file; its address changes with it, so it may be kept."""
        if name not in self.static:
            return None
        keep = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(self.static[name], headers={**HEADERS, **keep}, media_type=TYPES[Path(name).suffix])


def _static(folder: Path) -> Mapping[str, bytes]:
    """The files by name; those of `css/` and `js/` are one sheet and one script each, in the order of their names."""
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in TYPES}
    sheet, script = (b"\n".join(path.read_bytes() for path in sorted((folder / of).glob(f"*.{of}"))) for of in JOINED)
    # In a scope of its own: the parts know each other's names, and no page or tool that looks at it does.
    return {**found, "console.css": sheet, "console.js": b'"use strict";\n(() => {\n' + script + b"})();\n"}


def to(path: str) -> Response:
    """See other: the page that shows how things stand now. Always a path of ours."""
    return RedirectResponse(path, 303, HEADERS)


def quoted(text: str) -> str:
    """A part of an address."""
    return text if _PLAIN.fullmatch(text) else quote(text, safe="")
