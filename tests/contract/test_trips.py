"""Round trips: what a call reads before it commits or answers, in as few as what hangs on what allows."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.handing import handed
from tests.contract.working import CODEX, GROK, assigned, staged
from tests.world import Result, World

Args = dict[str, Any]


class Trips:
    """How often a store is asked before a call commits, or ends where it only reads."""

    def __init__(self, world: World, patch: pytest.MonkeyPatch) -> None:
        self.world = replace(world, http=None)
        self.reads, self.before = 0, -1
        patch.setattr(world.store, "fetch", self._noting(world.store.fetch, self._read))
        patch.setattr(world.store, "commit", self._noting(world.store.commit, self._commit))

    def _noting(self, ask: Callable[..., Awaitable[Any]], note: Callable[[], None]) -> Callable[..., Awaitable[Any]]:
        async def noting(*args: Any, **more: Any) -> Any:
            note()
            return await ask(*args, **more)

        return noting

    def _read(self) -> None:
        self.reads += 1

    def _commit(self) -> None:
        self.before = self.reads if self.before < 0 else self.before

    async def of(self, who: str, verb: str, **args: Any) -> int:
        """The round trips of this call."""
        self.reads, self.before = 0, -1
        await self.world.do(who, verb, **args)
        return self.before if self.before >= 0 else self.reads


@pytest.fixture
async def things(world: World) -> dict[str, Result]:
    """Jobs that take a skill which codex has, with what is handed over in them."""
    await world.do(CODEX, "bio", profile={"skills": ["sql"], "role": "builder"})
    for job in ("a", "b", "late", "held"):
        await assigned(world, job, to="codex", plan="q3", needs=["sql"])
    item = await handed(world, CODEX, where="job:a")
    role = await handed(world, "role:builder", where="job:b")
    for job in ("late", "held", "b"):
        await staged(world, job, "in_progress", "review")
    await handed(world, CODEX, where="job:late", deadline="5m")
    await world.pass_time(600_000)
    await handed(world, CODEX, where="job:held")
    return {"item": item, "role": role}


# Who calls what, and its round trips; a value `<name>` is an item of the fixture.
CALLS: list[tuple[int, str, str, Args]] = [
    (1, GROK, "assign", {"job": "a", "title": "Anew", "to": "codex", "reason": "wider"}),
    (2, GROK, "assign", {"job": "a", "title": "Anew", "needs": ["sql"], "reason": "wider"}),  # its agent is in the job
    (2, GROK, "assign", {"job": "new", "title": "New", "to": "codex"}),  # names near a new one
    (1, GROK, "update", {"job": "a", "summary": "On"}),
    (1, GROK, "stage", {"job": "a", "stage": "in_progress"}),
    (3, GROK, "stage", {"job": "late", "stage": "done"}),  # what stands in it, and what of that is late
    (1, GROK, "handoff", {"to": "codex", "summary": "Go on", "where": "job:a"}),
    (1, GROK, "handoff", {"to": "role:builder", "summary": "Go on", "where": "job:a"}),
    (1, GROK, "handoff", {"to": "human:ana", "summary": "Go on"}),
    (1, GROK, "handoff", {"withdraw": "<item>"}),
    (2, CODEX, "accept", {"item": "<item>"}),
    (2, CODEX, "accept", {"item": "<role>"}),
    (1, CODEX, "accept", {"item": "<role>", "decline": True, "reason": "no"}),
    (1, GROK, "huddle", {"where": "job:a", "question": "So?", "seats": ["codex", "ana", "human:bo"], "closer": "ana"}),
    (3, CODEX, "open", {}),
    (3, CODEX, "open", {"plan": "q3"}),
    (4, GROK, "open", {"plan": "q3", "agent": "codex"}),
    (3, GROK, "jobs", {}),
    (4, CODEX, "brief", {}),
    (4, GROK, "brief", {"agent": "codex"}),
    (4, "human:ana", "syncs", {}),  # while no window is open
    (1, "human:ana", "rhythm", {"days": "mon-fri"}),
    (1, "human:ana", "attend", {"on": True}),
]


@pytest.mark.parametrize("asked", CALLS, ids=lambda asked: f"{asked[2]} {asked[3]}"[:60])
async def test_a_call_takes_no_more_round_trips_than_hang_on_one_another(
    world: World, things: dict[str, Result], monkeypatch: pytest.MonkeyPatch, asked: tuple[int, str, str, Args]
) -> None:
    """Whatever is known at once is read at once: whom and which place is meant, and what the rules look at."""
    trips, who, verb, args = asked
    given = {k: things[v[1:-1]]["item"] if str(v).startswith("<") else v for k, v in args.items()}
    counted = Trips(world, monkeypatch)
    await counted.of(who, "connection")  # from then on this process knows whose the credential is
    assert await counted.of(who, verb, **given) == trips
