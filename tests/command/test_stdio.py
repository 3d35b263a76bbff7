"""`logmem stdio` does not start where something is missing or does not fit, and says which variable it is."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from .admin import pass_days
from .bridged import VARIABLES
from .running import Command, Told, Up
from .warm import Warm


def refused(command: Command, variable: str, env: dict[str, str], *, code: int) -> str:
    """What a bridge said that did not start: one line on stderr, with the variable in it and no secret."""
    told: Told = Warm(command.home).run("stdio", **env)
    assert (told.code, told.out) == (code, ""), told
    assert len(told.err.splitlines()) == 1
    assert variable in told.err
    secret = env.get("LOGMEM_REST_TOKEN", "").rpartition("_")[2]
    assert not secret or secret not in told.err
    return told.err


@pytest.mark.parametrize("missing", VARIABLES)
def test_a_missing_variable(operator: Command, given: dict[str, str], missing: str) -> None:
    """Each variable that is not set, or empty, is named, and no other."""
    for absent in ({name: value for name, value in given.items() if name != missing}, {**given, missing: ""}):
        said = refused(operator, missing, absent, code=2)
        assert "not set" in said
        assert not [name for name in VARIABLES if name != missing and name in said]


def test_another_space_or_agent(operator: Command, given: dict[str, str], space: str) -> None:
    """A space or agent that is not the key's is named, and so is the one that it is."""
    said = refused(operator, 'LOGMEM_SPACE is "fleet"', {**given, "LOGMEM_SPACE": "fleet"}, code=1)
    assert f"LOGMEM_REST_TOKEN opens {space}" in said
    refused(operator, 'LOGMEM_SPACE is "nowhere"', {**given, "LOGMEM_SPACE": "nowhere"}, code=1)
    refused(operator, "LOGMEM_SPACE", {**given, "LOGMEM_SPACE": "ü"}, code=2)
    said = refused(operator, 'LOGMEM_AGENT is "codex"', {**given, "LOGMEM_AGENT": "codex"}, code=1)
    assert 'the key of "grok"' in said


async def test_a_key_that_is_none(operator: Command, server: Up, given: dict[str, str], space: str) -> None:
    """A key that is malformed, unknown, a person's session, revoked or expired is told apart, with what to do."""

    def told(token: str, code: int) -> str:
        return refused(operator, "LOGMEM_REST_TOKEN", {**given, "LOGMEM_REST_TOKEN": token}, code=code)

    token = given["LOGMEM_REST_TOKEN"]
    for malformed in ("nonsense", token.rpartition("_")[0], token.replace("_", "-"), f"{given['LOGMEM_REST_URL']}/k/x"):
        assert "is no key" in told(malformed, 2)
    assert "characters that no key has" in told("lmk_ä_ö", 2)
    for unknown in (token[:-4] + "0000", f"lmk_{'0' * 12}_{'0' * 40}"):
        assert "is not known at" in told(unknown, 1)
    link = operator.json("human", "add", "ana", "--role", "owner", "--space", space)["login_url"]
    async with httpx.AsyncClient() as person:
        session = (await person.post(link)).cookies["logmem_session"]
    assert "a person's session" in told(session, 2)
    assert "a person's session" in told("lms_0_s3cret", 2)
    other = operator.json("mint", "grok", "--space", space)["token"]
    operator.json("revoke", other.split("_")[1], "--space", space)
    assert f"was revoked. Make a new one: logmem mint grok --space {space}" in told(other, 1)
    await pass_days(server.home, space, 91)
    assert f"has expired. Renew it: logmem renew grok --space {space}" in told(token, 1)


@contextmanager
def elsewhere() -> Iterator[str]:
    """A web server that is no LogMem."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{other.server_port}"
        finally:
            other.shutdown()
            thread.join()


def test_an_address_where_no_logmem_answers(operator: Command, given: dict[str, str]) -> None:
    """An address that is none, is not listened on, never answers, speaks otherwise or is no LogMem is named."""

    def told(url: str, code: int) -> str:
        return refused(operator, "LOGMEM_REST_URL", {**given, "LOGMEM_REST_URL": url}, code=code)

    for wrong in ("here", f"{given['LOGMEM_REST_URL']}/mcp"):
        assert "must be an address" in told(wrong, 2)
    minted = f"{given['LOGMEM_REST_URL']}/k/{given['LOGMEM_REST_TOKEN']}/mcp"
    assert "must be an address" in told(minted, 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert "nothing answers there" in told(url, 5)
    assert "cannot be reached" in told(url, 5)
    assert "Write http:// in LOGMEM_REST_URL" in told(given["LOGMEM_REST_URL"].replace("http:", "https:"), 5)
    with elsewhere() as other:
        assert "not as LogMem does" in told(other, 5)
