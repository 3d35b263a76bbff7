"""The console as a person without JavaScript uses it: signing in, looking, deciding."""

import asyncio
from typing import Any

import httpx
import pytest

from api.auth import COOKIE
from store.domain.errors import Refused
from store.engine.client import Target, open_client
from store.engine.keys import shared
from tests.surfaces.browser import Browser, Page
from tests.surfaces.process import serving
from tests.world import Result, World

HOUR = 3_600_000
PAYLOAD = {"version": "1.4.0", "files": ["a", "b"], "dry": False}


def browser(http: httpx.AsyncClient, world: World, name: str = "ana") -> Browser:
    """The browser of a person who is signed in."""
    return Browser(http, world.space, world.tokens[f"human:{name}"])


async def asked(world: World, who: str = "agent:grok", **more: Any) -> Result:
    """A pending ask of an agent."""
    args: dict[str, Any] = {"where": "job:release", "summary": "Publish v1.4.0?", "payload": PAYLOAD} | more
    return await world.do(who, "ask", **args)


async def stands(world: World, trail: str) -> Result:
    """How an ask stands, as its requester sees it."""
    return await world.do("agent:grok", "view", what=trail)


async def link(world: World, name: str = "ana") -> str:
    """The path of a new sign-in link."""
    path: str = (await world.operate("link", name=name))["link_path"]
    return path


async def test_looking_at_a_sign_in_link_uses_nothing_up(http: httpx.AsyncClient, world: World) -> None:
    """A link may be fetched any number of times, by GET or HEAD; only its button signs in, once.

    Whoever is in already and uses it again is led to their inbox; a link that never was one is not called used.
    """
    path, new = await link(world), Browser(http, world.space)
    before = await world.dump()
    for _ in range(3):
        assert (await new.open(path)).status == 200
        assert (await http.head(path)).status_code == 200
    shown = await new.open(path)
    assert "set-cookie" not in shown.response.headers
    assert await world.dump() == before
    button = shown.root.one("form", action=path)
    assert "human:ana" in button.words
    done = await new.send(button)
    assert (done.status, done.response.headers["location"]) == (303, "/")
    kept = done.response.headers["set-cookie"].split("; ")
    assert kept[0].startswith(f"{COOKIE}=lms_")
    assert {"HttpOnly", "Max-Age=43200", "Path=/", "SameSite=lax"} <= set(kept)
    assert not any(part.startswith(("Domain", "Secure")) for part in kept)
    new.token = kept[0].partition("=")[2]
    assert (await new.inbox()).status == 200
    assert (await new.open(path)).response.headers["location"] == "/"
    assert (await new.send(button)).response.headers["location"] == "/"
    http.cookies.clear()
    again = await Browser(http, world.space).send(button)
    assert again.status == 401
    assert "was used" in again.words
    assert "set-cookie" not in again.response.headers
    nonsense = await Browser(http, world.space).open(f"{path[:-1]}")
    assert nonsense.status == 401
    assert "is not whole" in nonsense.words
    assert "was used" not in nonsense.words


async def test_an_expired_link_signs_nobody_in(http: httpx.AsyncClient, world: World) -> None:
    """A link lasts for 10 minutes at most; after that its page and its button say how to get a new one."""
    path, new = await link(world), Browser(http, world.space)
    button = (await new.open(path)).root.one("form", action=path)
    async with open_client(Target.embedded(world.engine), user="lm-admin") as admin:
        (key,) = await admin.keys(shared("link", "*"))
        assert 0 < await admin.pttl(key) <= 600_000
        await admin.pexpire(key, 0)
    for page in (await new.open(path), await new.send(button)):
        assert page.status == 401
        assert "logmem human link" in page.words
        assert "set-cookie" not in page.response.headers


