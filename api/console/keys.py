"""Keys & people: what agents prove themselves with, who decides here, and their sessions. Owners change them.

What is shown once (a key, a sign-in link) stands in the answer to its form alone: that page is not kept, has no address
that would show it again, and a second sending of its form says that it was shown.
"""

from typing import Any

from starlette.responses import Response

from store.domain.grant import LEASE_DAYS
from store.domain.moments import iso
from store.domain.person import ROLES
from store.domain.space import FOUR_EYES
from store.verbs.call import Result
from store.verbs.catalog import tools
from store.verbs.credentials import PROFILES
from store.verbs.people import LINK_LIFE

from . import inert
from .forms import Fields, Form
from .frame import Tab
from .visit import Page, Posted, Visit

CALLS = 3  # of a list for one page, each of which is as long as an agent's answer may be
RIGHTS = {  # of a key, and what each lets its agent do
    "read": "look at everything in the space",
    "write": "write notes, take jobs, hand work over",
    "gate": "ask people, and use once what they approve",
}
PROFILE_WORDS = {
    profile: f"{len(rows)} tools" if profile == PROFILES[0] else f"{len(rows)}: {', '.join(row.verb for row in rows)}"
    for profile in PROFILES
    for rows in [tools(profile)]
}
ROLE_WORDS = {
    "owner": "decides, and manages keys and people",
    "approver": "decides on what agents ask",
    "member": "reads and writes, decides nothing",
}
FOUR_EYES_WORDS = {
    "auto": "Where several people approve, high risk takes somebody else than who answers for the agent.",
    "on": "High risk always takes somebody else than who answers for the agent, even if there is nobody.",
    "off": "Whoever answers for an agent may also approve its high risk.",
}
STATES = {"live": ("Live", "yes"), "expired": ("Expired", "past"), "revoked": ("Revoked", "no")}
CLIENTS = ("claude-code", "codex", "cursor", "vscode")  # that `logmem connect` writes a configuration for


async def _shown(visit: Visit, template: str, found: Result, /, *, title: str, **more: Any) -> Response:
    """A page with the result of a verb, the time, and whether the person may change what it shows."""
    me = await visit.call("connection")
    words = {"rights": RIGHTS, "roles": ROLE_WORDS, "profiles": PROFILE_WORDS, "eyes": FOUR_EYES_WORDS}
    return visit.page(
        template,
        title=title,
        v={**found, "now": me["clock"]},
        manages="manage" in me["may"],
        session=me.get("key", ""),
        states=STATES,
        words=words,
        days=LEASE_DAYS,
        **more,
    )


async def _listed(visit: Visit, verb: str, **args: Any) -> Result:
    """What a verb lists under its own name, as many of its pages as make one of ours."""
    found: Result = {}
    rows: list[Result] = []
    cursor = visit.asked("cursor")
    for _ in range(CALLS):
        found = await visit.call(verb, cursor=cursor, **args)
        rows += found[verb]
        cursor = found.get("cursor", "")
        if not cursor:
            break
    return {**found, "rows": rows, "cursor": cursor, "first": not visit.asked("cursor")}


def _base(visit: Visit) -> str:
    """`http(s)://host` by which people and agents reach this server."""
    public: str | None = visit.request.app.state.settings.public_url
    return public or str(visit.request.base_url).rstrip("/")


# ---- Keys


async def everything(visit: Visit) -> Response:
    """The keys of the space: those that end first come first."""
    return await _shown(visit, "keys.html", await _listed(visit, "keys"), title="Keys")


async def one(visit: Visit) -> Response:
    """One key, and what its owner can do about it."""
    return await _key(visit, "key.html", "Key of {}")


async def revoking(visit: Visit) -> Response:
    """What revoking a key would mean, and the button that does it."""
    return await _key(visit, "revoke.html", "Revoke the key of {}?")


async def _key(visit: Visit, template: str, title: str) -> Response:
    found = await visit.call("keys", key=visit.part("key"))
    return await _shown(visit, template, found, title=title.format(found["principal"]))


async def minting(visit: Visit) -> Response:
    """The form for a new key."""
    found = await visit.call("people")
    return await _shown(visit, "mint.html", found, title="Mint a key")


