"""What `up` asks and says: on a terminal, the first time, who the owner is and what comes next; later a few lines."""

import getpass
import os
import shutil
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from . import show
from .asking import asked, fresh
from .fault import Fault

FIRST_OWNER = "owner"  # where nobody can be asked
TRIES = 5  # for a name that can be used
WIDTH, LABEL = show.WIDTH, 9  # columns
ELSEWHERE = ("LOGMEM_HOME", "LOGMEM_TELEGRAM_API_URL")  # what other terminals need to be told too
NOBODY = ("root", "admin", "administrator", "user")  # names of accounts, not of people


@dataclass(frozen=True, slots=True)
class Start:
    """What there is to tell once all is up."""

    ready: dict[str, Any]  # as for --json
    owner: str  # whose the sign-in link is, or who is signed in
    expires: str  # of the link; '' where there is none
    new: bool  # the owner was made just now
    days: str  # what there is to tell of the space's days, or ''
    others: bool  # it is not the space that commands take by default, so they have to say which
    means: str  # what an acknowledgement is worth
    telegram: bool  # there is a token, and so a bot


def days(space: str, zone: str, *, known: bool) -> str:
    """Where the days of a new space are, and when its check-ins; `known`: somebody or the machine said so."""
    from store.domain.sync import TIMES

    times = ", ".join(f"{at:%H:%M}" for _, at in TIMES)
    why = "" if known else " This machine names no zone."
    return f"The space {space} is in {zone}; check-ins {times}.{why}"


def told_days(start: Start) -> str:
    """What there is to tell of the space's days, and how one changes them."""
    which = f" --space {start.ready['space']}" if start.others else ""
    sync = f"{command_name()} sync"
    return f"{start.days} To change that: {sync} zone ZONE{which}, or {sync} times 09:00 13:00 17:30{which}"


