"""`doctor`: how LogMem does here, a line for each thing, and what to do about what is wrong. It only reads."""

import os
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Annotated

import redis
import typer

from store.domain.errors import Refused
from store.engine.problem import StoreProblem

from . import show
from .fault import Fault
from .options import Json

if TYPE_CHECKING:
    from .findings import Finding
    from .operate import Operator

CODES = "Exit codes: 0 fine · 1 something is wrong · 2 used wrongly"
MARKS = {"fine": ("fine ", "green"), "note": ("note ", "cyan"), "wrong": ("WRONG", "bold red")}
AGAIN = "Then again: logmem doctor"
HEAD = 17  # columns before a finding's sentence


def doctor(
    now: Annotated[
        bool, typer.Option("--now", help="Look at all of every space now, which reads all of them as lm-admin.")
    ] = False,
    json: Json = False,
) -> None:
    """Look at the store, its users, the processes, and what must hold in every space; say what to do.

    It only reads: nothing is mended.
    """
    found = _found(now=now)
    well = all(each.state != "wrong" for each in found)
    if json:
        show.as_json({"ok": well, "findings": [each.facts for each in found]})
    else:
        _tell(found, well=well)
    if not well:
        raise typer.Exit(1)


def _found(*, now: bool) -> "Sequence[Finding]":
    """All of it; without a store that is all there is to say."""
    from .findings import NOTE, WRONG, Finding
    from .launches import findings
    from .operate import operate

    try:
        found = operate(lambda operator: _looked(operator, now=now))
    except StoreProblem as why:
        found = [Finding("store", WRONG, str(why), AGAIN)]
    except Fault as why:
        found = [Finding("store", WRONG, str(why))]
    gate = (
        f"Advisory for agents that run as your user (uid {os.getuid()}) here: they can read the store's passwords.",
        "Give LogMem a user or a machine of its own: SECURITY.md",
    )
    return [*found, *findings(), Finding("gate", NOTE, *gate)]


async def _looked(operator: "Operator", *, now: bool) -> "list[Finding]":
    from . import findings

    checks = {
        "store": findings.store(operator),
        "users": findings.users(operator),
        "api": findings.server(operator),
        "scheduler": findings.scheduler(operator),
        "bot": findings.bot(operator),
        "holds": findings.spaces(operator, now=now),
    }
    found: list[Finding] = []
    for about, check in checks.items():
        found += [each async for each in _made(about, check)]
    return found


async def _made(about: str, check: "AsyncIterator[Finding]") -> "AsyncIterator[Finding]":
    """What a check finds, and what keeps it from looking further: the others look all the same."""
    from .findings import WRONG, Finding

    try:
        async for each in check:
            yield each
    except (redis.RedisError, Refused, StoreProblem) as why:
        yield Finding(about, WRONG, f"This could not be looked at: {str(why).rstrip('.')}.", AGAIN)


def _tell(found: "Sequence[Finding]", *, well: bool) -> None:
    for each in found:
        mark, style = MARKS[each.state]
        text = f"{each.says} {each.do}" if each.do else each.says
        show.marked(f"{mark}  {each.about:<10}", text, style=style, hang=HEAD)
    show.line("")
    wrong = sum(each.state == "wrong" for each in found)
    text = "All is well." if well else f"{wrong} {'thing is' if wrong == 1 else 'things are'} wrong."
    show.line(text, style="bold green" if well else "bold red")
