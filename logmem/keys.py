"""`mint`, `keys`, `renew`, `revoke`: what agents prove themselves with."""

from typing import Annotated, Any, Literal

import typer

from . import show
from .options import Days, Json, Space

Key = Annotated[str, typer.Argument(metavar="NAME", help="The agent, or the id of one of its keys.")]


def mint(  # noqa: PLR0917 - typer reads the order of arguments from here; nothing else calls it
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent's id, such as codex.")],
    space: Space = None,
    may: Annotated[
        str | None, typer.Option(metavar="RIGHTS", help="Any of read,write,gate, with commas. Default: all three.")
    ] = None,
    days: Days = 90,
    person: Annotated[
        str | None,
        typer.Option("--for", metavar="PERSON", help="Who answers for what the agent does. Default: the first owner."),
    ] = None,
    profile: Annotated[Literal["fleet", "core"], typer.Option(help="The tools that the agent is shown.")] = "fleet",
    json: Json = False,
) -> None:
    """Make a key for an agent and print it, once."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        rights = [each.strip() for each in may.split(",") if each.strip()] if may is not None else None
        made = await operator.do("mint", name=name, may=rights, days=days, profile=profile, responsible=person)
        return {**made, "mcp_url": operator.address(made["mcp_path"])}

    result = operate(work, space=space)
    if json:
        show.as_json({k: result[k] for k in ("name", "token", "mcp_url", "expires_at")})
        return
    show.line(f"A key for {result['principal']} in {result['space']}, until {result['expires_at']}.")
    show.line(f"It may {', '.join(result['may'])}. It is shown this once.")
    show.line(f"  MCP URL  {result['mcp_url']}")
    show.line("  For logmem call and wait, before the command; it is this agent's alone, so do not export it:")
    show.line(f"    LOGMEM_REST_TOKEN={result['token']} logmem call connection")
    show.line(f"  From elsewhere also: LOGMEM_REST_URL={result['mcp_url'].partition('/k/')[0]}")


def keys(space: Space = None, json: Json = False) -> None:
    """List the keys of a space: whose, what they may do, until when, when they last wrote."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.every("keys")

    result = operate(work, space=space)
    if json:
        show.as_json({name: result[name] for name in ("space", "keys", "total")})
        return
    columns = ["key", "name", "may", "state", "expires_at", "last_write", "responsible"]
    none = f"There is no key in {result['space']} yet. Make one: logmem mint NAME --space {result['space']}"
    show.rows(result["keys"], columns, none=none)


def renew(name: Key, space: Space = None, days: Days = 90, json: Json = False) -> None:
    """Extend the lease of a key, counted from now."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do("renew", name=name, days=days)

    result = operate(work, space=space)
    if json:
        show.as_json({k: result[k] for k in ("key", "name", "space", "expires_at", "state")})
    else:
        show.line(f"Key {result['key']} of {result['principal']} is good until {result['expires_at']}.")


def revoke(name: Key, space: Space = None, json: Json = False) -> None:
    """End a key at once, or all keys of an agent; what they wrote stays."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        return await operator.do("revoke", name=name)

    result = operate(work, space=space)
    if json:
        show.as_json({k: result[k] for k in ("principal", "space", "revoked")})
    else:
        show.line(f"Revoked of {result['principal']}: {', '.join(result['revoked'])}.")
