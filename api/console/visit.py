"""A visit: one request of a person to one space, and what a page does with it."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from store.domain.errors import Refused
from store.engine.store import Store
from store.verbs.call import Result
from store.verbs.catalog import ROWS
from store.verbs.day_presses import CHECK_IN
from store.verbs.events import latest
from store.verbs.faults import told_plainly
from store.verbs.identity import Badge, Caller, enter
from store.verbs.perform import perform

from ..auth import session_badge
from .forms import Fields, Form
from .frame import Frame, Tab, Whose, quoted, to
from .session import form_token

# No page is cut to what a model's context has room for. Who checks in by a form means the window that it was shown for.
IN_FULL = {row.verb: row.in_full for row in (*ROWS.values(), CHECK_IN)}
SAME = ("after",)  # what an address keeps from page to page of one list


@dataclass(frozen=True, kw_only=True)
class Visit:
    """`after` is where the feed ended before anything was read: from there the page follows it.

    Where a form was refused its page is shown again, with `no`, and `typed` as it was filled in.
    """

    request: Request
    frame: Frame
    tab: Tab
    badge: Badge
    caller: Caller
    after: str
    no: Refused | None = None
    typed: Fields = field(default_factory=dict)

    @property
    def space(self) -> str:
        return self.caller.space

    @property
    def store(self) -> Store:
        store: Store = self.request.app.state.store
        return store

    def part(self, name: str) -> str:
        """A part of the address, by its name in the path of the page."""
        return str(self.request.path_params[name])

    def asked(self, name: str) -> str:
        """A parameter of the address, '' where there is none."""
        return self.request.query_params.get(name, "")

    async def call(self, verb: str, *, action_id: str = "", **args: Any) -> Result:
        """Do what a row of the catalogue does; arguments that are '' are left out. Refuses what it refuses."""
        given = {name: value for name, value in args.items() if value != ""}
        return await perform(self.store, self.badge, IN_FULL[verb], given, action_id=action_id, caller=self.caller)

    def address(self, *parts: str) -> str:
        """An address in this space; what the list of this page goes on from stays in it."""
        before, after = self._around
        return f"{before}{'/'.join(map(quoted, parts))}{after}"

    @cached_property
    def _around(self) -> tuple[str, str]:
        kept = "&".join(f"{name}={quoted(self.asked(name))}" for name in SAME if self.asked(name))
        return f"/s/{quoted(self.space)}/", f"?{kept}" if kept else ""

    def to(self, *parts: str) -> Response:
        """Go to another page of this space."""
        return to(self.address(*parts))

    def page(self, template: str, *, title: str, v: Mapping[str, Any], **context: Any) -> Response:
        """A page with the result `v` of a verb; with the refusal of a form's verb where there is one."""
        whose = Whose(
            v["caller"], form_token(self.badge), v["space"], v.get("simulated", False), v.get("now", ""), self.after
        )
        return self.frame.page(
            self.request,
            template,
            status=self.no.status if self.no else 200,
            whose=whose,
            tab=self.tab.name,
            title=title,
            v=v,
            no=self.no,
            typed=self.typed,
            address=self.address,
            action=secrets.token_urlsafe(12),
            **context,
        )


Show = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a space: its place in the navigation, what it shows by address below the space, and its forms.

    An address may have named parts (`ask/{trail}`), which `Visit.part` gives.
    """

    tab: Tab
    shows: Mapping[str, Show]
    forms: tuple["Posted", ...] = ()


@dataclass(frozen=True, slots=True)
class Posted:
    """A form, and where it leads: `then` once it is done; `again` shows its page anew where it was refused."""

    form: Form
    then: Callable[[Visit, Result], Response]
    again: Show


async def visit(request: Request, frame: Frame, tab: Tab) -> Visit:
    """Begin a visit. Refuses what `enter` does: unauthenticated, key_revoked, scope_unknown."""
    badge = session_badge(request, space=request.path_params["space"], source="address")
    store: Store = request.app.state.store
    with told_plainly():
        caller = await enter(store, badge)
        after = await latest(store, caller.space)
    return Visit(request=request, frame=frame, tab=tab, badge=badge, caller=caller, after=after)
