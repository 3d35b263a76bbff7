"""`call` and `wait`: verbs over REST, for scripts that hold a key."""

import json as jsons
import time
from typing import Annotated, Any

import typer

from . import show
from .fault import REFUSED, UNREACHABLE, USAGE, Fault
from .options import Json, Space

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


def call(
    verb: Annotated[str, typer.Argument(metavar="VERB", help="A verb of the catalogue, such as note or ask.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[K=V]...", help="Arguments: name=text, or name:=JSON.")
    ] = None,
    action_id: Annotated[
        str, typer.Option(metavar="ID", help="Makes a repeated call harmless: it gets the first answer again.")
    ] = "",
    space: Space = None,
    json: Json = False,
) -> None:
    """Call a verb with LOGMEM_REST_TOKEN at LOGMEM_REST_URL (default: the server that is up here).

    For example: logmem call note where=job:release kind=progress summary="Tests pass"
    """
    body = _body(arguments or [])
    try:
        with _Server(space) as server:
            result = server.ask(verb.removeprefix("logmem_"), body, action_id=action_id)
    except Fault as no:
        if not (json and no.body):
            raise
        show.say(jsons.dumps({"error": no.body}))
        raise typer.Exit(no.code) from None
    (show.as_json if json else show.facts)(result)


def wait(
    trail: Annotated[str, typer.Argument(metavar="TRAIL", help="The trail of an ask or item.")],
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long to wait, such as 90s or 2h. Default: until settled.")
    ] = None,
    space: Space = None,
    json: Json = False,
) -> None:
    """Wait until an ask is decided or an item settled; the exit code says how (see below)."""
    _check_trail(trail)
    give_up = time.monotonic() + _seconds(timeout)
    with _Server(space) as server:
        result = _settled(server, trail, give_up=give_up)
    status = str(result.get("status", ""))
    if json:
        show.as_json(result)
    else:
        show.line(str(result.get("says") or status))
    raise typer.Exit(OUTCOMES.get(status, STILL_PENDING))


def _settled(server: "_Server", trail: str, *, give_up: float) -> dict[str, Any]:
    """How it stands once it is settled, or time is up. Fault: refused, or the server stays away."""
    result: dict[str, Any] = {}
    heard, told = time.monotonic(), False
    while True:
        hold = max(0.0, min(ROUND, give_up - time.monotonic()))
        try:
            result = server.ask("follow", jsons.dumps({"what": trail, "wait": f"{hold:.3f}s"}))
            heard, again = time.monotonic(), bool(result.get("pending"))
        except Fault as no:
            again = False
            away = no.code == UNREACHABLE and (result or isinstance(no, _Lost))
            if not away or time.monotonic() - heard > OUTAGE:
                raise
        if result.get("status") in OUTCOMES or time.monotonic() >= give_up:
            return result
        if not result.get("pending") and not told:
            show.say(f"A person asked something back; it stays open. See it: logmem call view what={trail}")
            told = True
        if not again:
            time.sleep(max(0.0, min(PAUSE, give_up - time.monotonic())))


def _check_trail(trail: str) -> None:
    from store.domain.errors import Refused
    from store.domain.ids import Shape, known

    try:
        known(trail, (Shape.ASK, Shape.ITEM), name="TRAIL")
    except Refused as no:
        raise Fault(no.message, code=USAGE) from None


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
        parts[name] = value if is_json else jsons.dumps(value)
    return "{" + ", ".join(f"{jsons.dumps(name)}: {value}" for name, value in parts.items()) + "}"


def _check(name: str, value: str) -> None:
    try:
        jsons.loads(value)
    except (ValueError, RecursionError) as why:
        raise Fault(f"{name[:80]} is not JSON: {why}. For text write {name[:80]}=text.", code=USAGE) from None


class _Lost(Fault):
    """A server that was there, and then did not answer."""


class _Server:
    """The REST surface of a server, with the credential that the environment names."""

    def __init__(self, space: str | None) -> None:
        import httpx

        from store.settings import PREFIX

        from .setting import quiet, settings

        found = settings(space=space)
        quiet(found)
        if found.rest_token is None:
            raise Fault(f"Set {PREFIX}REST_TOKEN to the key of an agent: logmem mint NAME", code=USAGE)
        token = found.rest_token.get_secret_value()
        if not token.isascii() or not token.isprintable():
            raise Fault(f"{PREFIX}REST_TOKEN is not a key: it has characters that no key has.", code=USAGE)
        self._url = found.rest_url or _here(found)
        headers = {"Authorization": f"Bearer {token}", "X-LogMem-Client": "logmem", "Content-Type": "application/json"}
        declared = {"X-LogMem-Space": found.space, "X-LogMem-Agent": found.agent}
        headers |= {name: value for name, value in declared.items() if value}
        near = httpx.URL(self._url).host in ("127.0.0.1", "localhost", "::1")  # never by way of a proxy
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(75, connect=5), trust_env=not near)

    def __enter__(self) -> "_Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, verb: str, body: str, *, action_id: str = "") -> dict[str, Any]:
        """The result of one call. Fault: refused (with the `body` of the refusal), or not reached."""
        import httpx

        headers = {"Idempotency-Key": action_id} if action_id else {}
        if not verb.isidentifier():
            raise Fault(f"{verb[:80]!r} is no verb.", code=USAGE)
        try:
            answer = self._client.post(f"{self._url}/api/tools/{verb}", content=body.encode(), headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout) as why:
            raise Fault(f"{self._url} cannot be reached: {why}. Nothing was done.", code=UNREACHABLE) from None
        except httpx.HTTPError as why:
            retry = "Repeat it with the same --action-id." if action_id else "Look before you repeat it."
            raise _Lost(
                f"{self._url} did not answer ({type(why).__name__}): it may or may not have been done. {retry}",
                code=UNREACHABLE,
            ) from None
        return self._read(answer.status_code, answer.content)

    def _read(self, status: int, raw: bytes) -> dict[str, Any]:
        try:
            said = jsons.loads(raw)
        except ValueError:
            said = None
        if status == 200 and isinstance(said, dict):
            return said
        error = said.get("error") if isinstance(said, dict) else None
        if not isinstance(error, dict):
            raise Fault(
                f"{self._url} answered {status}, and not as LogMem does. See LOGMEM_REST_URL.", code=UNREACHABLE
            )
        away = status in (502, 503, 504)
        text = f"{error.get('code')}: {error.get('message')}"
        raise Fault(text, code=UNREACHABLE if away else REFUSED, body=error)


def _here(found: Any) -> str:
    from .home import running

    here = running(found.home)
    if here is None:
        raise Fault("LogMem is not up here. Start it (logmem up), or set LOGMEM_REST_URL.", code=UNREACHABLE)
    return here.url
