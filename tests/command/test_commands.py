"""What an operator and a script do beside a server that is up: spaces, people, keys, calls, waiting, evidence."""

import json
import secrets
from pathlib import Path
from typing import Any

import httpx
import pytest

from store.domain.space import Space
from store.engine.client import Target, open_client
from store.engine.embedded import ensure
from store.engine.keys import Keys

from .admin import operated
from .running import PATIENCE, Command, Told, Up, until


@pytest.fixture
def space(operator: Command) -> str:
    """A new space, simulated so that its clock can be moved."""
    name = f"t{secrets.token_hex(4)}"
    assert operator.json("space", name, "--simulated", "--zone", "Europe/Berlin")["made"] == name
    return name


@pytest.fixture
def agent(operator: Command, space: str) -> dict[str, str]:
    """The environment of an agent's script in that space."""
    return {"LOGMEM_REST_TOKEN": operator.json("mint", "grok", "--space", space)["token"], "LOGMEM_SPACE": space}


class Person:
    """Somebody who signs in by a link and decides over REST."""

    def __init__(self, link: str) -> None:
        url = httpx.URL(link)
        self._origin = f"{url.scheme}://{url.netloc.decode()}"
        self._client = httpx.Client(headers={"Origin": self._origin, "X-LogMem-CSRF": "1"}, timeout=PATIENCE)
        assert self._client.post(link).status_code == 303

    def decide(self, space: str, ask: dict[str, Any], verdict: str, **more: str) -> None:
        """Decide an ask."""
        body = {"space": space, "trail": ask["trail"], "digest": ask["digest"], "verdict": verdict, **more}
        answer = self._client.post(f"{self._origin}/api/decide", json=body)
        assert answer.status_code == 200, answer.text

    def ask_back(self, space: str, ask: dict[str, Any], text: str) -> None:
        """Ask something back."""
        body = {"space": space, "trail": ask["trail"], "text": text}
        assert self._client.post(f"{self._origin}/api/ask-back", json=body).status_code == 200

    def close(self) -> None:
        self._client.close()


def refusal(told: Told, code: int = 1) -> str:
    """What a command that did not do it said, on stderr alone."""
    assert (told.code, told.out) == (code, ""), told
    return told.err


def test_spaces(operator: Command, space: str) -> None:
    """A space is made once, is listed, and a wrong name or zone is refused."""
    assert space in operator.json("space")["spaces"]
    assert space in operator.run("space").out.split()
    assert f"There is a space {space} already" in refusal(operator.run("space", space))
    assert "malformed_id" in refusal(operator.run("space", "No Such Name"))
    assert Space.zone in operator.run("space", "--help").out


def test_people(operator: Command, space: str) -> None:
    """A person is added with a link that signs them in, listed with their role, linked anew, and removed."""
    added = operator.json("human", "add", "ana", "--role", "owner", "--space", space)
    assert (added["name"], added["role"]) == ("ana", "owner")
    assert httpx.get(added["login_url"]).status_code == 200
    told = operator.run("human", "add", "bo", "--space", space)
    assert "human:bo is approver" in told.out
    assert "/sign-in/" in told.out
    people = operator.json("human", "list", "--space", space)
    assert [(p["person"], p["role"], p["signed_in"]) for p in people["people"]] == [
        ("human:ana", "owner", False),
        ("human:bo", "approver", False),
    ]
    person = Person(operator.json("human", "link", "ana", "--space", space)["login_url"])
    person.close()
    assert "human:ana" in operator.run("human", "list", "--space", space).out
    assert operator.json("human", "list", "--space", space)["people"][0]["signed_in"] is True
    assert operator.json("human", "remove", "bo", "--space", space)["role"] == ""
    assert [p["person"] for p in operator.json("human", "list", "--space", space)["people"]] == ["human:ana"]
    for nobody in ("link", "remove"):
        said = refusal(operator.run("human", nobody, "anna", "--space", space))
        assert "unknown_recipient" in said
        assert "Did you mean ana?" in said
    assert "There are ana." in refusal(operator.run("human", "remove", "xx", "--space", space))
    assert "only owner" in refusal(operator.run("human", "remove", "ana", "--space", space))
    assert "--role" in refusal(operator.run("human", "add", "di", "--role", "king", "--space", space), 2)


