"""`connect`: write a client's configuration, and prove it by calling `start` through what was written."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import configfile, jsontext, show
from .configfile import Change, Unwritable
from .configs import CLIENTS, RULE, STEPS, Client, Entry, Link, Transport, claude_folder
from .fault import USAGE, Fault
from .jsontext import Odd, Uneditable
from .keyring import TOLD, Held, Wanted, address, held, public, shown, variable
from .options import Json, Space

if TYPE_CHECKING:
    from store.settings import Settings

    from .through import Started

LINES = 8  # of the Brief that are shown
PLACEHOLDER = "lmk_…"  # where a key is to be put in
BEGIN, END = "<!-- logmem -->", "<!-- /logmem -->"
GUIDE = f"""{BEGIN}
This project is coordinated in LogMem, the MCP server `logmem`. Call `logmem_start` when a session begins and
`logmem_recap` when it ends; write a `logmem_note` as you go. Before anything that cannot be undone call
`logmem_ask`, and act only on what `logmem_redeem` returns.
{END}
"""

KEYS = {  # how a key was come by, in words
    "given": "the key that you gave",
    "kept": "the key that it had",
    "renewed": "the key that it had, which was renewed",
    "made": "a new key",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be connected, as far as it was said; None is what is still to be found out."""

    client: Client
    file: Path
    scope: Literal["user", "project", "elsewhere"]
    settings: "Settings"
    agent: str | None
    transport: Transport | None
    told: bool = False  # the key, by --token
    old: Entry | None = None

    @property
    def had(self) -> Link | None:
        return self.client.link(self.old) if self.old else None

    @property
    def folders(self) -> bool:
        """Whether folders may be made for it: the client's own, and not what may be a slip in --config."""
        return self.scope != "elsewhere"

    def without(self, text: str) -> bool:
        """Whether no entry of ours stands in the text, so that it is what somebody may want back."""
        entry = self.client.found(text)
        return not entry or not self.client.link(entry).token.startswith("lmk_")

    @property
    def wanted(self) -> Wanted:
        """Whose key; what was not said is as it stands in the file, unless a key was given, which says it itself.

        A key of the environment does not say which agent is meant.
        """
        found, had = self.settings, self.had
        given = found.rest_token.get_secret_value() if found.rest_token else None
        before = had if not given else None
        agent = self.agent or (had.agent if had and not self.told else None)
        return Wanted(
            found,
            self.client.label,
            self.client.name,
            agent=agent or (self.client.name if given and not self.told else None),
            space=found.space or (before.space if before else None) or None,
            given=given,
            source=TOLD if self.told else variable(),
            had=had,
        )

    def entry(self, key: Held) -> Entry:
        """The entry that gives the client this key."""
        transport = self.transport or (self.had.transport if self.had else self.client.prefers)
        link = Link(transport, key.url, key.agent, key.space, key.token)
        return self.client.entry(link, _command(), old=self.old)


def connect(  # noqa: PLR0917 - typer reads the order of arguments from here; nothing else calls it
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help=f"One of {', '.join((*CLIENTS, *STEPS))}."),
    ],
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent's id. Default: the client's own name.")
    ] = None,
    space: Space = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server's address. Default: LOGMEM_REST_URL, or the one here.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The agent's key. Default: LOGMEM_REST_TOKEN, the one it has, or a new one."),
    ] = None,
    transport: Annotated[
        Literal["http", "stdio"] | None, typer.Option(help="How the client connects. Default: what suits it best.")
    ] = None,
    scope: Annotated[Literal["user", "project"], typer.Option(help="Your own file, or this folder's.")] = "user",
    config: Annotated[Path | None, typer.Option(metavar="PATH", help="The file, if it is another one.")] = None,
    printing: Annotated[bool, typer.Option("--print", help="Print what would be written; change nothing.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take LogMem out of the client's file again.")] = False,
    agents_md: Annotated[
        bool, typer.Option("--agents-md", help="Tell agents of LogMem in AGENTS.md of this folder, too.")
    ] = False,
    json: Json = False,
) -> None:
    """Connect a client: make a key, write it into the client's configuration, call start through that.

    Run again, it keeps the key that is there. For Claude.ai and ChatGPT it prints what to do.
    """
    if printing and remove:
        raise Fault("--print shows what would be written, and --remove writes: give one of them.", code=USAGE)
    if client not in {*CLIENTS, *STEPS}:
        raise Fault(
            f"{client[:80]!a} is no client that this knows. Nothing was written. Give one of "
            f"{', '.join((*CLIENTS, *STEPS))}; any other takes the URL that logmem mint NAME prints.",
            code=USAGE,
        )
    if client in STEPS:
        _steps(client, agent, json=json)
        return
    from .setting import quiet, settings

    found = settings(space=space, rest_url=url, rest_token=token)
    quiet(found)
    row = CLIENTS[client]
    where = "elsewhere" if config else scope
    wish = Wish(row, _file(row, scope, config), where, found, agent, transport, told=token is not None)
    if printing:
        _print(_as_found(wish), json=json)
    elif remove:
        _tell_removed(wish, _removed(wish, agents_md=agents_md), json=json)
    else:
        _tell(wish, _connected(_checked(wish), agents_md=agents_md), json=json)


