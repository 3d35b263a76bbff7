"""Codes, who may send them, and who says that it was them."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.domain.errors import Refused
from store.domain.pairing import (
    CODE_BITS,
    NOBODY,
    Claim,
    Sender,
    check_confirms,
    check_group,
    check_private,
    check_sender,
    claim_id,
    is_in_group,
    is_own_chat,
    new_code,
    plain,
)

SENDER = Sender(update=1, user=7, chat=7, name="Ana")
CLAIM = Claim(
    id="c", person="human:ana", source="console", space="fleet", account=7, name="Ana", username="", update=1, expires=9
)
PEOPLE = {  # who says so: who, where, and whether they manage in which space
    "ana": {"by": "human:ana", "via": "console", "manages": False, "space": "other"},
    "ana's phone": {"by": "human:ana", "via": "telegram", "manages": True, "space": "fleet"},
    "owner": {"by": "human:bo", "via": "console", "manages": True, "space": "fleet"},
    "owner's phone": {"by": "human:bo", "via": "telegram", "manages": True, "space": "fleet"},
    "owner elsewhere": {"by": "human:bo", "via": "console", "manages": True, "space": "other"},
    "approver": {"by": "human:bo", "via": "console", "manages": False, "space": "fleet"},
    "operator": {"by": "system:operator", "via": "system", "manages": True, "space": "fleet"},
    "agent": {"by": "agent:grok", "via": "token", "manages": False, "space": "fleet"},
}


@given(st.binary(min_size=7, max_size=7))
def test_a_code_has_no_two_signs_that_look_alike(bits: bytes) -> None:
    """Ten signs in two halves, fit for a link; what is typed for it is the same code."""
    code = new_code(bits)
    assert re.fullmatch(r"[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}", code)
    assert (
        plain(f"  {code.upper()} ") == plain(code.replace("-", "")) == plain(code.replace("1", "l").replace("0", "O"))
    )


@given(st.binary(min_size=7, max_size=7), st.binary(min_size=7, max_size=7))
def test_codes_are_as_many_as_their_bits(one: bytes, other: bytes) -> None:
    """Each of the bits that count makes another code."""
    same = (int.from_bytes(one) ^ int.from_bytes(other)) % 2**CODE_BITS == 0
    assert (new_code(one) == new_code(other)) is same


def test_a_code_makes_one_claim() -> None:
    """Whoever sends it, in whatever way it is typed; its id is another for another code, and tells none."""
    ids = {claim_id("aaaaa-aaaaa"), claim_id("AAAAAAAAAA"), claim_id("bbbbb-bbbbb")}
    assert len(ids) == 2
    assert all(re.fullmatch("[0-9a-f]{24}", id) for id in ids)


@pytest.mark.parametrize("user", [*sorted(NOBODY), 0, -7, 7])
@pytest.mark.parametrize("chat", [7, -1007, 8])
@pytest.mark.parametrize("kind", ["private", "group", "supergroup", "channel", ""])
def test_who_is_a_person_and_where(user: int, chat: int, kind: str) -> None:
    """A person is in their own chat, or in a group under their own name; nobody is anywhere."""
    at: dict[str, Any] = {"user": user, "chat": chat, "chat_type": kind}
    assert is_own_chat(**at) is ((user, chat, kind) == (7, 7, "private"))
    assert is_in_group(**at) is (user == 7 and chat < 0 and kind in ("group", "supergroup"))
    for check, true in ((check_private, is_own_chat(**at)), (check_group, is_in_group(**at))):
        if true:
            check(**at)
        else:
            with pytest.raises(Refused, match="not_yours"):
                check(**at)


@pytest.mark.parametrize(
    "how",
    [
        {"forwarded": True},
        {"via_bot": True},
        {"is_bot": True},
        {"chat": 8},
        {"chat": -100, "chat_type": "group"},
        {"chat_type": "channel"},
        {"user": 0, "chat": 0},
        {"user": -7, "chat": -7},
        *({"user": nobody, "chat": nobody} for nobody in sorted(NOBODY)),
    ],
)
def test_a_code_counts_from_a_person_in_their_own_chat(how: dict[str, Any]) -> None:
    """Any other way is refused."""
    check_sender(SENDER)
    with pytest.raises(Refused) as no:
        check_sender(replace(SENDER, **how))
    assert no.value.code == "not_yours"


@pytest.mark.parametrize(
    ("source", "who"),
    [("console", {"ana"}), ("terminal", {"ana", "operator"}), ("command", {"ana", "owner"})],
)
def test_who_confirms(source: Any, who: set[str]) -> None:
    """The person in their console; the operator what their own terminal made; an owner there what the command made."""
    for name, person in PEOPLE.items():
        if name in who:
            check_confirms(replace(CLAIM, source=source), **person)  # type: ignore[arg-type] # a table of them
            continue
        with pytest.raises(Refused) as no:
            check_confirms(replace(CLAIM, source=source), **person)  # type: ignore[arg-type] # a table of them
        assert no.value.code == "not_yours"
