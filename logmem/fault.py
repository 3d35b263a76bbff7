"""What goes wrong in the command itself, and the exit codes of all commands."""

from typing import Any

REFUSED, USAGE, UNREACHABLE, INTERRUPTED = 1, 2, 5, 130


class Fault(Exception):
    """The command cannot do it; the message is a sentence or two for whoever called it.

    `code` is the exit code, `body` the refusal of a server as it came.
    """

    def __init__(self, message: str, *, code: int = REFUSED, body: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.body = code, body
