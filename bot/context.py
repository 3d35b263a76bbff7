"""What a handler of updates is handed: it decides nothing, and says nothing itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from store.engine.copies import Copies

from .deck import Cards
from .door import Door

__all__ = ["Context"]


@dataclass(frozen=True, kw_only=True)
class Context:
    """`me` is the bot as getMe shows it: id, username, first_name."""

    door: Door
    cards: Cards
    copies: Copies
    me: Mapping[str, Any]
