"""The log of a process: lines of JSON on stderr, without secrets."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from store import telemetry
from store.telemetry import masked

from .running import PATIENCE, environment

TALK = """
import logging
import structlog
from store.telemetry import configure
configure("info")
log = structlog.get_logger("ours")
key = "lmk_abc_s3cret"
head = {"Authorization": f"Bearer {key}"}
log.info("called", path=f"/k/{key}/mcp", headers=head, tries=[1, key], error=ValueError(key))
log.debug("too much", key=key)
logging.getLogger("uvicorn.error").warning("GET %s", f"/k/{key}/mcp")
logging.getLogger("httpx").info("too much")
try:
    raise ValueError(f"redis://lm-api:s3cret@host/0 and /sign-in/s3cret")
except ValueError:
    log.exception("failed")
"""

BOT = "AAE" + "b" * 32
SECRETS = (
    ("Bearer lmk_0a1b_c0ffee", "Bearer lmk_0a1b_…"),
    ("https://host/k/lms_0a1b_c0ffee/mcp", "https://host/k/lms_0a1b_…/mcp"),
    ("/sign-in/aZ-_09", "/sign-in/…"),
    ("rediss://lm-api:c0ffee@host:6379", "rediss://…@host:6379"),
    ("http://host/a@b", "http://host/a@b"),
    ("ask_AAECAwQFBgcICQoLDA0ODw", "ask_AAECAwQFBgcICQoLDA0ODw"),
    (f"no /bot123456789:{BOT}/getMe", "no /bot123456789:…/getMe"),
    (f"no /bot123456789%3A{BOT}/getMe", "no /bot123456789%3A…/getMe"),
    (f"no%2Fbot123456789%253a{BOT}%2FgetMe", "no%2Fbot123456789%253a…%2FgetMe"),
    (f"123456789:{BOT}", "123456789:…"),
)


def test_lines_of_json_without_secrets(tmp_path: Path) -> None:
    """Our own log and the libraries' are lines of JSON from the level on, and no secret is in any of them."""
    done = subprocess.run(
        [sys.executable, "-c", TALK],
        cwd=Path(__file__).parents[2],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == ""
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["logger"], line["level"]) for line in lines] == [
        ("ours", "info"),
        ("uvicorn.error", "warning"),
        ("ours", "error"),
    ]
    assert lines[0]["path"] == "/k/lmk_abc_…/mcp"
    assert "ValueError" in lines[2]["exception"]
    assert all("timestamp" in line for line in lines)
    assert "s3cret" not in done.stderr


@pytest.mark.parametrize(("text", "shown"), SECRETS)
def test_masked(text: str, shown: str) -> None:
    """What proves something is blotted out, what only names something stays."""
    assert masked(text) == shown


def test_a_bots_secret_is_blotted_out_alone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows a token has its secret part blotted out wherever it stands, and no other word for one that is short."""
    monkeypatch.setattr(telemetry, "_hidden", set())
    secret = "AAF_" + "c-" * 16
    assert masked(f"key {secret} bad") == f"key {secret} bad"
    telemetry.hide(f"123456789:{secret}")
    telemetry.hide("1:bad")
    telemetry.hide("")
    assert masked(f"key {secret} bad, x{secret}x, {quote(f'9:{secret}', safe='')}") == "key … bad, x…x, 9%3A…"
