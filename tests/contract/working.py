"""What the tests of jobs share: a job, its way through the stages, and what a result may cost."""

import json
from typing import Any

from store.verbs.catalog import ROWS
from store.verbs.render import text
from tests.surfaces.complete import missing
from tests.tokenizer import tokens
from tests.world import Result, World

GROK, CODEX = "agent:grok", "agent:codex"
ON = ("in_progress", "review", "done")


async def assigned(world: World, job: str = "launch", who: str = GROK, **more: Any) -> Result:
    """A job that grok opens."""
    return await world.do(who, "assign", **({"job": job, "title": f"Do {job}"} | more))


async def staged(world: World, job: str, *stages: str, who: str = GROK) -> Result:
    """The job taken from stage to stage; what the last step says."""
    result: Result = {}
    for stage in stages:
        result = await world.do(who, "stage", job=job, stage=stage)
    return result


async def viewed(world: World, job: str, who: str = GROK) -> Result:
    """The job as somebody sees it."""
    return await world.do(who, "view", what=f"job:{job}")


def small(verb: str, result: Result) -> None:
    """Text and structure have room in what a result may cost, and say the same."""
    said = text(ROWS[verb], result)
    assert tokens(said) <= 2000, tokens(said)
    assert tokens(json.dumps(result, ensure_ascii=False, separators=(",", ":"))) <= 2000
    assert missing(result, said) == []