def _steps(client: str, agent: str | None, *, json: bool) -> None:
    label, usual, steps = STEPS[client]
    said = [each.replace(usual, agent) if agent else each for each in steps]
    if json:
        show.as_json({"client": client, "changed": False, "steps": said})
        return
    show.line(f"{label} is set up by hand; nothing was written here.")
    for n, each in enumerate(said, 1):
        show.line(f"{n}. {each}")


def _file(client: Client, scope: str, config: Path | None) -> Path:
    if config:
        return config.expanduser()
    if scope == "user":
        return client.user()
    if client.project is None:
        raise Fault(f"{client.label} has its servers in {client.user()}. Leave --scope project out.", code=USAGE)
    return Path.cwd() / client.project


def _as_found(wish: Wish) -> Wish:
    """The wish with what stands in the file, if that can be read."""
    try:
        return replace(wish, old=wish.client.found(configfile.text(wish.file)))
    except (Odd, Unwritable) as why:
        show.say(f"{_said(wish, why)} What may stand there of LogMem is not heeded.")
        return wish


def _checked(wish: Wish) -> Wish:
    """The wish with what stands in the file. Fault: the file is one that we do not write, with what to paste."""
    try:
        configfile.check(wish.file, folders=wish.folders)
        text = configfile.text(wish.file)
        old = wish.client.found(text)
        wish.client.put(text, old or {"url": ""})  # what is said of it now is not said after a key was made
    except (Odd, Unwritable) as why:
        raise _not_written(wish, why) from None
    return replace(wish, old=old)


def _said(wish: Wish, why: Exception) -> str:
    """What stands in the way of a change of the file."""
    return f"{wish.file} is left as it is: {why}." if isinstance(why, Odd) else f"{why} Nothing was written."


def _not_written(wish: Wish, why: Exception) -> Fault:
    """The refusal to write a file, and what its owner can put there."""
    how = "Mend that and run this again; or put this there yourself"
    if isinstance(why, Uneditable):
        how = "Put this there yourself, in place of what it says of logmem"
    elif isinstance(why, Unwritable):
        how = f"Mend that and run this again; or put this where {wish.client.label} reads it"
    text = wish.client.shown(wish.entry(_placed(wish)))
    return Fault(f"{_said(wish, why)} {how}, with a key of your own (logmem mint NAME) in its place:\n{text}")


def _placed(wish: Wish) -> Held:
    """What would be written, as far as it is known without making a key."""
    from .home import running
    from .setting import local_url

    want, found = wish.wanted, wish.settings
    up = running(found.home)
    url = address(want) or local_url(found.host, found.port)
    return Held(url, want.agent or want.usual, want.space or (up.space if up else "SPACE"), PLACEHOLDER, "given")


def _print(wish: Wish, *, json: bool) -> None:
    key = shown(wish.wanted, _placed(wish))
    entry = wish.entry(key)
    if json:
        show.as_json({"client": wish.client.name, "config": str(wish.file), "changed": False, "entry": entry})
        return
    show.say(f"For {wish.file}; nothing was written:")
    show.line(wish.client.shown(entry))
    if key.token == PLACEHOLDER:
        show.say(f"Put a key where {PLACEHOLDER} stands: logmem mint {key.agent} --space {key.space}")


def _connected(wish: Wish, *, agents_md: bool) -> dict[str, Any]:
    """Find a key, write, and start through what was written."""
    from . import through

    key = held(wish.wanted)
    entry = wish.entry(key)

    def edit(text: str) -> str:
        return text if wish.client.found(text) == entry else wish.client.put(text, entry)

    try:
        change = configfile.change(wish.file, edit, keep=wish.without, secret=True, folders=wish.folders)
    except (Odd, Unwritable) as why:
        spare = f"\nA key was made and is not used: logmem revoke {key.key}" if key.how == "made" else ""
        raise Fault(f"{_not_written(wish, why)}{spare}") from None
    more = {name: str(each.path) for name, each in _beside(wish, agents_md=agents_md).items()}
    written = wish.client.found(configfile.text(change.path)) or {}
    started = through.start(wish.client, written)
    return _result(wish, key, change, written, started) | more


def _result(wish: Wish, key: Held, change: Change, written: Entry, started: "Started") -> dict[str, Any]:
    link = wish.client.link(written)
    return {
        "client": wish.client.name,
        "config": str(change.path),
        "changed": change.changed,
        "backup": str(change.backup) if change.backup else None,
        "switched_off": written.get("enabled") is False or written.get("disabled") is True,
        "transport": link.transport,
        "url": link.url,
        "agent": started.agent,
        "space": started.space,
        "via": started.via,
        "key": key.key,
        "key_is": key.how,
        "expires_at": started.expires_at,
        "tools": started.tools,
        "brief": list(started.brief[:LINES]),
    }


