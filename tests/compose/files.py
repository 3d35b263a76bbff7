"""What docker-compose.yml and the Dockerfile say, read as docker reads them."""

import re
import shlex
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
_VARIABLE = re.compile(r"\$\{(\w+):-([^${}]*)\}")

Instruction = tuple[str, str]


def compose(variables: dict[str, str] | None = None) -> dict[str, Any]:
    """The file with its variables filled in, as `docker compose config` would."""
    loaded = YAML(typ="safe", pure=True).load((ROOT / "docker-compose.yml").read_text())
    found: dict[str, Any] = _filled(loaded, variables or {})
    return found


def _filled(value: Any, variables: dict[str, str]) -> Any:
    match value:
        case str():
            while _VARIABLE.search(value):  # the innermost first
                value = _VARIABLE.sub(lambda found: variables.get(found[1]) or found[2], value)
            return value.replace("$$", "$")
        case dict():
            return {key: _filled(each, variables) for key, each in value.items()}
        case list():
            return [_filled(each, variables) for each in value]
    return value


def seconds(duration: str) -> float:
    """Of `15s` or `10m`."""
    return float(duration[:-1]) * {"s": 1, "m": 60}[duration[-1]]


def instructions() -> list[Instruction]:
    """The Dockerfile's instructions with their arguments, variables of ARG filled in."""
    text = (ROOT / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found: list[Instruction] = []
    variables: dict[str, str] = {}
    for line in joined.splitlines():
        name, _, rest = line.partition(" ")
        rest = " ".join(rest.split())
        for variable, default in variables.items():
            rest = rest.replace(f"${{{variable}}}", default)
        if name == "ARG":
            variable, _, default = rest.partition("=")
            variables[variable] = default
        found.append((name, rest))
    return found


def image_environment() -> dict[str, str]:
    """What ENV sets in the image that is run."""
    last = max(at for at, (name, _) in enumerate(instructions()) if name == "FROM")
    pairs = [pair for name, rest in instructions()[last:] if name == "ENV" for pair in shlex.split(rest)]
    return dict(pair.split("=", 1) for pair in pairs)


def argument(name: str) -> str:
    """The argument of the one instruction of that name."""
    (found,) = [rest for each, rest in instructions() if each == name]
    return found
