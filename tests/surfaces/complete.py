"""Whether a result's text says all that its structure says."""

import json
import re
from typing import Any

from store.domain.text import one_line

# What the text says in another form: the time as ISO, the author with their program.
OTHERWISE = ("ok", "simulated", "ts", "via", "client", "byline")
AS_JSON = (".payload", ".args", ".text")


def missing(shown: dict[str, Any], text: str) -> list[str]:
    """The parts of a structure that its text leaves out, by their paths."""
    return [path for path, value in _leaves(shown, "") if not _said(path, value, text)]


def _leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    if path.endswith(AS_JSON):
        return [(path, value)]
    if isinstance(value, dict):
        return [leaf for key, each in value.items() if key not in OTHERWISE for leaf in _leaves(each, f"{path}.{key}")]
    if isinstance(value, list):
        return [leaf for n, each in enumerate(value) for leaf in _leaves(each, f"{path}[{n}]")]
    return [(path, value)]


def _said(path: str, value: Any, text: str) -> bool:
    """Whether the text says this, as it is or quoted; of a flag its name must be there."""
    name = re.split(r"[.\[]", path)[-1]
    if path.endswith(AS_JSON):
        return any(_json_at(text, m.end()) == value for m in re.finditer(rf"{name}: |-> \w+ ", text))
    if isinstance(value, bool) or value in ("", None):
        return value in ("", None) or name in text
    return str(value) in text or one_line(str(value), 4000) in text


def _json_at(text: str, start: int) -> Any:
    """The JSON value that begins there, or the text from there on."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except ValueError:
        return text[start:]
