"""What happens, as it happens: one line for each event, for eyes or as JSON. What agents wrote is quoted and inert."""

import asyncio
import json
import shutil
import string
import sys
import textwrap
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from store.domain.text import one_line, quoted

from .. import show
from .script import CLAUDE, CODEX, GROK, MUSE, SHOWN, Telling, Told

STYLES = {CLAUDE: "bold yellow", CODEX: "bold cyan", MUSE: "bold magenta", GROK: "bold blue", "scheduler": "bold"}
PERSON, DEMO = "bold green", "dim"
NAME = max(map(len, STYLES))  # columns
BESIDE = 2 + len("00:00") + 2 + NAME + 2  # columns to the left of what is told
NARROW = 40  # columns below which nothing is folded


class _Words(string.Formatter):
    """Fills a telling: `!q` quotes; a text that is not quoted must be one of ours, or is quoted nevertheless."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion != "q":
            return super().convert_field(value, conversion)
        return _quoted(value)


def _quoted(value: Any) -> str:
    match value:
        case str():
            return quoted(value, SHOWN)
        case list():
            return ", ".join(map(_quoted, value))
        case dict():
            return json.dumps(value)  # in ASCII, on one line
    return str(value)


def words(tell: Telling, told: Told, *, code: str = "") -> str:
    """What an event is told as. KeyError, IndexError: the result has not what it needs."""
    if not isinstance(tell, str):
        return tell(told)
    return _Words().format(tell, a=told.args, r=told.result, said=told.said, code=code)


@dataclass(slots=True)
class Teller:
    """Prints events; `pace` is how long (seconds) each is left to be read. `zone` is that of the times shown."""

    json: bool
    pace: float
    zone: str = "UTC"
    scene: str = ""

    async def title(self, at: datetime, title: str) -> None:
        """A scene begins."""
        self.scene = title
        if self.json:
            show.as_json({"event": "scene", "at": at.isoformat(), "title": title})
            return
        show.line("")
        show.styled((f"{self._day(at)}  {title}", "bold"))
        await self._pause()

    async def step(self, at: datetime, who: str, text: str, **facts: Any) -> None:
        """Somebody did something; `facts` are for programs."""
        if self.json:
            show.as_json(
                {"event": "step", "scene": self.scene, "at": at.isoformat(), "who": who, "text": text, **facts}
            )
            return
        name = who.partition(":")[2]
        style = PERSON if who.startswith("human:") else STYLES.get(name, PERSON)
        clock = f"{at.astimezone(ZoneInfo(self.zone)):%H:%M}"
        first, *more = _folded(_flat(text))
        show.styled((f"  {clock}", "dim"), "  ", (name.ljust(NAME), style), f"  {first}")
        for each in more:
            show.line(" " * BESIDE + each)
        await self._pause()

    def remark(self, text: str, **facts: Any) -> None:
        """The demo itself says something."""
        if self.json:
            show.as_json({"event": "remark", "text": " ".join(text.split()), **facts})
            return
        for line in text.splitlines():
            show.line(line)

    def _day(self, at: datetime) -> str:
        return f"{at.astimezone(ZoneInfo(self.zone)):%a %H:%M}"

    async def _pause(self) -> None:
        if self.pace:
            await asyncio.sleep(self.pace)


def _folded(text: str) -> list[str]:
    """The text as it fits beside time and name on a terminal; whole for whatever else reads it."""
    room = shutil.get_terminal_size().columns - BESIDE
    if not sys.stdout.isatty() or room < NARROW:
        return [text]
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]


def _flat(text: str) -> str:
    """Our own sentence; whatever is in it keeps to one line."""
    return text if text.isprintable() else one_line(text, len(text) * 10)
