"""The console's pages, in one table; and what all of them do about refusals, faults and addresses with nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from store.domain.errors import Refused

from ..answers import record
from ..auth import COOKIE
from . import fleet, inbox, jobs, keys, log, syncs, telegram, way
from .door import Door, name_of, secure, session_over, whose_session
from .forms import action, read_form
from .frame import NOBODY, Frame, Headers, quoted, to
from .session import check_form, forget
from .visit import Page, Posted, Show, visit

# In the order of the navigation.
PAGES: tuple[Page, ...] = (inbox.PAGE, fleet.PAGE, jobs.PAGE, log.PAGE, syncs.PAGE, keys.PAGE, telegram.PAGE)

EVERY = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
TITLES = {400: "That did not work", 403: "Not for you", 404: "Not found", 409: "It stands otherwise", 413: "Too large"}
UNAVAILABLE = "Not now"
GONE = ("scope_unknown",)  # refusals after which there is no page to show again; what else is gone, its page says

Endpoint = Callable[[Request], Awaitable[Response]]


class Console:
    """The pages of the table and the door, guarded."""

    def __init__(self) -> None:
        self.frame = Frame([*dict.fromkeys(page.tab for page in PAGES)])
        self.door = Door(self.frame)

    def router(self) -> APIRouter:
        """Every path of the console."""
        made = APIRouter(include_in_schema=False)

        def add(path: str, endpoint: Endpoint, methods: list[str]) -> None:
            made.add_api_route(path, self._guarded(endpoint), methods=methods)

        shows = self.door.shows | {
            f"/s/{{space}}/{path}": self._shown(page, show) for page in PAGES for path, show in page.shows.items()
        }
        forms = self.door.forms | {
            f"/s/{{space}}/{posted.form.path}": self._posted(page, posted) for page in PAGES for posted in page.forms
        }
        add("/static/{name}", self.file, ["GET", "HEAD"])
        for path, endpoint in shows.items():
            add(path, endpoint, ["GET", "HEAD"])
        for path, endpoint in forms.items():
            add(path, endpoint, ["POST"])
        # Whatever else is under these: a page that says so, and for a form's own address that it takes no look.
        for path in forms.keys() - shows.keys():
            add(path, self.takes_a_form, EVERY)
        add("/s/{space}", self.space, ["GET", "HEAD"])
        for path in ("/s/{space}", "/s/{rest:path}", "/sign-in/{rest:path}"):
            add(path, self.lost, EVERY)
        return made

    def _shown(self, page: Page, show: Show) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return await show(await visit(request, self.frame, page.tab))

        return endpoint

    def _posted(self, page: Page, posted: Posted) -> Endpoint:
        """Take a form: do it and show how things stand then, or show the page again with what the store says."""

        async def endpoint(request: Request) -> Response:
            here = await visit(request, self.frame, page.tab)
            fields = await read_form(request)
            check_form(request, here.badge, fields.get("token", ""))
            try:
                given = await posted.form.arguments(here, fields)
                named = action(fields, given)
                done = await here.call(posted.form.verb, action_id=named, **given)
            except Refused as no:
                if no.status == 401 or no.code in GONE:
                    raise
                return await posted.again(replace(here, no=no, typed=fields))
            return posted.then(here, done)

        return endpoint

    async def file(self, request: Request) -> Response:
        """A static file."""
        return self.frame.file(request.path_params["name"]) or await self.lost(request)

    async def space(self, request: Request) -> Response:
        """A space's address without its last stroke."""
        return to(f"/s/{quoted(request.path_params['space'])}/")

    async def takes_a_form(self, request: Request) -> Response:
        """An address of a form, asked for in another way."""
        text = "This address takes a form from its page, not a look. Nothing was changed."
        return await self._trouble(request, 405, TITLES[400], text, headers={"Allow": "POST"})

    async def lost(self, request: Request) -> Response:
        """There is no such page."""
        return await self._trouble(request, 404, TITLES[404], "There is no such page.")

    async def _trouble(
        self, request: Request, status: int, title: str, text: str, *, code: str = "", headers: Headers | None = None
    ) -> Response:
        whose = NOBODY if status >= 500 else await whose_session(request)
        return self.frame.page(
            request, "problem.html", status=status, headers=headers, title=title, text=text, code=code, whose=whose
        )

    async def problem(self, request: Request, no: Refused) -> Response:
        """A refusal as a page; without a session, how to get one."""
        if no.status == 401:
            return await self._outside(request, no)
        title = TITLES.get(no.status, UNAVAILABLE)
        later = {"Retry-After": str(no.facts["retry_after"])} if "retry_after" in no.facts else {}
        return await self._trouble(request, no.status, title, no.message, code=no.code, headers=later)

    async def _outside(self, request: Request, no: Refused) -> Response:
        """How to come in, and back to the page that was asked for."""
        signed = request.cookies.get(COOKIE) and not request.url.path.startswith("/sign-in/")
        over = signed and await session_over(request)  # one space's no is not the end of it in others
        page = way.asked(request)
        response = self.frame.page(
            request,
            "help.html",
            status=401,
            title="Sign in",
            text=_own_words(request, no),
            name=await name_of(request) or "NAME",
            stands=signed and not over,
            wanted=bool(page),
        )
        if over:
            forget(response, secure=secure(request))
        if page:
            way.keep(response, page, secure=secure(request))
        return response

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


def _own_words(request: Request, no: Refused) -> str:
    """What a person without a session is told: of keys they know nothing."""
    if no.code == "unauthenticated" and not request.url.path.startswith("/sign-in/"):
        return "" if request.method in ("GET", "HEAD") else "Your session has ended. Nothing was changed."
    return no.message.partition(" Ask for a new one:")[0]  # how, the page says