async def make_owner(make: Callable[[str], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Ask who the owner is until `make` takes the name; gives what it gives. Fault: no name would do."""
    from store.domain.errors import Refused
    from store.domain.ids import as_id

    show.line("")
    show.line("Welcome to LogMem. Agents work and write it down here; people decide.", style="bold")
    show.line("You will own this log. Agents and people will see your name in it.")
    default = suggested(_account())
    fresh()
    for _ in range(TRIES):
        said = (await asked(f"Your name [{default}]: ")).strip() or default
        try:
            made = await make(as_id(said.removeprefix("human:")) or said)
        except Refused as no:
            show.prose(no.message.replace("name is ", "Your name is ", 1), style="yellow")
            continue
        if made["person"] != f"human:{said.removeprefix('human:')}":
            show.prose(f"That is {made['person']} here: names are a-z, 0-9, '.', '_' and '-'.")
        return made
    raise Fault("None of these names can be used. A name such as ana will do: start again.")


def suggested(account: str) -> str:
    """The name that is offered to whoever has this account."""
    from store.domain.ids import as_id

    id = as_id(account.partition("@")[0].rpartition("\\")[2])
    return id if id and id not in NOBODY else FIRST_OWNER


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return ""


def tell(start: Start) -> None:
    """For somebody at a terminal: all of it the first time, a few lines from then on."""
    if start.new:
        _welcome(start)
    else:
        _again(start)


def _welcome(start: Start) -> None:
    command, ready = command_name(), start.ready
    which = f" --space {ready['space']}" if start.others else ""
    show.line("")
    show.line(
        f"LogMem is up. You are human:{start.owner}, the owner of the space {ready['space']}.", style="bold green"
    )
    if start.days:
        show.prose(told_days(start))
    show.line("")
    show.styled("1. ", ("Sign in to the console, where you decide.", "bold"))
    show.line(f"   This link works once, {_life(start.expires)}:")
    show.line("")
    show.styled("   ", (ready["console_login_url"], "cyan"))
    show.line("")
    show.styled("2. ", ("Connect an agent, from a second terminal.", "bold"))
    for name in ELSEWHERE:
        if name in os.environ:
            value = ready["home"] if name == "LOGMEM_HOME" else os.environ[name]
            show.line(f"   There too: export {name}={value}")
    show.line("")
    _commands(
        (f"{command} connect claude-code{which}", "Claude Code"),
        (f"{command} connect codex{which}", "Codex"),
        (f"{command} connect --help", "the other clients that it knows"),
        (f"{command} mint NAME{which}", "any client: prints an MCP URL of its own"),
    )
    show.line(f"   MCP URL for keys sent as bearer tokens: {ready['mcp_url']}")
    show.line("")
    show.styled("3. ", ("See a first approval through.", "bold"))
    show.line('   README.md, "A first approval in two minutes", from step 3.')
    show.line("")
    _commands(
        (f"{command} human link {start.owner}{which}", "a new sign-in link"),
        (f"{command} human add NAME{which}", "somebody who decides with you"),
        (f"{command} telegram{which}", "how the bot does" if start.telegram else "asks come to your phone"),
        (f"{command} --help", "everything else"),
    )
    show.line("")
    _labelled("Stop", f"Ctrl-C here; {command} up starts it again.")
    _labelled("Promise", f"{ready['durability']}: {start.means}.")
    _labelled(
        "Gate",
        "advisory for agents that run as your user here: they can read the store's passwords. Give LogMem a user or "
        "a machine of its own to make it hold for them too (SECURITY.md).",
    )


def _again(start: Start) -> None:
    command, ready = command_name(), start.ready
    which = f" --space {ready['space']}" if start.others else ""
    link = ready["console_login_url"]
    show.line(f"LogMem is up, with the space {ready['space']}. Ctrl-C stops it.", style="bold green")
    if start.days:
        show.prose(told_days(start))
    if link:
        show.styled(("Console  ", "bold"), (link, "cyan"))
        show.line(f"         signs {start.owner} in, once, {_life(start.expires)}")
    else:
        _labelled("Console", f"{ready['url']} ({start.owner} is signed in)")
    _labelled("MCP URL", ready["mcp_url"])
    _labelled("Agents", f"{command} connect CLIENT{which}, or {command} mint NAME{which}")
    _labelled("People", f"{command} human link {start.owner}{which} makes a new sign-in link")
    if start.telegram:
        _labelled("Telegram", f"{command} telegram says how the bot does")
    if ready["durability"] != "always":
        _labelled("Promise", f"{ready['durability']}: {start.means}")
    _labelled("Gate", "advisory for agents that run as your user here (SECURITY.md)")


def tell_plainly(start: Start) -> None:
    """For a log: where everything is, and what comes next, each in one line."""
    command, ready = command_name(), start.ready
    anew = f"{command} human link {start.owner} --space {ready['space']}"
    show.line(f"LogMem is up, with the space {ready['space']}. Ctrl-C stops it.", style="bold green")
    if ready["console_login_url"]:
        show.line(f"  Console   {ready['console_login_url']}")
        show.line(f"            signs {start.owner} in, once, within 10 minutes; for a new link: {anew}")
    else:
        show.line(f"  Console   {ready['url']}")
        show.line(f"            {start.owner} is signed in; for a link to sign in elsewhere: {anew}")
    show.line(f"  MCP URL   {ready['mcp_url']}")
    show.line(f"            for an agent: {command} mint NAME --space {ready['space']}")
    show.line("            it prints the agent's own URL, for the agent's MCP settings")
    show.line(f"  Approvers {command} human add NAME --role approver --space {ready['space']}")
    if start.telegram:
        show.line(f"  Telegram  {command} telegram says how the bot does")
    if start.days:
        show.line(f"  Days      {told_days(start)}")
    show.line(f"  Promise   {ready['durability']}: {start.means}")
    show.line("  Gate      advisory for agents that run as your user here: they can read the store's passwords.")
    show.line("            Give LogMem a user or a machine of its own to make it hold for them too (SECURITY.md).")


def command_name() -> str:
    """How the one who reads this calls us."""
    return "logmem" if shutil.which("logmem") else "./run"


def _life(expires: str) -> str:
    """`within 10 minutes (until 14:32)`, by the clock on the wall here."""
    end = datetime.fromisoformat(expires)
    minutes = max(1, round((end - datetime.now(UTC)).total_seconds() / 60))
    return f"within {minutes} minute{'s' if minutes > 1 else ''} (until {end.astimezone():%H:%M})"


def _commands(*rows: tuple[str, str]) -> None:
    """Commands with what each is for, in two columns."""
    wide = max(26, *(len(words) for words, _ in rows))
    for words, what in rows:
        show.styled("   ", (words.ljust(wide), "bold"), f"  {what}")


def _labelled(label: str, text: str) -> None:
    """A short paragraph beside its label, no wider than the terminal and than is good to read."""
    width = min(shutil.get_terminal_size().columns, WIDTH) - LABEL
    first, *more = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    show.styled((label.ljust(LABEL), "bold"), first)
    for each in more:
        show.line(" " * LABEL + each)
