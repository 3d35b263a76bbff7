"""The console's pages. Each asks a row of the catalogue and shows what it says; none decides anything."""

import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse

from store.domain.errors import Refused
from store.engine.store import Store
from store.verbs.call import Result
from store.verbs.catalog import ROWS
from store.verbs.identity import Badge
from store.verbs.perform import perform
from store.verbs.sessions import link_for, no_link, sign_in, sign_out, signed_in

from ..answers import record
from ..auth import COOKIE, session_badge
from . import inert
from .forms import FORMS, Fields, Form, read_form
from .session import check_form, check_signing_in, forget, form_token, keep

HERE = Path(__file__).parent
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TYPES = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
STATES = {  # words and tone of each state of an ask or item
    "pending": ("Waiting for a decision", "open"),
    "approved": ("Approved", "yes"),
    "rejected": ("Rejected", "no"),
    "answered": ("Answered", "yes"),
    "expired": ("Expired: nobody decided", "past"),
    "withdrawn": ("Withdrawn", "past"),
    "redeemed": ("Approved and used", "yes"),
    "lapsed": ("Approval lapsed unused", "past"),
    "taken_back": ("Approval taken back", "no"),
    # Of an item, where an ask has no such state.
    "open": ("Waiting to be accepted", "open"),
    "accepted": ("Accepted", "yes"),
    "declined": ("Declined", "no"),
}
TITLES = {400: "That did not work", 403: "Not for you", 404: "Not found", 409: "It stands otherwise", 413: "Too large"}
UNAVAILABLE = "Not now"

Endpoint = Callable[[Request], Awaitable[Response]]
Headers = dict[str, str]


