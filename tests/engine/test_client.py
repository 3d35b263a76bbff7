"""Connections to the store: what is sent once is sent once, and who comes in comes in as the user meant."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest
import redis

from store.engine.client import StoreProblem, Target, open_client, open_tail
from store.engine.embedded import Embedded

from .proxy import proxy
from .servers import needed

LIST = "lm:{c}:place:channel:general"


def through(engine: Embedded, port: int, scheme: str = "redis") -> str:
    """The URI of the engine behind a proxy."""
    return f"{scheme}://lm-api:{engine.password('lm-api')}@localhost:{port}"


async def test_a_lost_reply_is_not_a_second_try(engine: Embedded) -> None:
    """When the reply to a script or a command is lost, the caller hears of it and nothing was sent again."""
    script = "return redis.call('RPUSH', KEYS[1], ARGV[1])"
    async with proxy(engine.socket) as way:
        target = Target.parse(through(engine, way.port))
        async with open_client(target, user="lm-api") as client:
            assert await client.eval(script, 1, LIST, "first") == 1
            way.lose = True
            with pytest.raises(redis.ConnectionError):
                await client.eval(script, 1, LIST, "second")
            assert await client.ping()  # so that the next one has a connection
            way.lose = True
            with pytest.raises(redis.ConnectionError):
                await client.rpush(LIST, "third")
            assert await client.lrange(LIST, 0, -1) == [b"first", b"second", b"third"]


async def test_whatever_bytes_come_back_as_they_were(engine: Embedded) -> None:
    """Text, bytes and numbers are sent as they are, alone and in a pipeline; replies are bytes."""
    given: list[str | bytes | int | float] = ["", "ünï\r\n\0", b"\xff\0*3\r\n", 7, -1.5, "x" * 100_000]
    wanted = [b"", "ünï\r\n\0".encode(), b"\xff\0*3\r\n", b"7", b"-1.5", b"x" * 100_000]
    async with open_client(Target.embedded(engine), user="lm-api") as client:
        async with client.pipeline(transaction=False) as pipe:
            for value in given:
                pipe.set("lm:{g:test:a}", value)
                pipe.get("lm:{g:test:a}")
            assert (await pipe.execute())[1::2] == wanted
        for value, back in zip(given, wanted, strict=True):
            await client.set("lm:{g:test:a}", value)
            assert await client.get("lm:{g:test:a}") == back
        assert await client.config_get("appendfsync") == {"appendfsync": "always"}  # a name of two words


async def test_more_callers_than_connections(engine: Embedded) -> None:
    """Five hundred calls at once wait for one of the connections; none fails, and there are at most 64."""
    async with open_client(Target.embedded(engine), user="lm-read") as client:
        others = int((await client.info("clients"))["connected_clients"]) - 1  # of whatever else the suite has open
        got = await asyncio.gather(*(client.info("clients") for _ in range(500)))
    assert max(int(info["connected_clients"]) for info in got) - others <= 64


@pytest.mark.long
async def test_a_tail_waits_as_long_as_it_says(engine: Embedded) -> None:
    """A blocking read that outlasts the time-out of commands ends by its own bound, with nothing."""
    async with open_tail(Target.embedded(engine), user="lm-read") as tail:
        assert not await tail.xread({"lm:{c}:feed": "$"}, block=5500)


async def test_each_user_by_its_own_password(engine: Embedded, tmp_path: Path) -> None:
    """Passwords come from the URI for the user it names, from files for the others."""
    bare = f"unix://{engine.socket}"
    for target in (
        Target.parse(engine.uri("lm-read")),
        Target.parse(engine.uri("lm-api"), secrets=engine.home / "secrets"),
        Target.parse(bare, secrets=engine.home / "secrets"),
        Target.embedded(engine),
    ):
        async with open_client(target, user="lm-read") as client:
            with pytest.raises(redis.exceptions.NoPermissionError):
                await client.publish("lm:x", "y")
    client = open_client(Target.parse(bare, secrets=tmp_path), user="lm-read")
    with pytest.raises(redis.ConnectionError, match="HELLO must be called with the client already authenticated"):
        await client.ping()
    await client.aclose()


def test_a_target_keeps_its_password_to_itself(engine: Embedded) -> None:
    """What is logged of a target names no password."""
    assert engine.password("lm-api") not in repr(Target.parse(engine.uri("lm-api")))


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine that nobody knows, and its key."""
    openssl = needed("openssl", "it makes the certificate for the connection by TLS")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([openssl, *make.split(), *names], check=True, capture_output=True)
    return cert, key


async def test_over_tls(engine: Embedded, certificate: tuple[Path, Path]) -> None:
    """`rediss://` speaks TLS and believes only the certificates it is told to."""
    cert = certificate[0]
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    async with proxy(engine.socket, tls) as way:
        uri = through(engine, way.port, "rediss")
        async with open_client(Target.parse(f"{uri}?ssl_ca_certs={cert}"), user="lm-api") as client:
            assert await client.ping()
        stranger = open_client(Target.parse(uri), user="lm-api")
        with pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
            await stranger.ping()
        await stranger.aclose()


@pytest.mark.parametrize(
    ("uri", "match"),
    [
        ("redis+sentinel://h:1/x", r"begins with 'redis\+sentinel'.*not supported yet"),
        ("h:6379", "must be redis://, rediss:// or unix://"),
        ("redis://h:port", "cannot be read"),
        ("redis://h/2", "names database '2'"),
        ("unix:///s?db=1", "names database '1'"),
        ("redis://h?decode_responses=1", "option 'decode_responses': here it can have none"),
        ("rediss://h?ssl_cert_reqs=none", "option 'ssl_cert_reqs': here it can have ssl_ca_certs"),
        ("unix://", "names no socket"),
    ],
)
def test_an_address_that_cannot_be_used(uri: str, match: str) -> None:
    """A bad LOGMEM_REDIS_URI is refused by one sentence that names it."""
    with pytest.raises(StoreProblem, match=rf"LOGMEM_REDIS_URI.*{match}"):
        Target.parse(uri)