async def _minted(visit: Visit, fields: Fields) -> dict[str, Any]:
    rights = ["read", *(right for right in ("write", "gate") if right in fields)]
    said = {name: fields.get(name, "").strip() for name in ("name", "days", "profile", "responsible")}
    return {"may": rights, **said}


def _key_shown_once(visit: Visit, done: Result) -> Response:
    client = done["name"] if done["name"] in CLIENTS else CLIENTS[0]
    where = {"base": _base(visit), "client": client}
    return visit.page("minted.html", title=f"Key of {done['principal']}", v=done, words={"rights": RIGHTS}, **where)


async def _renewed(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"name": visit.part("key"), "days": fields.get("days", "").strip()}


async def _revoked(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"name": visit.part("key")}


def _to_key(visit: Visit, done: Result) -> Response:
    return visit.to("keys", visit.part("key"))


# ---- People


async def everybody(visit: Visit) -> Response:
    """The people of the space, their roles, and the rule of four eyes."""
    return await _shown(visit, "people.html", await _listed(visit, "people"), title="People", rules=FOUR_EYES)


async def somebody(visit: Visit) -> Response:
    """One person: role, sign-in link and sessions."""
    found = await _person(visit)
    me = visit.caller.principal
    if found["person"] == me or "manage" in (await visit.call("connection"))["may"]:
        found |= {"open": await _listed(visit, "sessions", person=found["person"])}
    return await _shown(visit, "person.html", found, title=inert.bare(found["person"]), all_roles=ROLES)


async def _person(visit: Visit) -> Result:
    return await visit.call("people", person=visit.part("person"))


async def adding(visit: Visit) -> Response:
    """The form for a person who is new here."""
    return await _shown(visit, "add.html", await visit.call("people"), title="Add a person", all_roles=ROLES)


async def removing(visit: Visit) -> Response:
    """What taking a role away would mean, and the button that does it."""
    found = await _person(visit)
    return await _shown(visit, "remove.html", found, title=f"Take the role of {found['person']} away?")


async def linking(visit: Visit) -> Response:
    """What a sign-in link does, and the button that makes one."""
    found = await _person(visit)
    return await _shown(visit, "linking.html", found, title=f"Sign-in link for {found['person']}")


async def _added(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"name": fields.get("name", "").strip(), "role": fields.get("role", "")}


async def _role(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"name": visit.part("person"), "role": fields.get("role", ""), "excluded": "excluded" in fields}


async def _removed(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"name": visit.part("person"), "role": "none"}


async def _linked(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"name": visit.part("person")}


def _link_shown_once(visit: Visit, done: Result) -> Response:
    # Its life is counted by the store's own time, which a simulated space's clock may be far from.
    now = iso(inert.ms(done["expires_at"]) - LINK_LIFE)
    return visit.page(
        "linked.html", title=f"Sign-in link for {done['person']}", v={**done, "now": now}, base=_base(visit)
    )


async def _ended(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"session": fields.get("session", "")}


async def _four_eyes(visit: Visit, fields: Fields) -> dict[str, Any]:
    return {"rule": fields.get("rule", "")}


def _to_person(visit: Visit, done: Result) -> Response:
    return visit.to("people", done["person"])


def _to_people(visit: Visit, done: Result) -> Response:
    return visit.to("people")


PAGE = Page(
    Tab("keys", "Keys & people", "keys"),
    {
        "keys": everything,
        "keys/mint": minting,
        "keys/{key}": one,
        "keys/{key}/revoke": revoking,
        "people": everybody,
        "people/add": adding,
        "people/{person}": somebody,
        "people/{person}/remove": removing,
        "people/{person}/link": linking,
    },
    (
        Posted(Form("keys/mint", "mint", _minted), _key_shown_once, minting),
        Posted(Form("keys/{key}/renew", "renew", _renewed), _to_key, one),
        Posted(Form("keys/{key}/revoke", "revoke", _revoked), _to_key, revoking),
        Posted(Form("people/add", "human", _added), _to_person, adding),
        Posted(Form("people/{person}/role", "human", _role), _to_person, somebody),
        Posted(Form("people/{person}/remove", "human", _removed), _to_people, removing),
        Posted(Form("people/{person}/link", "link", _linked), _link_shown_once, linking),
        Posted(Form("people/{person}/end", "end_session", _ended), _to_person, somebody),
        Posted(Form("rules/four-eyes", "four_eyes", _four_eyes), _to_people, everybody),
    ),
)