async def test_the_cookie_is_for_https_where_people_come_by_https(world: World) -> None:
    """Where the public address is https, the session's cookie is never sent without it."""
    with serving(world.engine, PUBLIC_URL="https://logmem.example") as server:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
            done = await Browser(http, world.space).post(await link(world), {})
            assert "Secure" in done.response.headers["set-cookie"].split("; ")
            own = {"Origin": "https://logmem.example", "Content-Type": "application/x-www-form-urlencoded"}
            assert (await Browser(http, world.space).post(await link(world), {}, own)).status == 303


async def test_the_first_page_leads_to_the_only_space(http: httpx.AsyncClient, world: World) -> None:
    """With one space the first page is its inbox; with several one chooses; with none it says so."""
    ana = browser(http, world)
    first = await ana.open("/")
    assert (first.status, first.response.headers["location"]) == (303, f"/s/{world.space}/")
    other = World(world.engine, world.store, f"{world.space}-b")
    await other.operate("space", simulated=True)
    await other.human("ana", "member", signed_in=False)
    both = await ana.open("/")
    assert [a.attributes["href"] for a in both.root.all("a", cls="card")] == [f"/s/{s.space}/" for s in (world, other)]
    real = World(world.engine, world.store, f"{world.space}-c")
    await real.operate("space")
    await real.human("ana", "member", signed_in=False)
    assert (await ana.open("/")).response.headers["location"] == f"/s/{real.space}/"
    every = await ana.open("/?all")
    assert next(every.root.all("a", cls="card")).attributes["href"] == f"/s/{real.space}/"
    assert every.words.count("simulated") == 2
    await real.operate("human", name="cy", role="owner")
    await real.operate("human", name="ana", role="none")
    await world.operate("human", name="cy", role="owner")
    await world.operate("human", name="ana", role="none")
    await other.operate("human", name="ana", role="none")
    none = await ana.open("/")
    assert none.status == 200
    assert "in no space" in none.words


async def test_the_inbox_shows_what_waits_by_deadline(http: httpx.AsyncClient, world: World) -> None:
    """What waits for me comes first, nearest deadline first; then what I decided, what waits for others, the rest."""
    late = await asked(world, summary="late", expires_in="20h")
    soon = await asked(world, summary="soon", expires_in="2h")
    bos = await asked(world, summary="for bo", approvers=["human:bo"])
    gone = await asked(world, summary="gone", expires_in="10m")
    done, own = await asked(world, summary="done"), await asked(world, summary="own")
    for who, ask in (("bo", done), ("ana", own)):
        await world.do(f"human:{who}", "decide", trail=ask["trail"], verdict="reject", digest=ask["digest"])
    await world.pass_time(HOUR)
    page = await browser(http, world).inbox()
    lists = [[a.attributes["href"].rpartition("/")[2] for a in s.all("a", cls="card")] for s in page.root.all("ol")]
    assert lists == [
        [soon["trail"], late["trail"]],
        [own["trail"]],
        [bos["trail"]],
        [gone["trail"], done["trail"]],
    ]
    words = [section.words for section in page.root.all("ol")]
    assert words[0].startswith('"soon"')
    assert "2 wait for you" in page.words
    assert "1 h left" in words[0] or "59 min left" in words[0]
    assert "Rejected" in words[1]
    assert "nobody decided" in words[3]
    assert "Rejected" in words[3]


async def test_a_full_inbox_says_how_much_it_holds(http: httpx.AsyncClient, world: World) -> None:
    """Of more asks than a page shows, those with the nearest deadlines are there, and all are counted."""
    await world.agent("third")
    for who in ("agent:grok", "agent:codex", "agent:third"):
        for n in range(20):
            await asked(world, who, summary=f"{who} {n}", expires_in=f"{20 - n}h")
    found = await world.do("human:ana", "inbox")
    assert (found["count"], len(found["asks"]), found["more"]) == (60, 50, False)
    deadlines = [a["deadline"] for a in found["asks"]]
    assert deadlines == sorted(deadlines)
    page = await browser(http, world).inbox()
    assert "60 wait for you" in page.words
    assert "The 50 with the nearest deadlines are shown." in page.root.one("section", **MINE).words
    onwards = page.root.one("div", id="onwards").one("a").attributes["href"]
    rest = await browser(http, world).open(onwards)
    assert [len(list(p.root.one("ol", id="waiting").all("li"))) for p in (page, rest)] == [50, 10]
    trails = [
        a.attributes["href"].partition("?")[0] for p in (page, rest) for a in p.root.one("ol", id="waiting").all("a")
    ]
    assert len(set(trails)) == 60


