"""Texts and their entities by Telegram's rules; all counts are of UTF-16 units."""

import re
from typing import Any

from tests.telegram.emulator.errors import BotError, refuse

Json = dict[str, Any]

NEEDS = {"text_link": "url", "text_mention": "user", "custom_emoji": "custom_emoji_id", "date_time": "unix_time"}
"""Entities that say nothing without this field."""
FOUND_BY_TELEGRAM = {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"}
QUOTES = {"blockquote", "expandable_blockquote"}
CODES = {"code", "pre"}
DATE_FORMAT = re.compile(r"r|w?[dD]?[tT]?")
_BLANK = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f]")
_GONE = re.compile("[\r\u202a-\u202e]")
_FOUND = re.compile(
    r"(?P<bot_command>(?<!\S)/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)"
    r"|(?P<mention>(?<!\w)@[A-Za-z0-9_]{3,32})|(?P<url>https?://\S+)"
)


def units(text: str) -> int:
    """The length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _boundaries(text: str) -> list[int]:
    """Where each character begins, in UTF-16 units, and where the text ends."""
    starts, at = [], 0
    for sign in text:
        starts.append(at)
        at += 2 if ord(sign) > 0xFFFF else 1
    return [*starts, at]


def checked(text: str, entities: list[Json], *, most: int) -> tuple[str, list[Json]]:
    """The text as it will be shown and its entities, moved along with it; a BotError 400 for what is refused."""
    try:
        text.encode()
    except UnicodeEncodeError as broken:
        raise refuse(400, "strings must be encoded in UTF-8") from broken
    if len(entities) > most:
        raise refuse(400, "ENTITIES_TOO_LONG")
    starts = _boundaries(text)
    for entity in entities:
        _check_entity(entity, starts)
    _check_nesting(entities)
    return _cleaned(text, entities, starts)


def _check_entity(entity: Json, starts: list[int]) -> None:
    kind, begin = entity["type"], entity["offset"]
    end, length = begin + entity["length"], starts[-1]
    if begin < 0 or entity["length"] <= 0 or begin >= length:
        raise refuse(400, f"can't parse entities: entity {kind} has an offset or a length out of range")
    if end > length:
        raise refuse(
            400, f"entity beginning at UTF-16 offset {begin} ends after the end of the text at UTF-16 offset {length}"
        )
    if begin not in starts:
        raise refuse(400, f"entity begins in a middle of a UTF-16 symbol at UTF-16 offset {begin}")
    if end not in starts:
        raise refuse(400, f"entity beginning at UTF-16 offset {begin} ends in a middle of a UTF-16 symbol")
    if NEEDS.get(kind, "type") not in entity:
        raise refuse(400, f"can't parse entities: entity {kind} lacks {NEEDS[kind]}")
    if not DATE_FORMAT.fullmatch(entity.get("date_time_format", "")):
        raise refuse(400, "can't parse entities: wrong date_time_format")


def _check_nesting(entities: list[Json]) -> None:
    """Entities lie in each other or apart; code holds nothing, and a quotation no quotation."""
    open_ones: list[Json] = []
    for entity in sorted(entities, key=lambda one: (one["offset"], -one["length"])):
        open_ones = [one for one in open_ones if one["offset"] + one["length"] > entity["offset"]]
        for outer in open_ones:
            if entity["offset"] + entity["length"] > outer["offset"] + outer["length"]:
                raise refuse(400, f"can't parse entities: {outer['type']} and {entity['type']} overlap")
            if outer["type"] in CODES or {outer["type"], entity["type"]} <= QUOTES or outer["type"] == entity["type"]:
                raise refuse(400, f"can't parse entities: {outer['type']} can't hold {entity['type']}")
        open_ones.append(entity)


def _cleaned(text: str, entities: list[Json], starts: list[int]) -> tuple[str, list[Json]]:
    """Control characters become blanks, carriage returns and embeddings go, blanks at both ends are cut."""
    blanked = _BLANK.sub(" ", text)
    kept = [sign for sign in range(len(blanked)) if not _GONE.match(blanked[sign])]
    while kept and blanked[kept[0]].isspace():
        del kept[0]
    while kept and blanked[kept[-1]].isspace():
        del kept[-1]
    if len(kept) == len(blanked):
        return blanked, entities
    moved, at, index = dict[int, int](), 0, set(kept)
    for sign, start in enumerate(starts[:-1]):
        moved[start] = at
        at += (starts[sign + 1] - start) if sign in index else 0
    moved[starts[-1]] = at
    placed = []
    for entity in entities:
        begin, end = moved[entity["offset"]], moved[entity["offset"] + entity["length"]]
        if end > begin:
            placed.append({**entity, "offset": begin, "length": end - begin})
    return "".join(blanked[sign] for sign in kept), placed


def found(text: str) -> list[Json]:
    """The entities that Telegram finds by itself in what people write."""
    starts = _boundaries(text)
    return [
        {
            "type": match.lastgroup,
            "offset": starts[match.start()],
            "length": starts[match.end()] - starts[match.start()],
        }
        for match in _FOUND.finditer(text)
    ]


def body_of_message(params: Json, *, limits: Any) -> tuple[str, list[Json]]:
    """Text and entities of a call that sends or edits; a BotError 400 for what is empty, too long or broken."""
    raw = params.get("text", "")
    if len(raw.encode("utf-8", "surrogatepass")) > limits.raw_text_bytes:
        raise refuse(400, "text is too long")
    entities = [one for one in params.get("entities", []) if one["type"] not in FOUND_BY_TELEGRAM]
    text, entities = checked(raw, entities, most=limits.entities)
    if not text:
        raise refuse(400, "message text is empty")
    if units(text) > limits.text_units:
        raise refuse(400, "message is too long")
    return text, entities


__all__ = ["BotError", "body_of_message", "checked", "found", "units"]
