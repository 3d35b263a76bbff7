"""`call` and `wait`: verbs over REST, for scripts that hold a key."""

import json as jsons
import shlex
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from store.domain.text import quoted

from . import show
from .fault import UNREACHABLE, USAGE, Fault
from .options import Json, Space
from .server import Lost, Server

OUTCOMES = {  # of what was waited for: status and exit code
    "approved": 0, "answered": 0, "accepted": 0,
    "rejected": 3, "declined": 3,
    "expired": 4, "withdrawn": 4, "lapsed": 4, "taken_back": 4, "redeemed": 4,
}  # fmt: skip
STILL_PENDING = 6
OUTAGE = 60.0  # seconds that a server may be away while we wait
PAUSE = 1.0  # seconds before a server that is away, or a question that waits for an answer, is looked at again
ROUND = 25.0  # seconds that the server holds one request

WAIT_CODES = "\n\n".join(  # a paragraph each, as the help wants it
    (
        "Exit codes:",
        "0 approved, answered, accepted",
        "3 rejected, declined",
        "4 expired, withdrawn, lapsed, taken back, or redeemed before",
        "6 still pending when --timeout ran out",
        "1 refused, 2 used wrongly, 5 the server cannot be reached",
    )
)


def call(  # noqa: PLR0917 - typer reads the order of arguments from here; nothing else calls it
    verb: Annotated[
        str | None, typer.Argument(metavar="VERB", help="A verb of the catalogue, such as note or ask.")
    ] = None,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[K=V]...", help="Arguments: name=text, or name:=JSON.")
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="List the verbs; with a verb, what it does and which arguments it takes.")
    ] = False,
    action_id: Annotated[
        str, typer.Option(metavar="ID", help="Makes a repeated call harmless: it gets the first answer again.")
    ] = "",
    space: Space = None,
    json: Json = False,
) -> None:
    """Call a verb with LOGMEM_REST_TOKEN at LOGMEM_REST_URL (default: the server that is up here).

    For example: logmem call note where=job:release kind=progress summary="Tests pass"
    """
    if listing:
        _list(verb, json=json)
        return
    if verb is None:
        raise Fault("Say which verb. All of them: logmem call --list", code=USAGE)
    from store.verbs.render import text

    from . import verbs

    row = verbs.named(verb)
    body = _body(arguments or [])
    try:
        with Server(space) as server:
            result = server.ask(row.verb, body, action_id=action_id)
    except Fault as no:
        if json and no.body:
            show.say(jsons.dumps({"error": no.body}))
            raise typer.Exit(no.code) from None
        hint = verbs.meant(row, body) if (no.body or {}).get("code") == "unknown_argument" else ""
        hint = hint or verbs.meant_as_lists(row, body)
        raise Fault(f"{verbs.fitting(str(no), row)} {hint}".rstrip(), code=no.code) from None
    if json:
        show.as_json(result)
    else:
        show.line(text(row, result))


def _list(verb: str | None, *, json: bool) -> None:
    """Tell which verbs there are, or all of one."""
    from . import verbs

    row = verbs.named(verb) if verb else None
    if json:
        show.as_json(verbs.facts(row) if row else {"verbs": verbs.all_facts()})
        return
    for each in verbs.explained(row) if row else verbs.listed():
        show.line(each)


def wait(
    trail: Annotated[str, typer.Argument(metavar="TRAIL", help="The trail of an ask or item.")],
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long to wait, such as 90s or 2h. Default: until settled.")
    ] = None,
    space: Space = None,
    json: Json = False,
) -> None:
    """Wait until an ask is decided or an item settled; the exit code says how (logmem wait --help)."""
    _check_trail(trail)
    give_up = time.monotonic() + _seconds(timeout)
    with Server(space) as server:
        result = _settled(server, trail, give_up=give_up)
    status = str(result.get("status", ""))
    if json:
        show.as_json(result)
    else:
        for each in _told(result):
            show.line(each)
    raise typer.Exit(OUTCOMES.get(status, STILL_PENDING))


def _told(result: dict[str, Any]) -> Iterator[str]:
    """How it ended, what the person said to it, and what to call next."""
    says = str(result.get("says") or result.get("status", ""))
    yield says
    for name in ("answer", "reason"):
        said = result.get(name)
        if isinstance(said, str) and said and quoted(said, len(said)) not in says:
            yield f"{name}: {quoted(said, len(said))}"
    if call := _next(result):
        yield f"Next: {call}"


