"""Entries in a list: short enough that a list of them is cheap to read; `view {what: <id>}` has each in full."""

import json
from collections.abc import Sequence
from typing import Any

from .entry import Logged
from .tokens import tokens_upper

WIDTH = 200  # characters of a summary
PAYLOAD = 300  # characters of a payload as JSON; a longer one is named by its length
BUDGET = 1200  # tokens of a list
LEFT_OUT = ("ts", "client")  # said by `at` and `byline` already


def listed(entries: Sequence[Logged], *, budget: int = BUDGET) -> list[dict[str, Any]]:
    """The newest entries that fit `budget` tokens, oldest first."""
    lines: list[dict[str, Any]] = []
    for entry in reversed(entries):
        line = _line(entry)
        budget -= tokens_upper(json.dumps(line, ensure_ascii=False, separators=(",", ":"))) + 1
        if budget < 0:
            break
        lines.append(line)
    return lines[::-1]


def _line(entry: Logged) -> dict[str, Any]:
    shown = {k: v for k, v in entry.shown().items() if k not in LEFT_OUT}
    over = len(shown["summary"]) - WIDTH
    if over > 0:
        shown["summary"] = f"{shown['summary'][:WIDTH]}… (+{over} characters)"
    if "payload" in shown and (size := len(json.dumps(shown["payload"], ensure_ascii=False))) > PAYLOAD:
        shown["payload_characters"] = size
        del shown["payload"]
    return shown
