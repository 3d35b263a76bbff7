"""Requests end in an answer or in why there is none: whether the request may have got there is what hangs on it."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.connections import Answer, Connections, Unanswered
from tests.engine.servers import needed
from tests.telegram.answering import answering, spelled
from tests.telegram.together import eventually

OK = spelled(200, {"ok": True})
TOKEN = "123456789:AAbbCCddEE"
PATH = f"/bot{TOKEN}/getMe"


@asynccontextmanager
async def connected(url: str, *, size: int = 4, environment: bool = False) -> AsyncIterator[Connections]:
    """Connections to a server, with little patience."""
    made = Connections(url, size=size, connecting=0.5, waiting=0.2, environment=environment)
    try:
        yield made
    finally:
        await made.close()


async def post(made: Connections, url: str, *, patience: float = 0.3) -> Answer:
    """Ask something under an address that holds a token."""
    return await made.post(url + PATH, b"{}", patience=patience, headers={"Content-Type": "application/json"})


async def lost(made: Connections, url: str, *, patience: float = 0.3) -> Unanswered:
    """Why there is no answer; whatever it is, it holds no address."""
    with pytest.raises(Unanswered) as why:
        await post(made, url, patience=patience)
    assert TOKEN not in f"{why.value!r} {why.value} {why.getrepr()}"
    return why.value


async def test_an_answer_is_given_as_it_is() -> None:
    """Status, headers and body; a connection is used again, and no redirection is followed."""
    async with answering(spelled(302, "elsewhere", {"Location": "/x", "X-Sign": "1"})) as server:
        async with connected(server.url) as made:
            for _ in range(3):
                answer = await post(made, server.url)
                assert (answer.status, answer.body, answer.headers["x-sign"]) == (302, b"elsewhere", "1")
        assert len(server.requests) == 3
        assert all(f" {PATH} ".encode() in each for each in server.requests)


async def test_what_was_never_sent_is_told_apart() -> None:
    """Nobody listens, the name is unknown, or the address is none: nothing can have been done."""
    for url in ("http://127.0.0.1:1", "http://nowhere.invalid", "nonsense", "ftp://127.0.0.1", "http://"):
        async with connected(url) as made:
            why = await lost(made, url)
            assert not why.sent, url
            assert not why.crowded


@pytest.mark.parametrize(
    ("answer", "then_end"),
    [(None, True), (OK[:20], True), (OK[:-3], True), (b"nonsense\r\n\r\n", True), (b"nonsense\r\n\r\n", False)],
    ids=str,
)
async def test_what_may_have_got_there_is_sent(answer: bytes | None, then_end: bool) -> None:
    """The server hangs up before, in or after its head, or answers what is not HTTP: it may have done it."""
    async with answering(answer, then_end=then_end) as server, connected(server.url) as made:
        why = await lost(made, server.url)
        assert (why.sent, why.late, why.crowded) == (True, False, False)
        assert len(server.requests) == 1  # it is not sent twice


async def test_no_answer_in_time_is_late() -> None:
    """It is there, and says nothing, or not all of it."""
    for answer in (None, OK[:20], OK[:-3]):
        async with answering(answer) as server, connected(server.url) as made:
            why = await lost(made, server.url)
            assert (why.sent, why.late) == (True, True)


async def test_no_free_connection_is_crowded_until_they_are_made_anew() -> None:
    """All are in use for too long; new ones are there at once, and those who used the old ones are told."""
    async with answering(None) as silent, connected(silent.url, size=2) as made:
        stuck = [asyncio.create_task(lost(made, silent.url, patience=60)) for _ in range(2)]

        async def asked() -> bool:
            return len(silent.requests) == 2

        await eventually(asked)
        why = await lost(made, silent.url)
        assert (why.sent, why.crowded) == (False, True)
        await made.renew()
        assert [each.sent for each in await asyncio.gather(*stuck)] == [True, True]
        assert not (await lost(made, silent.url)).crowded


async def test_what_is_closed_sends_nothing() -> None:
    """After the end nothing is sent any more."""
    async with answering(OK) as server:
        async with connected(server.url) as made:
            await post(made, server.url)
        assert not (await lost(made, server.url)).sent
        assert len(server.requests) == 1


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine that nobody knows, and its key."""
    openssl = needed("openssl", "it makes the certificate for the connection by TLS")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([openssl, *make.split(), *names], check=True, capture_output=True)
    return cert, key


async def test_over_https_the_server_proves_who_it_is(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it has, nothing is sent; a certificate that the environment vouches for counts where that counts."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    async with answering(OK, tls=tls) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        for environment in (False, True):
            async with connected(url, environment=environment) as made:
                assert not (await lost(made, url)).sent
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        async with connected(url, environment=True) as made:
            assert (await post(made, url, patience=5)).status == 200
        async with connected(url) as made:
            assert not (await lost(made, url)).sent


async def test_proxies_are_those_of_the_environment_where_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Telegram is reached through the proxy that is set, the API never is."""
    async with answering(OK) as proxy, answering(spelled(403, {})) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        for environment, status in ((True, 200), (False, 403)):
            async with connected(server.url, environment=environment) as made:
                assert (await post(made, server.url)).status == status
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        async with connected(server.url, environment=True) as made:
            assert (await post(made, server.url)).status == 403
