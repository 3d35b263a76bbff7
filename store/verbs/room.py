"""Results and refusals within their budget, in whatever script their texts are: what is dear is cut and counted.

    within(result) -> result
    refusal_within(refusal) -> refusal

Verbs bound their lists by themselves; this is the last guard. A payload or text that was asked for stays whole, and so
does an entry in full.
"""

import json
from collections.abc import Mapping
from typing import Any

from ..domain.errors import Refused
from ..domain.listing import LONG, some
from .call import Result
from .paging import plain, price, squeezed

LIMIT = 1850  # tokens; text says a few things with more words than JSON
STEPS = (400, 200, 100, 60)  # tokens that a text may cost, and a list of texts twice that, until all of it fits
ASKED_FOR = ("payload", "text")  # of a result
MESSAGE = 1200  # tokens of a refusal's sentences


def within(result: Mapping[str, Any]) -> Result:
    """The result with what is dearest in it cut, if it would cost too much."""
    asked = {key: value for key, value in result.items() if key in ASKED_FOR or _in_full(result, key)}
    rest = {key: value for key, value in result.items() if key not in asked}
    fit = _fit(rest, limit=LIMIT)
    if fit is rest:
        return dict(result)
    ordered = {key: asked.get(key, fit.get(key)) for key in result if key in asked or key in fit}
    return {**ordered, **fit}


def refusal_within(no: Refused) -> Refused:
    """The refusal with its facts and sentences bounded likewise."""
    if _bytes(no.body) <= LIMIT:
        return no
    message = squeezed(no.message, budget=MESSAGE)
    return Refused(no.code, message, **_fit(no.facts, limit=LIMIT - price(message)))


def _in_full(result: Mapping[str, Any], key: str) -> bool:
    """Whether this is the entry that was asked for by its id."""
    return key == "entry" and isinstance(result[key], dict) and result[key].get("id") == result.get("what")


def _bytes(value: Any) -> int:
    """No text has more tokens than bytes."""
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))


def _fit(rest: Mapping[str, Any], *, limit: int) -> Mapping[str, Any]:
    if _bytes(rest) <= limit:
        return rest
    for step in STEPS:
        if price(rest) <= limit:
            break
        rest = _cut(rest, step)
    return rest


def _cut(value: Any, step: int) -> Any:
    """The value with each of its texts cut to so many tokens, and lists of texts to twice that."""
    match value:
        case str():
            return value if plain(value) else squeezed(value, budget=step)
        case Mapping():
            return _cut_object(value, step)
        case list() | tuple():
            return [_cut(each, step) for each in value]
    return value


def _cut_object(value: Mapping[str, Any], step: int) -> Result:
    cut: Result = {}
    for key, each in value.items():
        if key == "payload" and "id" in value and price(each) > step:
            cut[LONG] = len(json.dumps(each, ensure_ascii=False))
        elif isinstance(each, list | tuple) and each and all(isinstance(text, str) for text in each):
            texts = [_cut(text, step) for text in each]
            cut[key] = some(texts, budget=2 * step)
            if left := len(texts) - len(cut[key]) + value.get(f"{key}_left_out", 0):
                cut[f"{key}_left_out"] = left
        elif not key.endswith("_left_out") or key not in cut:
            cut[key] = _cut(each, step)
    return cut