async def test_one_ask_is_shown_with_all_that_it_would_do(http: httpx.AsyncClient, world: World) -> None:
    """The page says who asks, for whom, where, at what risk, until when, with what payload, and under which digest."""
    await world.agent("cursor", responsible="ana")
    ask = await asked(world, "agent:cursor", risk="low", approvers=["human:bo", "role:owner"])
    page = await browser(http, world).ask(ask["trail"])
    assert page.status == 200
    facts = dict(
        zip((e.words for e in page.root.all("dt")), (e.words for e in page.root.all("dd")), strict=True)
    )  # fmt: skip
    assert facts["Asked by"] == "agent:cursor"
    assert facts["Byline"].startswith("cursor (via test)")
    assert facts["Person responsible"] == "human:ana"
    assert facts["Meant for"] == "human:bo, role:owner"
    assert facts["Who can decide"] == "human:ana (console), human:bo (console)"
    assert facts["Digest"] == ask["digest"]
    assert "UTC" in facts["Asked"]
    assert "left" in facts["Decide until"]
    assert page.root.one("h1").words == '"Publish v1.4.0?"'
    assert "low risk – the agent's word" in page.words
    tree = [li.words for li in page.root.one("div", cls="payload").all("li")]
    assert tree == ["dry: false", 'files: 1. "a"2. "b"', '1. "a"', '2. "b"', 'version: "1.4.0"']
    decide = page.root.one("section", cls="decide").words
    assert decide.index("Approving lets agent:cursor use this once") < decide.index("Approve, once")
    assert ask["digest"][:8] in decide


async def test_an_ask_is_approved_by_its_form(http: httpx.AsyncClient, world: World) -> None:
    """After the button the page shows what the store says, and the agent can use the approval."""
    ask = await asked(world)
    ana = browser(http, world)
    page = await ana.ask(ask["trail"])
    done = await ana.send(page.form("/decide"), "approve", reason="Tests are green.\nGo")
    assert (done.status, done.response.headers["location"]) == (303, f"/s/{world.space}/ask/{ask['trail']}")
    after = await ana.open(done.response.headers["location"])
    said = after.root.one("section", cls="decide").words
    assert "human:ana approved this" in said
    assert r'Reason: "Tests are green.\nGo"' in said.replace("\\n Go", "\\nGo")
    assert after.actions == ["take-back"]
    redeemed = await world.do("agent:grok", "redeem", trail=ask["trail"])
    assert redeemed["payload"] == PAYLOAD
    assert redeemed["decision"]["via"] == "console"
    assert redeemed["decision"]["reason"] == "Tests are green.\nGo"


async def test_an_ask_is_rejected_with_a_reason(http: httpx.AsyncClient, world: World) -> None:
    """The agent gets the reason that was typed."""
    ask = await asked(world)
    ana = browser(http, world)
    await ana.send((await ana.ask(ask["trail"])).form("/decide"), "reject", reason="Not on a Friday")
    seen = await stands(world, ask["trail"])
    assert seen["status"] == "rejected"
    assert seen["history"][-1]["payload"]["reason"] == "Not on a Friday"
    assert 'Reason: "Not on a Friday"' in (await ana.ask(ask["trail"])).root.one("div", cls="verdict").words
    with pytest.raises(Refused) as no:
        await world.do("agent:grok", "redeem", trail=ask["trail"])
    assert no.value.facts["reason"] == "Not on a Friday"
    assert 'in the console: "Not on a Friday". Nothing ran.' in no.value.message


