"""`verify`: evidence that nobody has changed what was written."""

from typing import Annotated, Any

import typer

from . import show
from .options import Json


def verify(
    space: Annotated[str | None, typer.Option(metavar="NAME", help="The space to walk. Default: all of them.")] = None,
    json: Json = False,
) -> None:
    """Walk the ledger: numbers without gaps, leaves that fit their text, links that fit their leaves.

    Exit code 1 when something is wrong; the first wrong entry is named.
    """
    from store.domain.errors import Refused
    from store.ledger.verify import Report
    from store.ledger.verify import verify as walk

    from .operate import Operator, looked_in, no_space, operate
    from .setting import settings

    async def work(operator: Operator) -> list[Report]:
        there = await operator.store.shared.spaces()
        if space is not None and space not in there:
            text = f"There is no space {space[:80]!r}: there is {', '.join(there) or 'none'}."
            raise Refused("scope_unknown", f"{text} {looked_in(operator.settings)}")
        return [await walk(operator.store, each) for each in ([space] if space is not None else there)]

    reports = operate(work, space=space)
    if json:
        show.as_json({"ok": all(report.ok for report in reports), "spaces": [facts(report) for report in reports]})
    elif not reports:
        show.prose(no_space(settings()))
    else:
        for report in reports:
            tell(report)
    if not all(report.ok for report in reports):
        raise typer.Exit(1)


def facts(report: Any) -> dict[str, Any]:
    """What was found, for programs."""
    return {
        "space": report.space,
        "ok": report.ok,
        "entries": report.entries,
        "redacted": report.redacted,
        "fault": str(report.fault) if report.fault else None,
        "head_ok": report.head_ok,
        "window": list(report.window),
        "seconds": round(report.seconds, 6),
    }


def tell(report: Any) -> None:
    """What was found, for eyes."""
    redacted = f", {report.redacted} of them redacted" if report.redacted else ""
    if report.ok:
        show.line(f"{report.space}: {report.entries} entries{redacted}: numbers, leaves and links are right.")
    else:
        show.line(f"{report.space}: WRONG: {report.fault or 'the head was altered'}.", style="bold red")
        show.line(f"  {report.entries} entries before it are right{redacted}.")
    if report.unseen:
        since = f"after the checkpoint at entry {report.checkpoint}" if report.checkpoint else "until checkpoints exist"
        show.line(
            f"  Not covered {since}: somebody with the store's own write access who rewrites a tail consistently."
        )