def _next(result: dict[str, Any]) -> str:
    """The command that does what the result says to call next, or ''."""
    match result.get("next"):
        case {"tool": str(tool), "args": dict(args)}:
            given = shlex.join(
                f"{name}={value}" if isinstance(value, str) else f"{name}:={jsons.dumps(value)}"
                for name, value in args.items()
            )
            return f"logmem call {tool.removeprefix('logmem_')} {given}"
    return ""


class _Waiting:
    """What is said while we wait: each thing once, on stderr."""

    def __init__(self) -> None:
        self._said = set[str]()
        if sys.stderr.isatty():
            self._say("Waiting until it is settled. Ctrl-C ends the waiting and nothing else.")

    def asked_back(self, result: dict[str, Any]) -> None:
        for change in result.get("changes", ()):
            if change.get("kind") == "question":
                text = str(change.get("summary", ""))
                self._say(f"{change.get('by', 'A person')} asks back: {quoted(text, len(text))}")
        self._say(f"A person asked something back; it stays open. Answer: {_next(result)}")

    def unreached(self) -> None:
        self._say("Nobody who may decide it can be reached now. It stays open.")

    def away(self) -> None:
        if sys.stderr.isatty():
            self._say(f"The server is away; trying again for {OUTAGE:.0f} s.")

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            show.say(text)


def _settled(server: Server, trail: str, *, give_up: float) -> dict[str, Any]:
    """How it stands once it is settled, or time is up. Fault: refused, or the server stays away."""
    result: dict[str, Any] = {}
    heard, there, told = time.monotonic(), False, _Waiting()
    while True:
        hold = max(0.0, min(ROUND, give_up - time.monotonic()))
        again = False
        try:
            result = server.ask("follow", jsons.dumps({"what": trail, "wait": f"{hold:.3f}s"}))
            heard, there, again = time.monotonic(), True, bool(result.get("pending"))
            if result.get("status") not in OUTCOMES and not again:
                (told.unreached() if "warning" in result else told.asked_back(result))
        except Fault as no:
            there = there or isinstance(no, Lost)
            over = time.monotonic() - heard > OUTAGE or (not result and time.monotonic() >= give_up)
            if no.code != UNREACHABLE or not there or over:
                raise
            told.away()
        if result.get("status") in OUTCOMES or time.monotonic() >= give_up:
            return result
        if not again:
            time.sleep(max(0.0, min(PAUSE, give_up - time.monotonic())))


def _check_trail(trail: str) -> None:
    from store.domain.errors import Refused
    from store.domain.ids import Shape, known

    try:
        known(trail, (Shape.ASK, Shape.ITEM), name="TRAIL")
    except Refused as no:
        raise Fault(no.message.replace(" Nothing was written.", ""), code=USAGE) from None


def _seconds(timeout: str | None) -> float:
    from store.domain.errors import Refused
    from store.domain.moments import WEEK, duration

    try:
        return duration(timeout, low=0, high=52 * WEEK, name="--timeout") / 1000 if timeout else float("inf")
    except Refused as no:
        raise Fault(no.message, code=USAGE) from None


def _body(arguments: list[str]) -> str:
    """The arguments as a JSON object; what is given as JSON goes on as it stands, so that the server checks it."""
    parts: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        is_json = name.endswith(":")
        name = name.removesuffix(":")
        if not (equals and name):
            raise Fault(f"{argument[:80]!r} is no argument: write name=text, or name:=JSON.", code=USAGE)
        if name in parts:
            raise Fault(f'{name[:80]} is given twice. For a list: {name[:80]}:=\'["a", "b"]\'', code=USAGE)
        if is_json:
            _check(name, value)
        elif _looks_like_json(value):
            show.say(f"{name[:80]} is sent as text, though it looks like JSON. For JSON write {name[:80]}:=…")
        parts[name] = value if is_json else jsons.dumps(value)
    return "{" + ", ".join(f"{jsons.dumps(name)}: {value}" for name, value in parts.items()) + "}"


def _looks_like_json(value: str) -> bool:
    if not value.lstrip().startswith(("{", "[")):
        return False
    try:
        return isinstance(jsons.loads(value), dict | list)
    except (ValueError, RecursionError):
        return False


def _check(name: str, value: str) -> None:
    try:
        jsons.loads(value)
    except (ValueError, RecursionError) as why:
        raise Fault(f"{name[:80]} is not JSON: {why}. For text write {name[:80]}=text.", code=USAGE) from None
