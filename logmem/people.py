"""`space` and `human`: worlds, and the people in them."""

from typing import Annotated, Any, Literal

import typer

from . import show
from .options import Json, Space

humans = typer.Typer(no_args_is_help=True, help="The people of a space: add, link, pair, unpair, list, remove.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The person's id, such as ana.")]


def space(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The new space. Without it: list them.")] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="With a clock that tests and demos can move.")] = False,
    zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Time zone of its days. Default: America/New_York.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a space, or list the spaces there are."""
    from .operate import Operator, no_space, operate
    from .setting import settings

    async def work(operator: Operator) -> dict[str, Any]:
        if name is None:
            return {"spaces": await operator.store.shared.spaces()}
        return await operator.do("space", simulated=simulated, zone=zone)

    result = operate(work, space=name, makes=name is not None)
    if json:
        show.as_json(result)
    elif name is None:
        show.rows([{"space": each} for each in result["spaces"]], ["space"], none=no_space(settings()))
    else:
        show.line(f"The space {result['made']} is there{' (simulated)' if simulated else ''}.")


@humans.command("add")
def add(
    name: Name,
    role: Annotated[
        Literal["owner", "approver", "member"] | None,
        typer.Option(help="What the person may do. Default: approver, or what they are already."),
    ] = None,
    telegram: Annotated[
        bool, typer.Option("--telegram", help="Also print a code that pairs their phone, good for 24 hours.")
    ] = False,
    space: Space = None,
    json: Json = False,
) -> None:
    """Add a person or change their role, and print a link by which they sign in."""
    from . import pairing
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        added = await operator.do("human", name=name, role=role)
        code = await pairing.made(operator, name, waits=False) if telegram else None
        return {**added, **await _link(operator, name), **({"telegram": code} if code else {})}

    _print_link(operate(work, space=space), json=json)


@humans.command("link")
def link(name: Name, space: Space = None, json: Json = False) -> None:
    """Print a new link by which a person signs in."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        await _check_here(operator, name)
        return await _link(operator, name)

    _print_link(operate(work, space=space), json=json)


@humans.command("pair")
def pair(name: Name, space: Space = None) -> None:
    """Pair a person's phone here: show a code, wait until it is used, ask whether that was them."""
    from .asking import attended
    from .fault import USAGE, Fault
    from .first import command_name
    from .guide import Guide
    from .operate import Operator, operate
    from .server import here
    from .setting import settings

    if not attended():
        text = f"`human pair` asks at a terminal. Elsewhere: logmem human add {name} --telegram prints a code."
        raise Fault(text, code=USAGE)
    found = settings(space=space)
    url = here(found)

    async def work(operator: Operator) -> None:
        await _check_here(operator, name)
        await Guide(found, operator, url, command_name()).pair(f"human:{name.removeprefix('human:')}")

    operate(work, space=space)


@humans.command("unpair")
def unpair(name: Name, space: Space = None, json: Json = False) -> None:
    """Take a person's phone away: nothing is sent there any more, and no tap of it counts."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        await _check_here(operator, name)
        return await operator.do("unpair", person=name)

    result = operate(work, space=space)
    if json:
        show.as_json({"name": result["person"].partition(":")[2], "space": result["space"], "paired": False})
    else:
        show.line(f"{result['person']} is paired with no phone any more.")


@humans.command("list")
def listed(space: Space = None, json: Json = False) -> None:
    """List the people of a space and their roles, and whose phone waits to be paired."""
    from . import pairing
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        found = await operator.every("people")
        return {**found, "waiting": await pairing.waiting(operator, found["space"])}

    result = operate(work, space=space)
    if json:
        show.as_json({name: result[name] for name in ("space", "people", "total", "waiting")})
        return
    none = f"Nobody is in {result['space']} yet. Add somebody: logmem human add NAME --space {result['space']}"
    show.rows(result["people"], ["person", "role", "since", "signed_in"], none=none)
    pairing.tell_waiting(result["waiting"])


@humans.command("remove")
def remove(name: Name, space: Space = None, json: Json = False) -> None:
    """Take a person's role away; what they decided and wrote stays."""
    from .operate import Operator, operate

    async def work(operator: Operator) -> dict[str, Any]:
        await _check_here(operator, name)
        return await operator.do("human", name=name, role="none")

    result = operate(work, space=space)
    if json:
        show.as_json({"name": result["person"].partition(":")[2], "space": result["space"], "role": ""})
    else:
        show.line(f"{result['person']} has no role in {result['space']} any more.")


async def _check_here(operator: Any, name: str) -> None:
    """Refuses unknown_recipient, naming the people that there are. What is no name is for the verb to say."""
    from store.domain.errors import Refused
    from store.domain.ids import near

    found = await operator.every("people")
    ids = [row["person"].partition(":")[2] for row in found["people"]]
    id = name.removeprefix("human:")
    if id in ids:
        return
    close = near(id, ids)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(ids) or 'none yet'}."
    raise Refused(
        "unknown_recipient",
        f"{name[:80]!a} is nobody's name in {found['space']}. Nothing was done. {hint} "
        f"To add somebody: logmem human add NAME --space {found['space']}",
        near=close,
    )


async def _link(operator: Any, name: str) -> dict[str, Any]:
    made = await operator.do("link", name=name)
    return {**made, "login_url": operator.address(made["link_path"])}


def _print_link(result: dict[str, Any], *, json: bool) -> None:
    name = result["person"].partition(":")[2]
    if json:
        role = {"role": result["role"]} if "role" in result else {}
        code = {"telegram": result["telegram"].facts} if "telegram" in result else {}
        show.as_json({"name": name, **role, **{k: result[k] for k in ("space", "login_url", "expires_at")}, **code})
        return
    if "role" in result:
        show.line(f"{result['person']} is {result['role']} of {result['space']}.")
    if "telegram" not in result:
        show.line(f"Sign in within 10 minutes, once: {result['login_url']}")
        return
    from . import pairing
    from .first import command_name

    code, command = result["telegram"], command_name()
    show.line("")
    show.prose(f"To pair a phone, once, within {code.life}; an owner confirms it in the console:", style="bold")
    show.line("")
    pairing.tell(code)
    show.line("")
    show.prose("To sign in to the console, once, within 10 minutes:", style="bold")
    show.line("")
    show.styled("   ", (result["login_url"], "cyan"))
    show.line(f"   A new link, whenever they are there: {command} human link {name}")
