"""Steps of a job: what an update and a view say, and what neither can be."""

import pytest

from tests.chaos.checks import sound_world
from tests.contract.test_gate import HOUR, refused
from tests.contract.working import CODEX, GROK, ON, assigned, staged, viewed
from tests.world import Result, World


async def test_an_update_logs_a_step_and_sets_the_now_of_the_job(world: World) -> None:
    """One entry at the job, and its Now with a revision; what blocks it stays until something else is said."""
    await assigned(world, to="codex")
    step = await world.do(CODEX, "update", job="launch", summary="Draft is up", blocked="no key", waiting_on="ana")
    assert (step["entry"]["where"], step["entry"]["kind"], step["entry"]["summary"]) == (
        "job:launch",
        "progress",
        "Draft is up",
    )
    assert (step["now"], step["stage"]) == ({"revision": 1, "blocked": True}, "todo")
    now = (await viewed(world, "launch"))["now"]
    assert (now["doing"], now["blocked"], now["waiting_on"], now["age"]) == ("Draft is up", "no key", "ana", "now")
    await world.do(CODEX, "update", job="launch", kind="fix", summary="Typos", doing="Proofreading")
    now = (await viewed(world, "launch"))["now"]
    assert (now["doing"], now["blocked"], now["revision"]) == ("Proofreading", "no key", 2)
    await world.do(CODEX, "update", job="launch", summary="Key is here", blocked=False, waiting_on="none")
    now = (await viewed(world, "launch"))["now"]
    assert (now["doing"], now["blocked"], now["revision"]) == ("Key is here", False, 3)
    assert "waiting_on" not in now
    assert [e["kind"] for e in (await viewed(world, "launch"))["log"]] == ["assigned", "progress", "fix", "progress"]


async def test_a_blocked_job_stands_in_briefs_until_it_goes_on_or_is_done(world: World) -> None:
    """Everybody's Brief names the job; an update or the end of the job takes it away."""
    await assigned(world, to="codex")
    await world.do(CODEX, "update", job="launch", summary="Stuck", kind="stuck", blocked="no key", waiting_on="grok")
    for who in (GROK, CODEX):
        (line,) = (await world.do(who, "brief"))["brief"]["blockers"]
        assert (line["who"], line["blocked"], line["waiting_on"]) == ("job:launch", "no key", "grok")
        assert line["next"] == {"tool": "logmem_view", "args": {"what": "job:launch"}}
    assert (await world.do(CODEX, "open"))["jobs"][0]["blocked"] is True
    await world.do(CODEX, "update", job="launch", summary="On again", blocked="no")
    assert "blockers" not in (await world.do(GROK, "brief"))["brief"]
    await world.do(CODEX, "update", job="launch", summary="Stuck again", blocked="no key")
    await staged(world, "launch", *ON)
    assert "blockers" not in (await world.do(GROK, "brief"))["brief"]
    assert (await viewed(world, "launch"))["now"]["blocked"] is False
    await sound_world(world)


async def test_what_is_done_is_as_old_as_it_is_though_nothing_blocks_it_any_more(world: World) -> None:
    """The end of a job unblocks it, and nobody said anew what it is doing; saying the same again does."""
    await assigned(world)
    await world.do(GROK, "update", job="launch", summary="Pressing the button", blocked="no key", waiting_on="ana")
    since = (await viewed(world, "launch"))["now"]["since"]
    await world.pass_time(3 * HOUR)
    await staged(world, "launch", *ON)
    now = (await viewed(world, "launch"))["now"]
    assert (now["doing"], now["since"], now["age"], now["revision"]) == ("Pressing the button", since, "3 h ago", 2)
    assert (now["blocked"], "waiting_on" in now) == (False, False)
    await world.do(GROK, "stage", job="launch", stage="in_progress", reason="It came back")
    await world.do(GROK, "update", job="launch", summary="Pressing the button")
    assert (await viewed(world, "launch"))["now"]["age"] == "now"


async def test_an_update_of_a_done_job_is_logged_alone(world: World) -> None:
    """Its Now stays, and the result says so and how to take the job up again."""
    await assigned(world)
    await world.do(GROK, "update", job="launch", summary="Nearly there")
    await staged(world, "launch", *ON)
    step = await world.do(GROK, "update", job="launch", summary="A late thought", blocked="no key")
    assert "logmem_stage" in step["says"]
    assert "now" not in step
    seen = await viewed(world, "launch")
    assert (seen["now"]["doing"], seen["log"][-1]["summary"]) == ("Nearly there", "A late thought")


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ("invalid_argument", {"kind": "question"}),
        ("invalid_argument", {"kind": "nonsense"}),
        ("reserved_kind", {"kind": "staged"}),
        ("reserved_kind", {"kind": "decided"}),
        ("invalid_argument", {"summary": " "}),
        ("too_long", {"summary": "x" * 1001}),
        ("too_long", {"doing": "x" * 1001}),
        ("invalid_argument", {"blocked": True}),
        ("invalid_argument", {"waiting_on": "x" * 201}),
        ("malformed_id", {"job": "The Launch"}),
    ],
)
async def test_what_an_update_cannot_be_is_refused(world: World, code: str, args: Result) -> None:
    """Nothing is written."""
    await assigned(world)
    before = await world.dump()
    no = await refused(code, world.do(GROK, "update", **({"job": "launch", "summary": "On"} | args)))
    assert "Nothing was written." in no.message
    assert await world.dump() == before


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ("too_long", {"title": "x" * 201}),
        ("invalid_argument", {"title": ""}),
        ("too_long", {"milestones": ["x"] * 21}),
        ("too_long", {"milestones": ["x" * 201]}),
        ("too_long", {"tracks": ["x"] * 11}),
        ("too_long", {"needs": ["x"] * 11}),
        ("too_long", {"reason": "x" * 1001}),
        ("invalid_argument", {"needs": ["?!"]}),
    ],
)
async def test_what_a_job_cannot_be_is_refused(world: World, code: str, args: Result) -> None:
    """The argument is named, and nothing is written."""
    before = await world.dump()
    no = await refused(code, assigned(world, **args))
    assert no.facts["argument"] == next(iter(args))
    assert await world.dump() == before


async def test_a_replay_of_each_says_the_same(world: World) -> None:
    """With the same action_id nothing is done twice, and the first result comes again."""
    calls: list[tuple[str, Result]] = [
        ("assign", {"job": "launch", "title": "Launch", "to": "codex", "milestones": ["a"]}),
        ("update", {"job": "launch", "summary": "On", "blocked": "no key"}),
        ("stage", {"job": "launch", "stage": "in_progress"}),
    ]
    for verb, args in calls:
        first = await world.do(GROK, verb, action_id=verb, **args)
        again = await world.do(GROK, verb, action_id=verb, **args)
        assert again == {**first, "replayed": True}
    assert (await viewed(world, "launch"))["log_total"] == 3
