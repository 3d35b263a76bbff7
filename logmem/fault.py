"""What goes wrong in the command itself, and the exit codes of all commands."""

from typing import Any

REFUSED, USAGE, UNREACHABLE, INTERRUPTED = 1, 2, 5, 130
CAUSES = {  # why a call got no answer, by how a library names its error
    "ConnectError": "cannot connect",
    "ConnectTimeout": "cannot connect in time",
    "ReadTimeout": "no answer in time",
    "ReadError": "the connection broke",
    "RemoteProtocolError": "the connection broke",
    "ClientConnectorError": "cannot connect",
    "ClientConnectorDNSError": "its name is not known",
    "ClientConnectorCertificateError": "its certificate is not good",
    "ConnectionTimeoutError": "cannot connect in time",
    "SocketTimeoutError": "no answer in time",
    "TimeoutError": "no answer in time",
    "ClientOSError": "the connection broke",
    "ServerDisconnectedError": "the connection broke",
}


class Fault(Exception):
    """The command cannot do it; the message is a sentence or two for whoever called it.

    `code` is the exit code, `body` the refusal of a server as it came.
    """

    def __init__(self, message: str, *, code: int = REFUSED, body: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.body = code, body


def cause(why: Exception) -> str:
    """Why a call got no answer, in words, which hold no address: it may hold a token."""
    name = type(why).__name__
    return CAUSES.get(name, name)