async def test_an_answer_is_chosen_among_options(http: httpx.AsyncClient, world: World) -> None:
    """An option reaches the agent whole, whatever characters it has."""
    options = ["Yes", 'No, "wait"\nuntil\u202e Monday']
    ask = await asked(world, options=options)
    ana = browser(http, world)
    form = (await ana.ask(ask["trail"])).form("/decide")
    assert (await ana.send(form, "answer", option="7")).status == 400
    assert (await ana.send(form, "answer", option="1")).status == 303
    assert (await stands(world, ask["trail"]))["history"][-1]["payload"]["answer"] == options[1]


async def test_an_answer_is_typed(http: httpx.AsyncClient, world: World) -> None:
    """Without options the answer is free text; an empty one is refused on the page, with what to do."""
    ask = await asked(world, allow=["answer"])
    ana = browser(http, world)
    form = (await ana.ask(ask["trail"])).form("/decide")
    empty = await ana.send(form, "answer", answer="  ")
    assert empty.status == 400
    assert "An answer needs its text" in empty.root.one("div", cls="alert").words
    assert (await ana.send(empty.form("/decide"), "answer", answer="Blue")).status == 303
    assert (await stands(world, ask["trail"]))["history"][-1]["payload"]["answer"] == "Blue"


async def test_c56_a_question_is_asked_back_and_answered(http: httpx.AsyncClient, world: World) -> None:
    """Asking back leaves the ask open; the question and the agent's answer stand on its page."""
    ask = await asked(world)
    ana = browser(http, world)
    await ana.send((await ana.ask(ask["trail"])).form("/ask-back"), text="Which registry?")
    assert "question asked back" in (await ana.inbox()).words
    await world.do("agent:grok", "note", where="job:release", kind="answer", answers=ask["trail"], summary="The mirror")
    page = await ana.ask(ask["trail"])
    said = [item.words for item in page.root.one("ol", cls="history").all("li")]
    assert [words.rpartition('"')[0].partition('"')[2] for words in said] == ["Which registry?", "The mirror"]
    assert page.actions == ["decide", "ask-back"]


async def test_c55_an_approval_is_taken_back_until_it_is_used(http: httpx.AsyncClient, world: World) -> None:
    """Any approver takes an approval back by the form; once it was used the page says so instead."""
    one, two = await asked(world), await asked(world, summary="Another")
    for ask in (one, two):
        await world.do("human:ana", "decide", trail=ask["trail"], verdict="approve", digest=ask["digest"])
    bo = browser(http, world, "bo")
    forms = [(await bo.ask(ask["trail"])).form("/take-back") for ask in (one, two)]
    assert (await bo.send(forms[0], reason="Wrong one")).status == 303
    assert (await stands(world, one["trail"]))["status"] == "taken_back"
    await world.do("agent:grok", "redeem", trail=two["trail"])
    late = await bo.send(forms[1])
    assert late.status == 409
    assert "agent:grok used this approval" in late.root.one("div", cls="alert").words
    assert late.actions == []


async def test_c21_of_two_deciders_one_wins_and_the_other_is_told(http: httpx.AsyncClient, world: World) -> None:
    """Of two people who press at once one decides; the other's page says who did, what, when and where."""
    people = [browser(http, world, name) for name in ("ana", "bo")]
    for _ in range(5):
        ask = await asked(world)
        forms = [(await p.ask(ask["trail"])).form("/decide") for p in people]
        pages = await asyncio.gather(
            people[0].send(forms[0], "approve"), people[1].send(forms[1], "reject", reason="No, not this")
        )
        assert sorted(p.status for p in pages) == [303, 409]
        seen = await stands(world, ask["trail"])
        assert [e["kind"] for e in seen["history"]] == ["decided"]
        _check_told(next(p for p in pages if p.status == 409), winner=seen["history"][0]["by"])


def _check_told(page: Page, *, winner: str) -> None:
    verdict = {"human:ana": "approved", "human:bo": "rejected"}[winner]
    assert f"{winner} {verdict} this just now in the console" in page.root.one("div", cls="alert").words
    assert "decide" not in page.actions