class Console:
    """The pages over the templates and static files that are shipped with it."""

    def __init__(self) -> None:
        self.static = {path.name: path.read_bytes() for path in (HERE / "static").iterdir() if path.suffix in TYPES}
        version = hashlib.sha256(b"".join(self.static[name] for name in sorted(self.static))).hexdigest()[:12]
        env = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        env.filters |= {name: getattr(inert, name) for name in inert.FILTERS}
        env.globals |= {"version": version, "states": STATES, "ours": inert.OURS, "quote": _quote}
        self.env = env

    def router(self) -> APIRouter:
        """Every path of the console."""
        made = APIRouter(include_in_schema=False)
        for path, endpoint in (
            ("/", self.home),
            ("/sign-in/{link}", self.link),
            ("/s/{space}/", self.inbox),
            ("/s/{space}/ask/{trail}", self.ask),
            ("/s/{space}/item/{trail}", self.item),
            ("/static/{name}", self.file),
        ):
            made.add_api_route(path, self._guarded(endpoint), methods=["GET", "HEAD"])
        made.add_api_route("/sign-in/{link}", self._guarded(self.sign_in), methods=["POST"])
        made.add_api_route("/sign-out", self._guarded(self.sign_out), methods=["POST"])
        for form in FORMS:
            made.add_api_route(
                f"/s/{{space}}/{form.of}/{{trail}}/{form.path}", self._guarded(self._posted(form)), methods=["POST"]
            )
        # Whatever else is under these: a page that says so, and for a form's own address that it takes no GET.
        every = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        for path in ("/s/{space}", "/s/{rest:path}", "/sign-in/{rest:path}", "/sign-out"):
            made.add_api_route(path, self._guarded(self.nothing), methods=every)
        return made

    async def home(self, request: Request) -> Response:
        """The inbox of the only space, or the spaces to choose from."""
        badge = session_badge(request)
        person, names = await signed_in(_store(request), badge)
        if len(names) == 1:
            return _to(f"/s/{_quote(names[0])}/")
        return self.page("spaces.html", title="Spaces", names=names, v={"caller": person}, token=form_token(badge))

    async def link(self, request: Request) -> Response:
        """A button that signs in. Nothing is used up by looking: chat apps fetch the links that they show."""
        link = request.path_params["link"]
        person = await link_for(_store(request), link)
        if person is None:
            if (await self._whose(request))["v"]:
                return _to("/")  # whoever used it is in
            raise no_link(link)
        action = f"/sign-in/{_quote(link)}"
        # So that its form says where it came from, but no address that holds the link.
        own = {"Referrer-Policy": "strict-origin"}
        return self.page("link.html", headers=own, title="Sign in", person=person, action=action)

    async def sign_in(self, request: Request) -> Response:
        """Use the link up and open a session; one that this browser had before ends."""
        check_signing_in(request)
        try:
            session = await sign_in(_store(request), request.path_params["link"], client="console")
        except Refused:
            if (await self._whose(request))["v"]:
                return _to("/")
            raise
        if request.cookies.get(COOKIE):
            await self._end(request)
        response = _to("/")
        keep(response, session, secure=_secure(request))
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session in every space and every process."""
        badge = session_badge(request)
        check_form(request, badge, (await read_form(request)).get("token", ""))
        await sign_out(_store(request), badge)
        response = _to("/")
        forget(response, secure=_secure(request))
        return response

    async def _end(self, request: Request) -> None:
        try:
            await sign_out(_store(request), session_badge(request))
        except Refused:
            return  # no session of ours

    async def inbox(self, request: Request) -> Response:
        """What waits for me, what was handed to me, what waits for others, and what was settled lately."""
        badge = _badge(request)
        found = await perform(_store(request), badge, ROWS["inbox"], {})
        return self.page("inbox.html", title="Inbox", v=found, token=form_token(badge))

    async def ask(self, request: Request) -> Response:
        """One ask with all that it would do."""
        return await self._one(request, _badge(request), "ask")

    async def item(self, request: Request) -> Response:
        """One thing that was handed over, and how it stands."""
        return await self._one(request, _badge(request), "item")

    async def _one(
        self, request: Request, badge: Badge, of: str, *, no: Refused | None = None, typed: Fields | None = None
    ) -> Response:
        v = await _look(request, badge)
        if v["of"] != of:
            return _to(f"/s/{_quote(badge.spaces[-1][1])}/{v['of']}/{_quote(v['what'])}")
        return self.page(
            f"{of}.html",
            status=no.status if no else 200,
            title=f"{inert.said(v['summary'])}",
            v=v,
            token=form_token(badge),
            action=secrets.token_urlsafe(12),
            no=no,
            typed=typed or {},
        )

    def _posted(self, form: Form) -> Endpoint:
        """Take a form: do it and show the thing as it stands then, or show what the store says instead."""

        async def endpoint(request: Request) -> Response:
            badge = _badge(request)
            fields = await read_form(request)
            check_form(request, badge, fields.get("token", ""))
            trail = request.path_params["trail"]
            try:
                options = (await _look(request, badge)).get("options", []) if "option" in fields else []
                given = {"trail": trail, **form.arguments(fields, options)}
                await perform(_store(request), badge, ROWS[form.verb], given, action_id=_action(fields, given))
            except Refused as no:
                if no.status in (401, 404):
                    raise
                return await self._one(request, badge, form.of, no=no, typed=fields)
            return _to(f"/s/{_quote(badge.spaces[-1][1])}/{form.of}/{_quote(trail)}")

        return endpoint

    async def file(self, request: Request) -> Response:
        """A static file; its address changes with it, so it may be kept."""
        name = request.path_params["name"]
        if name not in self.static:
            return await self.nothing(request)
        keep = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(self.static[name], headers={**HEADERS, **keep}, media_type=TYPES[Path(name).suffix])

    async def nothing(self, request: Request) -> Response:
        """What is not there, or takes another method."""
        path = request.url.path
        if request.method in ("GET", "HEAD") and "space" in request.path_params:
            return _to(f"/s/{_quote(request.path_params['space'])}/")
        known = path == "/sign-out" or path.rpartition("/")[2] in {form.path for form in FORMS}
        if known and request.method != "POST":
            text = "This address takes a form from its page, not a look. Nothing was changed."
            return await self._trouble(request, 405, TITLES[400], text, headers={"Allow": "POST"})
        return await self.lost(request)

    async def lost(self, request: Request) -> Response:
        """There is no such page."""
        return await self._trouble(request, 404, TITLES[404], "There is no such page.")

    async def _trouble(
        self, request: Request, status: int, title: str, text: str, *, code: str = "", headers: Headers | None = None
    ) -> Response:
        whose = {"v": None, "token": ""} if status >= 500 else await self._whose(request)
        return self.page("problem.html", status=status, headers=headers, title=title, text=text, code=code, **whose)

    async def _whose(self, request: Request) -> dict[str, Any]:
        """What pages of a session show of it, also where something went wrong; `v` is None without a session."""
        try:
            badge = session_badge(request)
            person, names = await signed_in(_store(request), badge)
        except Refused:
            return {"v": None, "token": ""}
        space = request.path_params.get("space")
        return {"v": {"caller": person, **({"space": space} if space in names else {})}, "token": form_token(badge)}

    def page(self, template: str, *, status: int = 200, headers: Headers | None = None, **context: Any) -> Response:
        """A page, with what keeps it from being framed, kept or made to load anything."""
        text = self.env.get_template(template).render(context)
        return HTMLResponse(text, status, {**HEADERS, **(headers or {})})

    async def problem(self, request: Request, no: Refused) -> Response:
        """A refusal as a page; without a session, how to get one."""
        if no.status == 401:
            response = self.page("help.html", status=401, title="Sign in", text=_own_words(request, no))
            if request.cookies.get(COOKIE) and not request.url.path.startswith("/sign-in/"):
                forget(response, secure=_secure(request))
            return response
        title = TITLES.get(no.status, UNAVAILABLE)
        later = {"Retry-After": str(no.facts["retry_after"])} if "retry_after" in no.facts else {}
        return await self._trouble(request, no.status, title, no.message, code=no.code, headers=later)

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            try:
                return await endpoint(request)
            except Refused as no:
                return await self.problem(request, no)
            except ClientDisconnect:
                raise
            except Exception as fault:  # noqa: BLE001 - whatever it is, a person gets a page without a trace
                record(request, fault)
                text = (
                    "Something went wrong on the server; its log says what. Look whether it was done before you retry."
                )
                return await self._trouble(request, 500, UNAVAILABLE, text, code="internal")

        return guarded


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def _badge(request: Request) -> Badge:
    return session_badge(request, space=request.path_params["space"], source="address")


async def _look(request: Request, badge: Badge) -> Result:
    return await perform(_store(request), badge, ROWS["inbox"], {"trail": request.path_params["trail"]})


def _action(fields: Fields, given: Mapping[str, Any]) -> str:
    """The action of a form as it was sent: the same for a second click, another for another verdict."""
    if not fields.get("action"):
        return ""
    said = json.dumps([fields["action"], given], sort_keys=True)
    return f"form-{hashlib.sha256(said.encode()).hexdigest()}"


def _secure(request: Request) -> bool:
    public: str | None = request.app.state.settings.public_url
    return (public or str(request.url)).startswith("https://")


def _to(path: str) -> Response:
    """See other: the page that shows how things stand now. Always a path of ours."""
    return RedirectResponse(path, 303, HEADERS)


def _quote(text: str) -> str:
    return quote(text, safe="")


def _own_words(request: Request, no: Refused) -> str:
    """What a person without a session is told: of keys they know nothing."""
    if no.code == "unauthenticated" and not request.url.path.startswith("/sign-in/"):
        return "" if request.method in ("GET", "HEAD") else "Your session has ended. Nothing was changed."
    return no.message.partition(" Ask for a new one:")[0]  # how, the page says