def test_keys(operator: Command, server: Up, space: str) -> None:
    """A key is shown once, does only what it may, is listed without its secret, renewed, and ends when revoked."""
    operator.json("human", "add", "ana", "--role", "owner", "--space", space)
    minted = operator.json("mint", "grok", "--space", space, "--may", "read", "--days", "3", "--for", "ana")
    assert set(minted) == {"name", "token", "mcp_url", "expires_at"}
    assert minted["name"] == "grok"
    assert minted["mcp_url"] == f"{server.url}/k/{minted['token']}/mcp"
    assert server.post(minted["token"], "connection").json()["space"] == space
    note = {"where": "job:x", "kind": "memo", "summary": "hello"}
    assert server.post(minted["token"], "note", **note).json()["error"]["code"] == "scope_denied"
    told = operator.run("mint", "codex", "--space", space)
    token = told.out.partition(" LOGMEM_REST_TOKEN=")[2].split()[0]
    assert f"LOGMEM_REST_URL={server.url}\n" in told.out
    assert "export LOGMEM" not in told.out  # it is one agent's, and what is typed later may be meant for another
    assert server.post(token, "connection").status_code == 200
    listed = operator.json("keys", "--space", space)
    assert [(k["name"], k["may"], k["responsible"], k["state"]) for k in listed["keys"]] == [
        ("grok", ["read"], "human:ana", "live"),
        ("codex", ["read", "write", "gate"], "human:ana", "live"),
    ]
    table = operator.run("keys", "--space", space).out
    assert listed["keys"][0]["key"] in table
    assert minted["token"].rpartition("_")[2] not in table + json.dumps(listed)
    renewed = operator.json("renew", "grok", "--space", space, "--days", "30")
    assert renewed["expires_at"] > minted["expires_at"]
    assert operator.json("revoke", "grok", "--space", space)["revoked"] == [listed["keys"][0]["key"]]
    assert server.post(minted["token"], "connection").json()["error"]["code"] == "key_revoked"
    assert "no live key" in refusal(operator.run("revoke", "grok", "--space", space))
    assert "invalid_argument" in refusal(operator.run("mint", "x", "--space", space, "--days", "91"))
    assert "not for agents" in refusal(operator.run("mint", "x", "--space", space, "--may", "decide"))


def test_a_demo_does_not_count_for_the_only_space(command: Command) -> None:
    """Where none is said it is the only space, whatever simulated ones are beside it; two real ones have to be named.

    A refusal names the real ones first.
    """
    operated(command.home, "space", "demo-a", simulated=True)
    assert command.json("keys")["space"] == "demo-a"
    operated(command.home, "space", "fleet")
    operated(command.home, "space", "demo-b", simulated=True)
    assert command.json("keys")["space"] == "fleet"
    operated(command.home, "space", "lab")
    said = refusal(command.run("keys"))
    assert "There are several spaces: fleet, lab, demo-a (simulated), demo-b (simulated)." in said
    assert "--space NAME, or LOGMEM_SPACE" in said
    assert command.json("keys", LOGMEM_SPACE="demo-b")["space"] == "demo-b"
    assert "There is no space" in refusal(command.run("keys", "--space", "nowhere"))


def test_call(operator: Command, agent: dict[str, str]) -> None:
    """A verb is called with text and JSON arguments; a repeated action gets the first answer; a refusal is told."""
    note = ("call", "note", "where=job:x", "kind=progress", "summary=a = b", 'payload:={"n": [1, null]}')
    first = operator.json(*note, "--action-id", "n1", **agent)
    assert first["entry"]["summary"] == "a = b"
    assert first["entry"]["payload"] == {"n": [1, None]}
    assert operator.json(*note, "--action-id", "n1", **agent)["replayed"] is True
    told = operator.run("call", "logmem_view", "what=job:x", **agent)
    assert (told.code, told.err) == (0, "")
    assert 'by agent:grok (via logmem): "a = b"; payload: {"n":[1,null]}' in told.out
    assert told.out.endswith(f"— agent:grok in space {agent['LOGMEM_SPACE']} (simulated)\n")
    wrong = operator.run("call", "note", "where=job:x", "kind=progress", "sumary=x", "--json", **agent)
    assert json.loads(refusal(wrong))["error"]["nearest"] == "summary"
    assert "unknown_argument" in refusal(operator.run("call", "note", "sumary=x", **agent))
    assert "logmem call --list" in refusal(operator.run("call", "qqq", **agent), 2)
    assert "Did you mean ask?" in refusal(operator.run("call", "aks", **agent), 2)
    doubled = operator.run("call", "note", "where=job:x", "kind=memo", "summary=x", 'payload:={"a":1,"a":2}', **agent)
    assert "payload_not_canonical" in refusal(doubled)
    for bad in ("where", "payload:={", "=x"):
        refusal(operator.run("call", "note", bad, **agent), 2)
    refusal(operator.run("call", "note", "where=a", "where=b", **agent), 2)
    as_text = operator.run("call", "huddle", "where=job:x", "question=Which?", "seats=grok, muse", **agent)
    assert """A list is written seats:='["grok", "muse"]'""" in refusal(as_text)


