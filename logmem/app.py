"""The commands, and how what goes wrong with one is told: a sentence on stderr and an exit code, never a traceback."""

from collections.abc import Callable, Sequence
from importlib.metadata import version as installed
from typing import Any

import typer

from store.domain.errors import Refused
from store.engine.problem import StoreProblem

from . import connect, doctor, explain, keys, ledger, people, remote, show, stdio, syncs, telegram, up, users
from .demo import command as demo
from .fault import INTERRUPTED, REFUSED, UNREACHABLE, Fault
from .options import Json

CODES = "Exit codes: 0 done · 1 refused · 2 used wrongly · 5 the store or the server cannot be reached"


def version(json: Json = False) -> None:
    """Print the version of LogMem; with --json also where its code and its state folder are."""
    if json:
        from .launches import resolved

        show.as_json(resolved())
    else:
        show.line(f"logmem {installed('logmem')}")


RUN, SPACES, KEYS, AGENTS = "Run", "Spaces and people", "Keys", "For agents"
SCRIPTS, PROOF = "For scripts", "Evidence"

COMMANDS: tuple[tuple[str, Callable[..., Any], str, str], ...] = (
    ("up", up.up, RUN, ""),
    ("serve", up.serve, RUN, ""),
    ("demo", demo.demo, RUN, demo.CODES),
    ("doctor", doctor.doctor, RUN, doctor.CODES),
    ("store-users", users.store_users, RUN, ""),
    ("space", people.space, SPACES, ""),
    ("telegram", telegram.telegram, SPACES, ""),
    ("mint", keys.mint, KEYS, ""),
    ("keys", keys.keys, KEYS, ""),
    ("renew", keys.renew, KEYS, ""),
    ("revoke", keys.revoke, KEYS, ""),
    ("connect", connect.connect, AGENTS, ""),
    ("stdio", stdio.stdio, AGENTS, ""),
    ("call", remote.call, SCRIPTS, ""),
    ("wait", remote.wait, SCRIPTS, remote.WAIT_CODES),
    ("verify", ledger.verify, PROOF, ""),
    ("version", version, PROOF, ""),
)


def command() -> typer.Typer:
    """The command with all that it knows."""
    app = typer.Typer(
        name="logmem",
        help="One log for a team of agents and people: who works on what, what was decided, and who said yes.",
        epilog=CODES,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, function, panel, epilog in COMMANDS:
        app.command(name, rich_help_panel=panel, epilog=epilog or None)(function)
    app.add_typer(people.humans, name="human", rich_help_panel=SPACES)
    app.add_typer(syncs.syncs, name="sync", rich_help_panel=SPACES)
    app.add_typer(explain.scheduler, name="scheduler", rich_help_panel=RUN)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command; gives its exit code."""
    try:
        command()(_meant(arguments), prog_name="logmem")  # ends in SystemExit
    except Fault as why:
        show.say(str(why))
        return why.code
    except StoreProblem as why:
        show.say(str(why))
        return UNREACHABLE
    except Refused as no:
        show.say(str(no))
        return UNREACHABLE if no.code == "store_unavailable" else REFUSED
    except OSError as why:
        show.say(f"The system refuses: {why}.")
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _meant(arguments: Sequence[str]) -> list[str]:
    """The arguments; `call VERB --help` asks about the verb, of which `call` itself knows; --version is a habit."""
    match list(arguments):
        case ["call", str(verb), "--help" | "-h"] if not verb.startswith("-"):
            return ["call", verb, "--list"]
        case ["--version", *more]:
            return ["version", *more]
        case as_given:
            return as_given
