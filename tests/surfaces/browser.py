"""A browser without JavaScript: it follows links, keeps cookies, and sends the forms that it was shown."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

import httpx

from api.auth import COOKIE

FORM = "application/x-www-form-urlencoded"
# What browsers send with a form of a page that gives no referrer.
OWN_FORM = {"Origin": "null", "Sec-Fetch-Site": "same-origin", "Content-Type": FORM}
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    """An element of a page: its attributes, and what it holds in order."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list["Element | str"] = field(default_factory=list)

    def all(self, tag: str = "", **attributes: str) -> Iterator["Element"]:
        """Every element within with this tag and these attributes; `cls` is one of its classes."""
        wanted = attributes.pop("cls", "")
        for child in self.inside:
            if isinstance(child, str):
                continue
            fits = tag in ("", child.tag) and (not wanted or wanted in child.attributes.get("class", "").split())
            if fits and all(child.attributes.get(name) == value for name, value in attributes.items()):
                yield child
            yield from child.all(tag, cls=wanted, **attributes)

    def one(self, tag: str = "", **attributes: str) -> "Element":
        """The only such element."""
        found = list(self.all(tag, **attributes))
        assert len(found) == 1, (tag, attributes, len(found))
        return found[0]

    @property
    def text(self) -> str:
        """Its text, blanks as in the source."""
        return "".join(child if isinstance(child, str) else child.text for child in self.inside)

    @property
    def words(self) -> str:
        """Its text as one reads it: runs of blanks are one."""
        return " ".join(self.text.split())


class _Reader(HTMLParser):
    """Makes the tree, and is as strict as our own pages allow: what is opened is closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("document")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs})
        assert len(made.attributes) == len(attrs), f"an attribute of {tag} is given twice"
        self.open[-1].inside.append(made)
        if tag not in EMPTY:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes {self.open[-1].tag}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


@dataclass
class Page:
    """A page as it came."""

    response: httpx.Response
    root: Element

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def words(self) -> str:
        return self.root.one("body").words

    @property
    def forms(self) -> list[Element]:
        """The forms of the one thing that it shows, then all others, without the one that closes a window."""
        own = [form for one in self.root.all("article") for form in one.all("form")]
        return own + [f for f in self.root.all("form", method="post") if f not in own]

    def form(self, end: str) -> Element:
        """The first form that is sent to an address with this end."""
        return next(f for f in self.forms if f.attributes["action"].endswith(end))

    @property
    def actions(self) -> list[str]:
        """The last words of the addresses that the forms of the one thing are sent to."""
        own = [form for one in self.root.all("article") for form in one.all("form")]
        return [f.attributes["action"].rpartition("/")[2] for f in own]


def fields(form: Element, button: str = "", **typed: str) -> dict[str, str]:
    """What a browser sends of a form: what was filled in, and the button with this value."""
    sent = {e.attributes["name"]: e.attributes["value"] for e in form.all("input", type="hidden")}
    for area in form.all("textarea"):
        sent[area.attributes["name"]] = area.text.removeprefix("\n")
    buttons = [b.attributes for b in form.all("button") if b.attributes.get("value", "") == button]
    assert buttons, (button, "is not on the form")
    if button:
        sent[buttons[0]["name"]] = button
    known = {e.attributes.get("name") for kind in ("input", "textarea") for e in form.all(kind)}
    assert set(typed) <= known, "typed into what is not there"
    return {name: value.replace("\n", "\r\n") for name, value in {**sent, **typed}.items()}


@dataclass
class Browser:
    """One person's browser; `token` is the session that it has."""

    http: httpx.AsyncClient
    space: str
    token: str = ""

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"{COOKIE}={self.token}"} if self.token else {}

    async def open(self, path: str, **headers: str) -> Page:
        """A page, without following where it leads."""
        return page(await self.http.get(path, headers={**self.cookie, **headers}))

    async def ask(self, trail: str) -> Page:
        """The page of an ask."""
        return await self.open(f"/s/{self.space}/ask/{trail}")

    async def inbox(self) -> Page:
        return await self.open(f"/s/{self.space}/")

    async def send(self, form: Element, button: str = "", /, **typed: str) -> Page:
        """Fill a form in and send it."""
        return await self.post(form.attributes["action"], fields(form, button, **typed))

    async def post(self, path: str, sent: dict[str, str], headers: dict[str, str] | None = None) -> Page:
        """Send fields as a form of our own pages would; `headers` stand in for its own."""
        said = {**self.cookie, **(OWN_FORM if headers is None else headers)}
        return page(await self.http.post(path, content=urlencode(sent), headers=said))


def page(response: httpx.Response) -> Page:
    """The page in a response; one that leads elsewhere has none."""
    reader = _Reader()
    if response.headers.get("content-type", "").startswith("text/html"):
        reader.feed(response.text)
        reader.close()
        assert [e.tag for e in reader.open] == ["document"], reader.open[-1].tag
    return Page(response, reader.open[0])
