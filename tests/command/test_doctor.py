"""`doctor`: a line for each thing, what to do about what is wrong, and nothing changed by looking."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from store.domain.commit import Commit, put
from store.domain.inspection import SPACE, Inspection
from store.engine.client import Target, open_client
from store.engine.embedded import ensure
from store.engine.keys import Keys
from store.target import opened
from store.verbs.call import Call, Row
from store.verbs.identity import Badge
from store.verbs.perform import perform
from tests.own_engine import own_engine

from .admin import as_admin
from .running import PATIENCE, Command, Told, Up, environment

ROOT = Path(__file__).resolve().parents[2]


def found(told: Told) -> list[dict[str, str]]:
    """What `doctor --json` found."""
    said = json.loads(told.out)
    assert said["ok"] == (told.code == 0), told
    return list(said["findings"])


def about(told: Told, what: str, state: str = "") -> str:
    """What it says about something, in this state if one is given."""
    lines = [each for each in found(told) if each["about"] == what and state in ("", each["state"])]
    assert lines, told.out
    return " ".join(f"{each['says']} {each.get('do', '')}" for each in lines)


async def everything(home: Path) -> Mapping[str, object]:
    """Every key of the store as it stands."""
    async with open_client(Target.embedded(ensure(home)), user="lm-admin") as admin:
        return {str(name): await admin.dump(name) for name in await admin.keys("*")}


def test_all_is_well_beside_an_up(operator: Command, server: Up) -> None:
    """Beside a server that is up nothing is wrong: each thing is named, and the exit code is 0."""
    told = operator.run("doctor", "--json")
    assert told.code == 0, told.out
    assert [each for each in found(told) if each["state"] == "wrong"] == []
    assert "always: an ok survives" in about(told, "store", "fine")
    assert "lm-scheduler" in about(told, "users", "fine")
    assert server.url in about(told, "api", "fine")
    assert "behind with nothing" in about(told, "scheduler", "fine")
    assert "logmem telegram" in about(told, "bot", "note")
    assert "the processes of up" in about(told, "launch", "fine")
    assert "SECURITY.md" in about(told, "gate", "note")
    text = operator.run("doctor").out
    assert text.splitlines()[-1] == "All is well."
    assert "\x1b" not in text


def test_where_there_is_nothing_it_says_what_to_make(command: Command) -> None:
    """No store is wrong too, and nothing is made by looking."""
    told = command.run("doctor", "--json")
    assert told.code == 1
    assert "logmem up" in about(told, "store", "wrong")
    assert not command.home.exists()


async def test_it_only_reads(command: Command) -> None:
    """Every key of the store is what it was, with --now as well; what does not run is said with how to start it."""
    command.json("space", "acme")
    command.json("human", "add", "ana", "--space", "acme")
    before = await everything(command.home)
    for words in (("doctor", "--json"), ("doctor", "--now", "--json")):
        told = command.run(*words)
        assert told.code == 1
        assert "logmem up" in about(told, "api", "wrong")
        assert "logmem serve scheduler" in about(told, "scheduler", "wrong")
    assert await everything(command.home) == before


async def test_what_is_broken_is_found(command: Command) -> None:
    """An index that was changed by hand is found by --now, in the space and with the invariant that it breaks."""
    command.json("space", "acme")
    command.json("space", "sound")
    assert "2 spaces" in about(command.run("doctor", "--now", "--json"), "holds", "fine")
    await as_admin(command.home, "ZADD", Keys("acme").index("inbox", "role:approver"), 1, "ask:none")
    said = about(command.run("doctor", "--now", "--json"), "holds", "wrong")
    assert said.startswith("Broken: index entries are a function of the documents. acme: ")
    assert "ask:none" in said
    assert "logmem verify" in said


async def test_what_the_scheduler_found_is_told(command: Command) -> None:
    """Without --now it is the last look of the scheduler's that counts: by invariant, with how many were not kept."""
    command.json("space", "acme")
    assert "Not looked at in acme yet" in about(command.run("doctor", "--json"), "holds", "note")
    broken = ("documents name entries that there are: doc x names y as z",)

    async def inspected(call: Call) -> Commit:
        await call.admit()
        made = Inspection(id=SPACE, next=call.now, ended=call.now, looked=9, last=broken, last_count=4)
        return Commit(result={}, puts=(put(made),))

    async with opened(Target.embedded(ensure(command.home))) as store:
        badge = Badge("operator", client="test", spaces=(("", "acme"),))
        await perform(store, badge, Row("inspected", "manage", inspected), {})
    told = await asyncio.to_thread(command.run, "doctor", "--json")
    said = about(told, "holds", "wrong")
    assert "Broken: documents name entries that there are. acme: doc x names y as z" in said
    assert "3 more of these" in said
    assert "An index names documents that there are (as looked" in about(told, "holds", "fine")