async def test_a_form_sent_twice_decides_once(http: httpx.AsyncClient, world: World) -> None:
    """The second click of a double click leads to the same page as the first."""
    ask = await asked(world)
    ana = browser(http, world)
    form = (await ana.ask(ask["trail"])).form("/decide")
    pages = await asyncio.gather(*(ana.send(form, "approve") for _ in range(4)))
    assert [p.status for p in pages] == [303] * 4
    assert [e["kind"] for e in (await stands(world, ask["trail"]))["history"]] == ["decided"]


async def test_c21_another_verdict_from_a_page_that_decided_is_told_so(http: httpx.AsyncClient, world: World) -> None:
    """Pressing the other button of an old page, or the same with another reason, says who decided what already."""
    ask = await asked(world)
    ana = browser(http, world)
    form = (await ana.ask(ask["trail"])).form("/decide")
    assert (await ana.send(form, "approve")).status == 303
    for button, typed in (("reject", "No, wait"), ("approve", "Sure")):
        late = await ana.send(form, button, reason=typed)
        assert late.status == 409
        assert "human:ana approved this just now in the console" in late.root.one("div", cls="alert").words
    assert [e["kind"] for e in (await stands(world, ask["trail"]))["history"]] == ["decided"]


async def test_c22_a_late_decision_is_told_that_it_expired(http: httpx.AsyncClient, world: World) -> None:
    """After the deadline the page shows no buttons, and an old page's button says that nobody had decided."""
    ask = await asked(world, expires_in="1h")
    ana = browser(http, world)
    old = await ana.ask(ask["trail"])
    await world.pass_time(2 * HOUR)
    before = await world.dump()
    late = await ana.send(old.form("/decide"), "approve")
    assert late.status == 409
    assert "nobody had decided" in late.root.one("div", cls="alert").words
    assert late.actions == (await ana.ask(ask["trail"])).actions == []
    assert await world.dump() == before


async def test_who_may_not_decide_sees_why(http: httpx.AsyncClient, world: World) -> None:
    """A member, and who answers for the key at high risk, see all of the ask and why they cannot decide it.

    An approver can still ask back.
    """
    await world.human("cy", "member")
    await world.agent("mine", responsible="ana")
    normal, high = await asked(world), await asked(world, "agent:mine", risk="high")
    for name, ask, why, can in (("cy", normal, "no approver", []), ("ana", high, "second pair of eyes", ["ask-back"])):
        page = await browser(http, world, name).ask(ask["trail"])
        assert page.actions == can
        assert why in page.root.one("section", cls="decide").words
        assert page.root.one("div", cls="payload").words
        assert ask["trail"] not in (await browser(http, world, name).inbox()).root.one("section", **MINE).text
    sent = {"token": "x", "verdict": "approve", "digest": normal["digest"]}
    forced = await browser(http, world, "cy").post(f"/s/{world.space}/ask/{normal['trail']}/decide", sent)
    assert forced.status == 403


MINE = {"aria-labelledby": "mine"}


@pytest.mark.parametrize("digest", ["", "0" * 64])
async def test_a_decision_needs_the_digest_that_was_shown(http: httpx.AsyncClient, world: World, digest: str) -> None:
    """A form without the digest, or with another, changes nothing."""
    ask = await asked(world)
    ana = browser(http, world)
    form = (await ana.ask(ask["trail"])).form("/decide")
    before = await world.dump()
    page = await ana.send(form, "approve", digest=digest)
    assert page.status == (409 if digest else 400)
    assert await world.dump() == before


async def test_what_was_typed_is_kept_when_it_is_refused(http: httpx.AsyncClient, world: World) -> None:
    """A reason that is too long comes back with the page that says so, line for line."""
    ask = await asked(world)
    ana = browser(http, world)
    text = "\n one\n" + "x" * 1000
    page = await ana.send((await ana.ask(ask["trail"])).form("/decide"), "reject", reason=text)
    assert page.status == 400
    assert page.root.one("textarea", name="reason").text == f"\n{text}"
