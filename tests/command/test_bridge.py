"""`logmem stdio` passes everything on as it was, and loses and doubles nothing when the server restarts."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation

from logmem import bridge as bridging
from logmem import message
from store.engine.keys import Keys

from .admin import as_admin
from .bridged import VARIABLES, Bridged, bridge, variables
from .running import LOGMEM, PATIENCE, Command, Up, environment, up
from .test_message import NO_IDS
from .way import way_to

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "lines", "version": "1"}}
NOTE = (
    '{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"logmem_note","arguments":'
    '{"where":"job:x","kind":"memo","summary":"s","payload":%s}}}'
)
LISTS = {"jsonrpc": "2.0", "id": "a", "method": "tools/list"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_of_the_sdk(operator: Command, given: dict[str, str], tmp_path: Path, mode: Any) -> None:
    """A real client of either era lists the tools and calls them through the bridge, and is named in what it writes."""
    parameters = StdioServerParameters(command=str(LOGMEM), args=["stdio"], env=environment(tmp_path, **given))
    me = Implementation(name="sdk", version="1")
    with (tmp_path / "err").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode=mode, client_info=me) as client:
            assert client.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
            assert f"You are agent:grok in space {given['LOGMEM_SPACE']}" in (client.instructions or "")
            assert "logmem_note" in [tool.name for tool in (await client.list_tools()).tools]
            made: Any = await client.call_tool("logmem_note", {"where": "job:x", "kind": "memo", "summary": "Grüße ✓"})
            assert made.structured_content["entry"]["summary"] == "Grüße ✓"
            assert made.structured_content["entry"]["client"] == "sdk"
            several = await asyncio.gather(*(client.call_tool("logmem_view", {"what": "job:x"}) for _ in range(20)))
            assert {str(one) for one in several} == {str(several[0])}
            wrong: Any = await client.call_tool("logmem_nöte", {})
            assert wrong.is_error
    assert (tmp_path / "err").read_text() == ""


async def test_a_key_of_few_tools(operator: Command, server: Up, space: str, tmp_path: Path) -> None:
    """A key of the profile `core`, which has not the tool that is called at the start, is bridged all the same."""
    token = operator.json("mint", "muse", "--space", space, "--profile", "core")["token"]
    env = dict(zip(VARIABLES, (space, "agent:muse", server.url, token), strict=True))
    async with bridge(tmp_path / "home", env) as agent:
        assert (await agent.ask("ping")) == {}
    told = operator.run("stdio", **{**env, "LOGMEM_AGENT": "grok"})
    assert (told.code, told.out, "LOGMEM_AGENT" in told.err) == (1, "", True)


async def test_in_a_project_with_packages_of_its_own(given: dict[str, str], tmp_path: Path) -> None:
    """Where a client starts it in a project with packages `api` and `store`, and PYTHONPATH=., these are left alone."""
    project = tmp_path / "project"
    for name in ("api", "store", "mcp", "httpx", "typer"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("raise SystemExit('the project was imported instead')\n")
    for name in ("json", "queue", "message", "bridge"):
        (project / f"{name}.py").write_text("raise SystemExit('the project was imported instead')\n")
    env = {**given, "PYTHONPATH": f".:{project}"}
    async with bridge(tmp_path / "home", env, folder=project) as agent:
        await agent.ask("initialize", **HELLO)
        assert (await agent.call("note", where="job:x", kind="memo", summary="here"))["structuredContent"]["ok"]
        assert await agent.end() == 0
    assert agent.errors.read_text() == ""


async def test_odd_lines(given: dict[str, str], tmp_path: Path) -> None:
    """What is no message is told so; what answers nothing is dropped; a large message is refused; all goes on."""
    async with bridge(tmp_path / "home", given) as agent:
        await agent.send(b"", b"  ", b'{"jsonrpc":"2.0","id":7,"result":{}}')
        await agent.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        await agent.send(b'{"jsonrpc": "2.0", "id": 7,')
        assert (await agent.answer(None))["error"]["code"] == -32700
        for n, params in enumerate(({}, {"name": "logmem_note"}, None, [1]), 1):
            call = {"jsonrpc": "2.0", "id": f"c{n}", "method": "tools/call", "params": params}
            await agent.send(json.dumps(call).encode())
            told = await agent.answer(f"c{n}")
            assert "error" in told or told["result"]["isError"]
        await agent.send(b'{"jsonrpc":"2.0","id":"e"}')
        assert (await agent.answer("e"))["error"]["code"] == -32600
        await agent.send(b'{"jsonrpc":"2.0","id":"n","method":"ping","params":{"x":NaN}}')
        assert (await agent.answer("n"))["error"]["code"] == -32700
        await agent.send(json.dumps({"jsonrpc": "2.0", "id": "l", "method": "ping", "x": "y" * (1 << 20)}).encode())
        assert str(bridging.LIMIT) in (await agent.answer("l"))["error"]["message"]
        await agent.send(json.dumps({"jsonrpc": "2.0", "id": "f", "method": "ping", "x": "y" * (1 << 19)}).encode())
        assert (await agent.answer("f"))["result"] == {}
        await agent.send(*[json.dumps(LISTS).encode(), json.dumps({**LISTS, "id": 1}).encode()])
        assert (await agent.answer("a"))["result"] == (await agent.answer(1))["result"]
        assert await agent.end() == 0


UNREADABLE = [b"[]", b"1", b"\xff", b"[" * 100_000, b'{"a":' + b"1" * 10_000 + b"}"]


async def test_lines_that_are_no_messages(given: dict[str, str], tmp_path: Path) -> None:
    """A batch, a number, what no parser takes, and ids that JSON cannot say again are refused, and work goes on."""
    async with bridge(tmp_path / "home", given) as agent:
        for odd in (*UNREADABLE, *(b'{"jsonrpc":"2.0","id":' + id + b',"method":"ping"}' for id in NO_IDS)):
            await agent.send(odd)
            assert (await agent.answer(None))["error"]["code"] in (-32700, -32600), odd
            agent.forget(None)
            assert await agent.ask("ping") == {}


async def test_lines_without_end(given: dict[str, str], tmp_path: Path) -> None:
    """A line beyond every bound is read to its end and refused to whoever asked, and what comes after is answered."""
    text = b"y" * (20 << 20)
    long = {
        None: text,
        "a": b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":"%s"}}' % text,
        7: b'{"method":"ping","params":{"x":"%s"},"jsonrpc":"2.0","id":7}' % text,
    }
    async with bridge(tmp_path / "home", given) as agent:
        for id, line in long.items():
            await agent.send(line)
            assert str(bridging.LIMIT) in (await agent.answer(id))["error"]["message"]
        assert await agent.ask("ping") == {}


async def test_what_the_client_wrote_arrives_as_it_was(given: dict[str, str], tmp_path: Path) -> None:
    """The server sees what could be read in two ways as it was written, and refuses it; a number stays what it was."""
    async with bridge(tmp_path / "home", given) as agent:
        await agent.ask("initialize", **HELLO)
        await agent.send((NOTE % ("x", '{"a":1,"a":2}')).encode())
        told = (await agent.answer("x"))["result"]["structuredContent"]["error"]
        assert told["code"] == "payload_not_canonical"
        await agent.send((NOTE % ("y", '{"a": 1e2, "b": 9007199254740991}')).encode())
        made = (await agent.answer("y"))["result"]["structuredContent"]
        assert made["entry"]["payload"] == {"a": 100, "b": 9007199254740991}


def summaries(view: dict[str, Any]) -> list[str]:
    """What stands in a place."""
    return [entry["summary"] for entry in view["structuredContent"]["log"]]


async def noted(agent: Bridged, n: int) -> dict[str, Any]:
    """A note with a number."""
    made: dict[str, Any] = await agent.call("note", where="job:x", kind="progress", summary=f"note {n}")
    return made


def free_port() -> str:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return str(listening.getsockname()[1])


async def test_a_server_that_restarts_amid_calls(command: Command, tmp_path: Path) -> None:
    """While server and store are killed and started again, every call is answered, and each is done once."""
    port = free_port()
    numbers = iter(range(1, 1000))
    written: list[int] = []

    async def write(agent: Bridged, gone: asyncio.Event) -> None:
        for _ in range(20):
            n = next(numbers)
            made = await noted(agent, n)
            assert made["structuredContent"]["entry"]["summary"] == f"note {n}", made
            written.append(n)
            if len(written) == 15:
                gone.set()

    with up(command, "--port", port) as first:
        env = variables(command, first.url, "fleet")
        async with bridge(tmp_path / "home", env) as agent:
            await agent.ask("initialize", **HELLO)
            under_way = asyncio.Event()
            writing = asyncio.gather(*(write(agent, under_way) for _ in range(5)))
            async with asyncio.timeout(PATIENCE):
                await under_way.wait()
            victims = [first.process.pid, first.api, first.store]
            for each in victims:
                os.kill(each, signal.SIGKILL)
            first.process.wait(PATIENCE)
            with up(command, "--port", port) as second:
                async with asyncio.timeout(PATIENCE):
                    await writing
                os.kill(second.api, signal.SIGKILL)
                await noted(agent, 1000)
                found = await notes_in_ledger(second.home, "fleet")
                assert found == Counter(f"note {n}" for n in [*range(1, 101), 1000])
                assert await agent.end() == 0
    said = agent.errors.read_text()
    assert f"{env['LOGMEM_REST_URL']}/mcp is back." in said
    assert env["LOGMEM_REST_TOKEN"].rpartition("_")[2] not in said


async def notes_in_ledger(home: Path, space: str) -> Counter[str]:
    """How often each note stands in the ledger."""
    rows = await as_admin(home, "HVALS", Keys(space).segment(0))
    return Counter(found[1] for row in rows if (found := re.search(r'"summary":"(note \d+)"', row.decode())))


async def test_an_answer_that_is_lost(given: dict[str, str], tmp_path: Path) -> None:
    """A call that a proxy turns away, or whose answer is lost, is sent again under the same id, and done once."""
    port = httpx.URL(given["LOGMEM_REST_URL"]).port
    assert port
    async with way_to(port) as way, bridge(tmp_path / "home", {**given, "LOGMEM_REST_URL": way.url}) as agent:
        await agent.ask("initialize", **HELLO)
        way.match, way.away, way.lose = b"note 1", 2, 3
        made = await noted(agent, 1)
        assert (way.away, way.lost, made["structuredContent"]["replayed"]) == (0, 3, True)
        assert summaries(await agent.call("view", what="job:x")) == ["note 1"]
        said = agent.errors.read_text()
        assert f"{way.url}/mcp answered 502: trying again" in said
        assert f"{way.url}/mcp is back." in said


async def test_a_call_that_was_not_confirmed(given: dict[str, str], tmp_path: Path) -> None:
    """When time is over the call says that it may have been done, and to look; made again, it is another one."""
    port = httpx.URL(given["LOGMEM_REST_URL"]).port
    assert port
    async with (
        way_to(port) as way,
        bridge(tmp_path / "home", {**given, "LOGMEM_REST_URL": way.url}, "--retry-for", "0s") as agent,
    ):
        way.match, way.lose = b"note 1", 1
        made = await noted(agent, 1)
        assert made["isError"]
        assert made["structuredContent"]["error"]["code"] == "unconfirmed"
        assert "Look before you repeat it" in made["content"][0]["text"]
        assert summaries(await agent.call("view", what="job:x")) == ["note 1"]
        assert "replayed" not in (await noted(agent, 1))["structuredContent"]  # meant: a second one
        assert summaries(await agent.call("view", what="job:x")) == ["note 1", "note 1"]
        way.lose = 2
        own = {"where": "job:x", "kind": "progress", "summary": "note 1", "action_id": "mine"}
        made = await agent.call("note", **own)
        assert "Repeat it with the same action id" in made["content"][0]["text"]
        assert (await agent.call("note", **own))["structuredContent"]["replayed"] is True


async def test_a_call_like_one_that_was_cancelled(given: dict[str, str], tmp_path: Path) -> None:
    """What is said again, after a call that was given up and another one, is done again, and no old answer is given."""
    port = httpx.URL(given["LOGMEM_REST_URL"]).port
    assert port
    async with way_to(port) as way, bridge(tmp_path / "home", {**given, "LOGMEM_REST_URL": way.url}) as agent:
        await agent.ask("initialize", **HELLO)
        way.match, way.hold = b"at X", True
        (id,) = await agent.post("tools/call", name="logmem_status", arguments={"doing": "at X"})
        async with asyncio.timeout(PATIENCE):
            await way.held.wait()  # it was done
        way.hold = False
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        await agent.send(json.dumps(note).encode())
        revisions = []
        for doing in ("at Y", "at X"):
            told = (await agent.call("status", doing=doing))["structuredContent"]
            assert (told.get("replayed"), told["now"]["doing"]) == (None, doing)
            revisions.append(told["now"]["revision"])
        assert revisions == [2, 3]
        assert not agent.has(id)


async def test_equal_calls_at_once(given: dict[str, str], tmp_path: Path) -> None:
    """Two equal calls that are under way are two, also when both answers are lost."""
    port = httpx.URL(given["LOGMEM_REST_URL"]).port
    assert port
    async with way_to(port) as way, bridge(tmp_path / "home", {**given, "LOGMEM_REST_URL": way.url}) as agent:
        await agent.ask("initialize", **HELLO)
        way.match, way.lose = b"note 1", 2
        made = await asyncio.gather(noted(agent, 1), noted(agent, 1))
        assert [one["structuredContent"]["ok"] for one in made] == [True, True]
        assert summaries(await agent.call("view", what="job:x")) == ["note 1", "note 1"]


async def test_a_call_that_cannot_be_named(given: dict[str, str], tmp_path: Path) -> None:
    """An action id that says nothing is none, here as there: such a call gets one, or is not sent twice."""
    port = httpx.URL(given["LOGMEM_REST_URL"]).port
    assert port
    arguments = {"where": "job:x", "kind": "progress", "summary": "note 1"}
    async with way_to(port) as way, bridge(tmp_path / "home", {**given, "LOGMEM_REST_URL": way.url}) as agent:
        await agent.ask("initialize", **HELLO)
        way.match, way.lose = b"note 1", 1
        made = await agent.call("note", **arguments, action_id="")
        assert made["structuredContent"]["replayed"] is True
        way.lose = 2
        empty = {message.ACTION_ID: ""}
        made = await agent.ask("tools/call", name="logmem_note", arguments=arguments, _meta=empty)
        assert made["structuredContent"]["error"]["code"] == "unconfirmed"
        assert summaries(await agent.call("view", what="job:x")) == ["note 1", "note 1"]


async def test_a_server_that_stays_away(command: Command, tmp_path: Path) -> None:
    """When the server stays away, a tool says so in a result, and anything else in an error, both with a code."""
    with up(command) as server:
        env = variables(command, server.url, "fleet")
        async with bridge(tmp_path / "home", env, "--retry-for", "1s") as agent:
            await agent.ask("initialize", **HELLO)
            server.end()
            made = await noted(agent, 1)
            assert made["isError"]
            assert made["structuredContent"]["error"]["code"] == "store_unavailable"
            assert "Nothing was done" in made["content"][0]["text"]
            (id,) = await agent.post("tools/list")
            assert (await agent.answer(id))["error"]["data"]["code"] == "store_unavailable"
            (id,) = await agent.post("tools/list")
            assert await agent.end() == 0
            assert agent.has(id)  # what was under way at the end of stdin was answered


async def test_a_call_that_is_cancelled(given: dict[str, str], tmp_path: Path) -> None:
    """A call that the client gives up ends at the server too, and is never answered; others go on."""
    port = httpx.URL(given["LOGMEM_REST_URL"]).port
    assert port
    async with way_to(port) as way, bridge(tmp_path / "home", {**given, "LOGMEM_REST_URL": way.url}) as agent:
        await agent.ask("initialize", **HELLO)
        ask = (await agent.call("ask", where="job:x", summary="Go?"))["structuredContent"]
        way.match = b"logmem_follow"
        (id,) = await agent.post("tools/call", name="logmem_follow", arguments={"what": ask["trail"], "wait": 50})
        async with asyncio.timeout(PATIENCE):
            await way.asked.wait()
        way.left.clear()
        params = {"requestId": id, "reason": "enough"}
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        await agent.send(json.dumps(note).encode())
        async with asyncio.timeout(PATIENCE):
            await way.left.wait()
        assert await agent.ask("ping") == {}
        assert await agent.end() == 0
        assert not agent.has(id)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal(given: dict[str, str], tmp_path: Path, how: signal.Signals) -> None:
    """A signal ends it at once, also amid a call, without a word."""
    async with bridge(tmp_path / "home", given) as agent:
        await agent.ask("initialize", **HELLO)
        ask = (await agent.call("ask", where="job:x", summary="Go?"))["structuredContent"]
        await agent.post("tools/call", name="logmem_follow", arguments={"what": ask["trail"], "wait": 50})
        await agent.ask("ping")
        agent.process.send_signal(how)
        async with asyncio.timeout(PATIENCE):
            assert await agent.process.wait() == 0
    assert agent.errors.read_text() == ""


def test_nobody_reads(operator: Command, given: dict[str, str], tmp_path: Path) -> None:
    """When nobody reads what it says any more, it ends without a word."""
    reader, writer = os.pipe()
    with subprocess.Popen(
        [LOGMEM, "stdio"],
        env=environment(operator.home, **given),
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(writer)
        os.close(reader)
        assert process.stdin
        assert process.stderr
        process.stdin.write(json.dumps(LISTS).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


async def test_from_a_file(operator: Command, given: dict[str, str], tmp_path: Path) -> None:
    """Stdin and stdout may be files: what stands there is answered, and then it ends."""
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_text("\n".join(json.dumps({**LISTS, "id": n, "method": "ping"}) for n in range(30)))
    with asked.open() as source, told.open("w") as out:
        process = await asyncio.create_subprocess_exec(
            LOGMEM, "stdio", env=environment(operator.home, **given), stdin=source, stdout=out
        )
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    assert sorted(json.loads(line)["id"] for line in told.read_text().splitlines()) == list(range(30))