def test_a_user_who_is_not_let_in(command: Command, tmp_path: Path) -> None:
    """A password that the store does not know is told by its user, with what to do; one that is not here, too."""
    command.json("space", "acme")
    store, secrets = ensure(command.home), tmp_path / "passwords"
    secrets.mkdir(mode=0o700)
    for user in ("lm-api", "lm-read", "lm-scheduler"):
        (secrets / user).write_text((command.home / "secrets" / user).read_text())
    (secrets / "lm-bot").write_text("0" * 64)
    elsewhere = {"LOGMEM_REDIS_URI": f"unix://{store.socket}", "LOGMEM_REDIS_SECRETS": str(secrets)}
    told = command.run("doctor", "--now", "--json", **elsewhere)
    said = about(told, "users", "wrong")
    assert said.startswith("lm-bot is not let in")
    assert "logmem store-users" in said
    assert "lm-api, lm-scheduler, lm-read come in" in about(told, "users", "fine")
    assert "lm-admin: no password lies here" in about(told, "users", "note")
    assert "takes lm-admin" in about(told, "holds", "note")


def test_what_cannot_be_looked_at_hides_nothing_else(command: Command, tmp_path: Path) -> None:
    """A check that fails is a finding of its own beside the others; a store that does not let one in says whom."""
    command.json("space", "acme")
    store, secrets = ensure(command.home), tmp_path / "passwords"
    shutil.copytree(command.home / "secrets", secrets)
    elsewhere = {"LOGMEM_REDIS_URI": f"unix://{store.socket}", "LOGMEM_REDIS_SECRETS": str(secrets)}
    (secrets / "lm-admin").write_text("0" * 64)
    told = command.run("doctor", "--now", "--json", **elsewhere)
    assert about(told, "users", "wrong").startswith("lm-admin is not let in")
    assert "invalid username-password pair" in about(told, "holds", "wrong")
    assert {each["about"] for each in found(told)} >= {"store", "users", "api", "scheduler", "bot", "holds", "launch"}
    (secrets / "lm-read").write_text("0" * 64)
    said = about(command.run("doctor", "--json", **elsewhere), "store", "wrong")
    assert said.startswith("The store does not let LogMem in as lm-read: ")
    assert "logmem store-users" in said


def test_a_store_with_the_users_of_another_version(command: Command, tmp_path: Path) -> None:
    """A user who may not run its scripts is told, with what to do; nothing is written to find it out."""
    with own_engine(tmp_path) as engine:
        here = {"LOGMEM_REDIS_URI": f"unix://{engine.socket}", "LOGMEM_REDIS_SECRETS": str(engine.secrets)}
        assert "may not run" not in command.run("doctor", "--json", **here).out
        engine.root("ACL", "SETUSER", "lm-bot", "clearselectors")
        before = engine.root("DBSIZE")
        said = about(command.run("doctor", "--json", **here), "users", "wrong")
        assert said.startswith("lm-bot may not run lease.lua, keep.lua, card.lua, settled.lua")
        assert "logmem store-users" in said
        assert engine.root("DBSIZE") == before


@pytest.mark.parametrize("prints", ['{"version": "0.0.1"}', "no JSON", ""])
def test_another_logmem_first_on_the_path(operator: Command, server: Up, tmp_path: Path, prints: str) -> None:
    """A real process of each way of starting is asked: one that is something else is told, with where this one is."""
    other = tmp_path / "logmem"
    other.write_text(f"#!/bin/sh\necho '{prints}'\n")
    other.chmod(0o755)
    told = operator.run("doctor", "--json", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    said = about(told, "launch", "wrong")
    assert "logmem on the PATH does not start" in said
    assert str(other) in said
    assert server.ready


def test_a_version_of_another_place(operator: Command, tmp_path: Path) -> None:
    """The same for one that says what it is: another version, with its code elsewhere."""
    here: dict[str, Any] = operator.json("version")
    said = json.dumps({**here, "version": "0.0.1", "code": "/elsewhere"})
    other = tmp_path / "logmem"
    other.write_text(f"#!/bin/sh\necho '{said}'\n")
    other.chmod(0o755)
    told = operator.run("doctor", "--json", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert "is another LogMem: version 0.0.1, code /elsewhere" in about(told, "launch", "wrong")
    assert here["home"] == str(operator.home.resolve())


def test_another_logmem_that_no_path_leads_to(tmp_path: Path) -> None:
    """Where the interpreter starts another LogMem than this one, and none is on the PATH, the advice is to install."""
    clone = tmp_path / "clone"
    for name in ("api", "bot", "logmem", "scheduler", "store"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__", "static", "templates"))
    done = subprocess.run(
        [sys.executable, "-m", "logmem", "doctor", "--json"],
        cwd=clone,
        env=environment(tmp_path / "home", PATH=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    said = about(Told(done.returncode, done.stdout, done.stderr), "launch", "wrong")
    assert f"python -m logmem is another LogMem: code {ROOT}; here it is {clone}. Install LogMem anew" in said
    assert "a program with an environment of its own is another LogMem" in said
    assert "PATH" not in said