def test_verbs_are_listed(operator: Command) -> None:
    """The verbs that a key may call are listed, each with its arguments, without a key and without a server."""
    told = operator.run("call", "--list")
    assert told.code == 0
    names = [line.partition(":")[0] for line in told.out.splitlines() if not line.startswith(" ")]
    assert {"note", "ask", "redeem", "handoff"} <= set(names)
    assert "where=… kind=… summary=… [trail=…]" in told.out
    assert not {"decide", "mint", "people"} & set(names)
    assert "question=… seats:=JSON" in told.out
    for asked in (("call", "ask", "--list"), ("call", "ask", "--help"), ("call", "logmem_ask", "--list")):
        told = operator.run(*asked)
        assert "payload:=JSON" in told.out
        assert "Get a person's approval" in told.out
    assert "No key may call it" in operator.run("call", "mint", "--list").out
    assert next(row["verb"] for row in operator.json("call", "--list")["verbs"]) == "start"
    assert operator.json("call", "note", "--list")["arguments"]["required"] == ["where", "kind", "summary"]
    assert "--list" in refusal(operator.run("call"), 2)


def test_what_is_new_and_what_is_wrong_is_said(operator: Command, space: str, agent: dict[str, str]) -> None:
    """A new place is named, a warning says what to do, and what looks like JSON but was given as text is hinted at."""
    operator.json("human", "add", "cleo", "--role", "owner", "--space", space)
    told = operator.run("call", "ask", "where=job:new", "summary=Go?", 'payload={"version":1}', **agent)
    assert "job:new is new here" in told.out
    assert "logmem human link NAME" in told.out
    assert "For JSON write payload:=" in told.err
    told = operator.run("call", "bio", "name=solo", "skills=go", **agent)
    assert """profile:='{"name": "solo", "skills": "go"}'""" in refusal(told)
    assert "Nothing was written" not in refusal(operator.run("call", "view", "whta=job:x", **agent))


def test_no_key_is_ever_shown_in_an_error(operator: Command, server: Up, space: str) -> None:
    """A minted URL in the wrong place, or a key as an argument, is named without its secret."""
    minted = operator.json("mint", "grok", "--space", space)
    secret = minted["token"].rpartition("_")[2]
    env = {"LOGMEM_REST_TOKEN": minted["token"]}
    for told in (
        operator.run("call", "connection", LOGMEM_REST_URL=minted["mcp_url"], **env),
        operator.run("call", minted["token"], **env),
        operator.run("wait", minted["token"], **env),
        operator.run("call", "note", f"{minted['token']}", **env),
        operator.run("call", "view", f"what={minted['token']}", **env),
        operator.run("call", "connection", LOGMEM_SPACE=minted["token"], **env),
    ):
        assert told.code
        assert secret not in told.out + told.err


def test_what_agents_write_is_inert(operator: Command, agent: dict[str, str]) -> None:
    """Text of agents is shown on one line, with what would act on a terminal escaped."""
    operator.json("call", "note", "where=job:x", "kind=memo", "summary=[red]a\x1b[2J\nb\u202e[/red]", **agent)
    out = operator.run("call", "view", "what=job:x", **agent).out
    assert '"[red]a\\u001b[2J\\nb\\u202e[/red]"' in out
    assert "\x1b" not in out


def test_call_needs_a_key_and_a_server(operator: Command, agent: dict[str, str]) -> None:
    """What is missing or wrong in the environment is named; a server that is not there is exit code 5."""
    assert "LOGMEM_REST_TOKEN" in refusal(operator.run("call", "connection"), 2)
    away = operator.run("call", "connection", **{**agent, "LOGMEM_REST_URL": "http://127.0.0.1:9"})
    assert "cannot be reached" in refusal(away, 5)
    assert "Start it: logmem up; or set LOGMEM_REST_URL" in away.err
    url = operator.json("mint", "codex", "--space", agent["LOGMEM_SPACE"])["mcp_url"].partition("/k/")[0]
    secure = operator.run("call", "connection", **{**agent, "LOGMEM_REST_URL": url.replace("http:", "https:")})
    assert "Write http:// in LOGMEM_REST_URL" in refusal(secure, 5)
    assert "LOGMEM_SPACE" in refusal(operator.run("call", "connection", **{**agent, "LOGMEM_SPACE": "ü"}), 2)
    assert "LOGMEM_SPACE" in refusal(operator.run("call", "connection", **{**agent, "LOGMEM_SPACE": "nowhere"}))
    assert "LOGMEM_REST_URL" in refusal(operator.run("call", "connection", **{**agent, "LOGMEM_REST_URL": "here"}), 2)
    assert "unauthenticated" in refusal(operator.run("call", "connection", LOGMEM_REST_TOKEN="lmk_no_no"))
    nobody = Command(operator.home.with_name("nobody"))
    assert f"LogMem is not up in {nobody.home}" in refusal(nobody.run("call", "connection", **agent), 5)


