"""What the bot says in one message: text, entities and buttons, as the Bot API spells them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Spelled = Mapping[str, Any]  # a MessageEntity or an InlineKeyboardButton in the JSON of the Bot API


@dataclass(frozen=True, kw_only=True)
class Message:
    """`entities` count in UTF-16 units. `rows` are inline buttons; none at all takes a message's buttons away.

    `hash` names everything a person sees of it: two messages with the same hash look the same. `pages` is how many the
    whole card has.
    """

    text: str
    entities: tuple[Spelled, ...] = ()
    rows: tuple[tuple[Spelled, ...], ...] = ()
    hash: str = ""
    pages: int = 1
