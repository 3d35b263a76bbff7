"""The log of a process: JSON lines on stderr, or for eyes where that is a terminal; no secret is ever in it.

configure(level)       once a process, from its `__main__`
hide(token)            once a process that knows a bot's token: it is blotted out in whatever spelling it comes
masked(text) -> str    the text with keys, session and bot tokens, sign-in links and passwords in addresses blotted out
"""

import logging
import re
import sys
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

__all__ = ["configure", "hide", "masked"]

LOUD = ("aiohttp", "httpx", "httpcore", "asyncio", "mcp", "telegram")  # tell of each request, address and all, at INFO
_SECRETS = (
    (re.compile(r"\b(lm[a-z]_[A-Za-z0-9]+)_[A-Za-z0-9]+"), r"\1_…"),
    (re.compile(r"(/sign-in/)[A-Za-z0-9_-]+"), r"\1…"),
    (re.compile(r"(/bot[0-9]+(?::|%(?:25)*3[Aa]))[^/\s\"']+"), r"\1…"),
    (re.compile(r"(?<![0-9])([0-9]{5,20}(?::|%(?:25)*3[Aa]))[A-Za-z0-9_-]{20,}"), r"\1…"),
    (re.compile(r"(\b(?:redis|rediss|unix|https?)://)[^/@\s]+@"), r"\1…@"),
)
LEAST = 20  # characters of the secret part of a token; one that is shorter is a try-out's, and stands in other words
_hidden: set[str] = set()


def hide(token: str) -> None:
    """Blot out the secret part of this bot's token from now on, alone or with its number, however that is spelled."""
    secret = token.rpartition(":")[2]
    if len(secret) >= LEAST:
        _hidden.add(secret)


def configure(level: str = "info") -> None:
    """Send our own log and that of the libraries to stderr, from `level` on."""
    terminal = sys.stderr.isatty()
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
    ]
    # Plain tracebacks: the others show local variables, where secrets stand.
    plain: list[Processor] = [structlog.processors.format_exc_info, _mask]
    show: Processor = structlog.processors.JSONRenderer()
    if terminal:
        show = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _once, *plain, show],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in LOUD:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def masked(text: str) -> str:
    """The text without the secrets that an address, a header or an error may carry."""
    for secret, rest in _SECRETS:
        text = secret.sub(rest, text)
    for known in _hidden:
        text = text.replace(known, "…")
    return text


def _once(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Without the second spelling of its messages that uvicorn adds."""
    event.pop("color_message", None)
    return event


def _mask(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """`masked` for every value of an event, however deep."""
    return {key: _masked(value) for key, value in event.items()}


def _masked(value: Any) -> Any:
    match value:
        case str():
            return masked(value)
        case dict():
            return {key: _masked(each) for key, each in value.items()}
        case list() | tuple():
            return [_masked(each) for each in value]
        case bool() | int() | float() | None:
            return value
    return masked(str(value))