async def as_admin(home: Path, *words: str | int) -> Any:
    """A command of the store's administrator."""
    async with open_client(Target.embedded(ensure(home)), user="lm-admin") as admin:
        command: Any = admin.execute_command
        return await command(*words)


def asked(operator: Command, agent: dict[str, str], summary: str, *more: str) -> dict[str, Any]:
    """A new ask."""
    made: dict[str, Any] = operator.json("call", "ask", "where=job:x", f"summary={summary}", *more, **agent)
    return made


async def test_wait(operator: Command, server: Up, space: str, agent: dict[str, str]) -> None:
    """Waiting ends when a person decides, and its exit code says how; an ask that nobody decided is not rejected."""
    ana = Person(operator.json("human", "add", "ana", "--role", "owner", "--space", space)["login_url"])
    ask = asked(operator, agent, "Publish?", "payload:={}")
    pending = operator.run("wait", ask["trail"], "--timeout", "0s", "--json", **agent)
    assert (pending.code, json.loads(pending.out)["status"]) == (6, "pending")
    with operator.started("wait", ask["trail"], "--json", **agent) as waiting:
        ana.ask_back(space, ask, "Which version?")
        until(lambda: "asked something back" in operator.errors.read_text(), "the question was not told")
        assert 'human:ana asks back: "Which version?"' in operator.errors.read_text()
        assert f"logmem call note where=job:x kind=answer answers={ask['trail']}" in operator.errors.read_text()
        assert waiting.poll() is None
        ana.decide(space, ask, "approve")
        assert waiting.wait(PATIENCE) == 0
        assert waiting.stdout
        assert json.loads(waiting.stdout.read())["status"] == "approved"
    assert "approved" in operator.run("wait", ask["trail"], **agent).out.lower()
    assert operator.json("call", "redeem", f"trail={ask['trail']}", **agent)["payload"] == {}
    assert operator.run("wait", ask["trail"], **agent).code == 4
    ask = asked(operator, agent, "Delete?")
    ana.decide(space, ask, "reject", reason="Not on a Friday")
    told = operator.run("wait", ask["trail"], **agent)
    assert told.code == 3
    assert told.out.count("Not on a Friday") == 1
    ask = asked(operator, agent, "Mail?", "expires_in=5m")
    await as_admin(server.home, "INCRBY", Keys(space).clock, 6 * 60_000)
    assert operator.run("wait", ask["trail"], **agent).code == 4
    refusal(operator.run("wait", "job:x", **agent), 2)
    refusal(operator.run("wait", ask["trail"], "--timeout", "soon", **agent), 2)
    ana.close()


async def test_verify(operator: Command, server: Up, space: str, agent: dict[str, str]) -> None:
    """An untouched ledger is right up to its head; in an altered one the first fault is named, with exit code 1."""
    for n in range(3):
        operator.json("call", "note", "where=job:x", "kind=memo", f"summary=n{n}", **agent)
    told = operator.run("verify", "--space", space)
    assert (told.code, told.err) == (0, "")
    assert "numbers, leaves and links are right" in told.out
    assert "Not covered until checkpoints exist: somebody with the store's own write access" in told.out
    assert {each["space"] for each in operator.json("verify")["spaces"]} >= {space, "fleet"}
    row = await as_admin(server.home, "HGET", Keys(space).segment(0), 3)
    await as_admin(server.home, "HSET", Keys(space).segment(0), 3, row.replace(b"n0", b"n9").replace(b"grok", b"evil"))
    told = operator.run("verify", "--space", space, "--json")
    assert (told.code, told.err) == (1, "")
    (found,) = json.loads(told.out)["spaces"]
    assert (found["ok"], found["entries"]) == (False, 2)
    assert "was altered" in found["fault"]
    assert found["fault"] in operator.run("verify", "--space", space).out
    assert "scope_unknown" in refusal(operator.run("verify", "--space", "nowhere"))


def test_version_and_help(operator: Command) -> None:
    """The version is one line, with --json too; every command explains itself."""
    assert operator.run("version").out.split() == ["logmem", operator.json("version")["version"]]
    assert operator.run("--version") == operator.run("version")
    assert "claude-code, codex" in operator.run("connect", "--help").out
    assert "cursor, vscode" in refusal(operator.run("connect", "emacs"), 2)
    for name in ("up", "serve", "space", "human", "mint", "keys", "renew", "revoke", "call", "wait", "verify"):
        assert "Usage" in operator.run(name, "--help").out
    assert operator.run().code == 2
    assert operator.run("nothing").code == 2
