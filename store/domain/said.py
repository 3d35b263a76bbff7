"""What a person said when they decided: the answer and the reason, from the entry that holds them."""

from .entry import Logged
from .text import one_line

SHOWN = 200  # characters of an answer or a reason in a sentence


def words_of(said: Logged | None) -> dict[str, str]:
    """The answer and the reason that a person gave in this entry (of `grounds`); neither where they gave none."""
    payload = said.entry.payload if said and said.entry else None
    if not isinstance(payload, dict):
        return {}
    return {k: payload[k] for k in ("answer", "reason") if payload.get(k)}


def quoted_words(said: Logged | None) -> str:
    """`: "the answer", reason "why"`, or '' when nothing was said."""
    words = {k: one_line(text, SHOWN) for k, text in words_of(said).items()}
    if "answer" in words and "reason" in words:
        return f": {words['answer']}, reason {words['reason']}"
    return "".join(f": {text}" for text in words.values())
