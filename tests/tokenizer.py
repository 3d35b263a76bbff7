"""The real o200k tokenizer, for budgets and bounds."""

import importlib
import warnings
from functools import cache
from typing import Any


@cache
def _tokenizer() -> Any:
    """Loaded when it is first needed: it takes 140 MB and a moment."""
    with warnings.catch_warnings():
        # It reads its own data by a function of the standard library that is on its way out.
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module("bpe_openai").get_encoding("o200k_base")


def tokens(text: str) -> int:
    """How many tokens the text has."""
    return len(_tokenizer().encode_ordinary(text))


@cache
def vocabulary() -> list[bytes]:
    """The bytes of every token."""
    return [bytes(raw) for raw in _tokenizer().token_byte_values() if raw]
