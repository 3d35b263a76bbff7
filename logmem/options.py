"""Options that several commands have."""

from typing import Annotated

import typer

Space = Annotated[
    str | None,
    typer.Option(
        "--space", metavar="NAME", help="The space that is meant. Default: LOGMEM_SPACE, or the only one, demos aside."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]
Days = Annotated[int, typer.Option("--days", metavar="N", help="Days that the key is good for, at most 90.")]
