"""The Dockerfile: what it copies is there, what it installs is pinned with hashes, what it starts exists."""

import json
import re
import shlex
import subprocess
import tomllib
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.command.running import LOGMEM

from .files import ROOT, argument, compose, image_environment, instructions

RENEW = "renew both locks as CONTRIBUTING.md says"


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def copied() -> list[str]:
    """What is copied from the clone."""
    words = [shlex.split(rest) for name, rest in instructions() if name == "COPY"]
    return [source for each in words if not each[0].startswith("--from") for source in each[:-1]]


def pins(lock: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Each pinned requirement of a lock, with its hashes."""
    blocks = (ROOT / lock).read_text().replace("\\\n", " ").splitlines()
    found = {}
    for block in blocks:
        if block and not block.lstrip().startswith("#"):
            pin = block.partition(" --hash")[0].strip()
            found[str(canonicalize_name(re.split(r"[=\[]", pin)[0]))] = (
                pin,
                frozenset(re.findall(r"sha256:\w+", block)),
            )
    return found


def test_what_is_copied_is_there() -> None:
    """Each source of a COPY exists and is sent to the builder, and all packages of the project are among them."""
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for source in copied():
        assert (ROOT / source).exists(), source
        assert source in sent, f".dockerignore keeps {source} back"
    assert set(project()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= set(copied())
    assert set(project()["project"]["license-files"]) <= set(copied())


def test_all_that_is_installed_is_pinned() -> None:
    """All packages come from the lock, whose hashes are demanded; the project itself is built from what is there."""
    runs = " && ".join(rest for name, rest in instructions() if name == "RUN").split(" && ")
    installs = [shlex.split(run) for run in runs if " pip install " in run]
    assert len(installs) == 2
    packages, ours = installs
    assert {"--require-hashes", "--no-deps"} <= set(packages)
    assert packages[-2:] == ["-r", "deploy/requirements.lock"]
    assert {"--no-deps", "--no-build-isolation"} <= set(ours)
    assert ours[-1] == "."
    assert "deploy/requirements.lock" in copied()
    assert not any(word in run for run in runs for word in ("apt-get", "curl", "wget"))


def test_the_image_has_what_the_tests_have() -> None:
    """The image's lock pins what LogMem needs to run and to be built, as the tests' lock does, and nothing else."""
    ours, tests, said = pins("deploy/requirements.lock"), pins("requirements.lock"), project()
    assert {name: tests.get(name) for name in ours} == ours, RENEW
    assert all(hashes for _, hashes in ours.values())
    extras = said["project"]["optional-dependencies"]
    wanted = [*said["project"]["dependencies"], *said["build-system"]["requires"], *extras["build"]]
    assert {canonicalize_name(Requirement(each).name) for each in wanted} <= set(ours), RENEW
    assert not {canonicalize_name(Requirement(each).name) for each in extras["dev"]} & set(ours)


def test_the_lock_names_no_host() -> None:
    """The image's lock gives names, versions and hashes alone."""
    text = (ROOT / "deploy" / "requirements.lock").read_text()
    assert "://" not in text
    assert not re.search(r"^(-|/|file:)", text, re.M)


def test_what_it_starts_exists() -> None:
    """The entry point is the project's command, and knows what the image and each service tell it to do."""
    (entry,) = json.loads(argument("ENTRYPOINT"))
    assert entry in project()["project"]["scripts"]
    for command in (
        json.loads(argument("CMD")),
        *(compose()["services"][name]["command"] for name in ("users", "api", "bot")),
    ):
        done = subprocess.run([LOGMEM, command[0], "--help"], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def test_it_is_not_run_by_root() -> None:
    """The image's user is the one of the services, has a home that is a volume, and its base has a whole version."""
    assert argument("USER") == compose()["services"]["api"]["user"]
    uid = argument("USER").partition(":")[0]
    assert any(f"--uid {uid} " in rest for name, rest in instructions() if name == "RUN")
    assert f"home:{image_environment()['LOGMEM_HOME']}" in compose()["services"]["api"]["volumes"]
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base) for base in bases)