def _tell(wish: Wish, result: dict[str, Any], *, json: bool) -> None:
    if json:
        show.as_json(result)
        return
    show.line(f"{wish.client.label} is connected: {result['agent']} in space {result['space']}.")
    kept = f"; what stood there at first is in {result['backup']}" if result["backup"] else ""
    show.line(f"  Config  {result['config']}{kept if result['changed'] else ', which said so already'}")
    until = f", until {result['expires_at']}" if result["expires_at"] else ""
    show.line(f"  Via     {result['transport']}, {result['url']}, with {KEYS[result['key_is']]}{until}")
    for name, what in (("rules", "Rules "), ("agents_md", "Guide ")):
        if name in result:
            show.line(f"  {what}  {result[name]}")
    show.line(f"  Start   through what was written: {result['tools']} tools, and this Brief")
    for each in result["brief"]:
        show.line(f"          {each}")
    if result["switched_off"]:
        show.line(f"It is switched off in {result['config']}, as it was before: switch it on there.")
    if wish.scope == "project":
        show.line("The file holds a key: keep it out of version control.")
    show.line(wish.client.after)
    if wish.scope == "project" and wish.client.asks:
        show.line(wish.client.asks)


def _removed(wish: Wish, *, agents_md: bool) -> dict[str, Any]:
    had = None
    try:
        old = wish.client.found(configfile.text(wish.file))
        had = wish.client.link(old) if old else None
        change = configfile.change(wish.file, wish.client.drop, keep=wish.without, secret=False)
    except (Odd, Unwritable) as why:
        how = "Take" if isinstance(why, Uneditable) else "Mend that and run this again; or take"
        key = had and public(had.token)
        good = f" The key in it is still good; end it: logmem revoke {key}" if key else ""
        raise Fault(
            f"{_said(wish, why)} {how} what it says of {'.'.join(wish.client.path)} out yourself.{good}"
        ) from None
    more = {name: str(each.path) for name, each in _beside(wish, agents_md=agents_md, gone=True).items()}
    return {
        "client": wish.client.name,
        "config": str(change.path),
        "changed": change.changed,
        "backup": str(change.backup) if change.backup else None,
        "key": public(had.token) if had else "",
    } | more


def _tell_removed(wish: Wish, result: dict[str, Any], *, json: bool) -> None:
    if json:
        show.as_json(result)
    elif not result["changed"]:
        show.line(f"LogMem does not stand in {result['config']}.")
    else:
        kept = f"; what stood there at first is in {result['backup']}" if result["backup"] else ""
        show.line(f"LogMem is out of {result['config']}{kept}.")
        if result["key"]:
            show.line(f"The key is still good. End it: logmem revoke {result['key']}")


def _beside(wish: Wish, *, agents_md: bool, gone: bool = False) -> dict[str, Change]:
    """What is written beside the client's configuration; where that is not possible it is said, and no more."""
    works: dict[str, tuple[Path, Callable[[str], str], str]] = {}
    if wish.client.name == "claude-code" and wish.scope != "elsewhere":
        folder = Path.cwd() / ".claude" if wish.scope == "project" else claude_folder()
        file = folder / ("settings.local.json" if wish.scope == "project" else "settings.json")
        works["rules"] = file, _rules(gone), RULE
    if agents_md:
        works["agents_md"] = Path.cwd() / "AGENTS.md", _guide(gone), BEGIN
    done: dict[str, Change] = {}
    for name, (path, edit, mark) in works.items():
        try:
            done[name] = configfile.change(path, edit, keep=_lacks(mark), secret=False)
        except (Odd, Unwritable) as why:
            show.say(f"{path} is left as it is: {why}")
    return done


def _lacks(mark: str) -> Callable[[str], bool]:
    return lambda text: mark not in text


def _rules(gone: bool) -> Callable[[str], str]:
    """Let Claude Code call our tools without asking each time, or no longer."""

    def edit(text: str) -> str:
        permissions = jsontext.parse(text, comments=False).get("permissions", {})
        allowed = permissions.get("allow", []) if isinstance(permissions, dict) else []
        if not isinstance(allowed, list) or (RULE in allowed) is not gone:
            return text
        new = [each for each in allowed if each != RULE] if gone else [*allowed, RULE]
        return jsontext.put(text, ("permissions", "allow"), new, comments=False)

    return edit


def _guide(gone: bool) -> Callable[[str], str]:
    """The short block in AGENTS.md, put at its end or taken out."""

    def edit(text: str) -> str:
        head, begun, rest = text.partition(BEGIN)
        _, ended, tail = rest.partition(f"{END}\n")
        if begun and ended:
            return head.removesuffix("\n") + tail if gone else head + GUIDE + tail
        blank = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return text if gone else text + blank + GUIDE

    return edit


def _command() -> list[str]:
    """This installation's own command, which is the same from any folder."""
    own = Path(sys.executable).with_name("logmem")
    return [str(own)] if own.exists() else [sys.executable, "-I", "-m", "logmem"]
