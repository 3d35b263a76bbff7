"""The door: where one comes in by a link, chooses a space, says how pages should look, and goes out."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from store.domain.errors import Refused
from store.engine.store import Store
from store.verbs.faults import told_plainly
from store.verbs.identity import recognise
from store.verbs.sessions import link_for, no_link, sign_in, sign_out, signed_in, simulated

from ..auth import COOKIE, session_badge
from . import looks, way
from .forms import read_form
from .frame import Frame, Whose, quoted, to
from .session import check_form, check_signing_in, forget, form_token, keep

Endpoint = Callable[[Request], Awaitable[Response]]


class Door:
    """What needs no space."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.shows: dict[str, Endpoint] = {
            "/": self.home,
            "/sign-in/{link}": self.link,
            "/keyboard": self.keyboard,
        }
        self.forms: dict[str, Endpoint] = {
            "/sign-in/{link}": self.sign_in,
            "/sign-out": self.sign_out,
            "/looks": self.looks,
        }

    async def home(self, request: Request) -> Response:
        """The inbox of the only space, or the spaces to choose from."""
        badge = session_badge(request)
        person, names = await signed_in(store_of(request), badge)
        if len(names) == 1:
            return to(f"/s/{quoted(names[0])}/")
        moved = await simulated(store_of(request), names)
        real = [name for name in names if name not in moved]
        if len(real) == 1 and "all" not in request.query_params:
            return to(f"/s/{quoted(real[0])}/")
        return self.frame.page(
            request,
            "spaces.html",
            title="Spaces",
            names=real + moved,
            simulated=moved,
            whose=Whose(person, form_token(badge)),
        )

    async def link(self, request: Request) -> Response:
        """A button that signs in. Nothing is used up by looking: chat apps fetch the links that they show."""
        link = request.path_params["link"]
        person = await link_for(store_of(request), link)
        if person is None:
            if (await whose_session(request)).caller:
                return to("/")  # whoever used it is in
            raise no_link(link)
        action = f"/sign-in/{quoted(link)}"
        # So that its form says where it came from, but no address that holds the link.
        own = {"Referrer-Policy": "strict-origin"}
        return self.frame.page(request, "link.html", headers=own, title="Sign in", person=person, action=action)

    async def sign_in(self, request: Request) -> Response:
        """Use the link up and open a session; one that this browser had before ends."""
        check_signing_in(request)
        try:
            session = await sign_in(store_of(request), request.path_params["link"], client="console")
        except Refused:
            if (await whose_session(request)).caller:
                return to("/")
            raise
        if request.cookies.get(COOKIE):
            await self._end(request)
        response = to(way.wanted(request))
        keep(response, session, secure=secure(request))
        if way.COOKIE in request.cookies:
            way.forget(response, secure=secure(request))
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session in every space and every process."""
        badge = session_badge(request)
        check_form(request, badge, (await read_form(request)).get("token", ""))
        await sign_out(store_of(request), badge)
        response = to("/")
        forget(response, secure=secure(request))
        return response

    async def _end(self, request: Request) -> None:
        try:
            await sign_out(store_of(request), session_badge(request))
        except Refused:
            return  # no session of ours

    async def keyboard(self, request: Request) -> Response:
        """What single keys do, and turning them off."""
        return self.frame.page(request, "keyboard.html", title="Keyboard", whose=await whose_session(request))

    async def looks(self, request: Request) -> Response:
        """Remember how this browser should show the console."""
        fields = await read_form(request)
        check_form(request, session_badge(request), fields.get("token", ""))
        response = to(looks.own(fields.get("back", "")))
        for name in looks.COOKIES:
            if name in fields:
                looks.keep(response, name, fields[name], secure=secure(request))
        return response


def store_of(request: Request) -> Store:
    """The store of this process."""
    store: Store = request.app.state.store
    return store


def secure(request: Request) -> bool:
    """Whether people come by https, so that cookies go no other way."""
    public: str | None = request.app.state.settings.public_url
    return (public or str(request.url)).startswith("https://")


async def whose_session(request: Request) -> Whose:
    """What pages of a session show of it, also where something went wrong; nobody's without a session."""
    try:
        badge = session_badge(request)
        person, names = await signed_in(store_of(request), badge)
    except Refused:
        return Whose()
    space = request.path_params.get("space", "")
    return Whose(person, form_token(badge), space if space in names else "")


async def name_of(request: Request) -> str:
    """Whose session came along, also one that was ended, as commands take their name; '' where that is not known."""
    try:
        with told_plainly():
            who = await recognise(store_of(request), session_badge(request))
    except Refused:
        return ""
    return who.principal.partition(":")[2]


async def session_over(request: Request) -> bool:
    """Whether the session that came along opens nothing any more, in no space. False where the store does not say."""
    try:
        await signed_in(store_of(request), session_badge(request))
    except Refused as no:
        return no.status == 401
    return False
