"""Refusals: the table of codes, and what a surface gets to see."""

import copy
import pickle
import re

import pytest

from store.domain.errors import STATUS, Refused

# The table of the specification, spelled a second time on purpose: a code that changes its status breaks clients.
EXPECTED = {
    400: "invalid_argument unknown_argument malformed_id too_long payload_not_canonical reason_required reserved_kind "
    "digest_required scope_undeclared scope_mismatch",
    401: "unauthenticated key_expired key_revoked",
    403: "identity_mismatch scope_denied humans_only not_an_approver not_yours assurance_too_low",
    404: "not_found scope_unknown unknown_recipient",
    409: "already_settled already_redeemed already_checked_in not_approved digest_mismatch expired lapsed taken_back "
    "stale action_conflict open_obligations job_exists job_done skill_missing window_not_open window_closed id_taken",
    413: "payload_too_large",
    423: "paused",
    429: "rate_limited too_many_pending room_full",
    503: "busy store_unavailable store_full store_read_only audit_unavailable unconfirmed",
}


def test_every_code_has_the_status_of_the_table() -> None:
    """The codes and their statuses are those of the specification, no more and no fewer."""
    assert dict(STATUS) == {code: status for status, codes in EXPECTED.items() for code in codes.split()}


@pytest.mark.parametrize("code", list(STATUS))
def test_codes_are_plain_words(code: str) -> None:
    """A code can stand before a colon in a text block and as a key in JSON."""
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)


def test_a_refusal_reads_as_code_and_message() -> None:
    """What a refusal says begins with its code, and its body has the facts beside them."""
    refused = Refused("lapsed", "It held for 24 h. Nothing ran.", trail="ask_x", held_ms=86_400_000)
    assert str(refused) == "lapsed: It held for 24 h. Nothing ran."
    assert refused.status == 409
    assert refused.body == {
        "code": "lapsed",
        "message": "It held for 24 h. Nothing ran.",
        "trail": "ask_x",
        "held_ms": 86_400_000,
    }


def test_the_body_is_a_copy() -> None:
    """Who writes into a body does not change the refusal."""
    refused = Refused("stale", "It changed.", revision=3)
    refused.body["revision"] = 4
    assert refused.body["revision"] == 3


def test_an_unknown_code_is_an_error_of_the_programmer() -> None:
    """A code that is not in the table cannot be raised at all."""
    with pytest.raises(ValueError, match="no code of a refusal"):
        Refused("sorry", "That did not work.")


def test_the_table_cannot_be_changed() -> None:
    """Nobody adds a code at run time."""
    with pytest.raises(TypeError):
        STATUS["sorry"] = 400  # type: ignore[index]  # this is what is tested


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda refused: pickle.loads(pickle.dumps(refused))])
def test_a_refusal_can_cross_processes(again: object) -> None:
    """A refusal that is copied or pickled says the same as before, facts included."""
    assert callable(again)
    refused = Refused("id_taken", "There is one already.", near=["agent:x"])
    assert again(refused).body == refused.body


def test_who_only_reads_is_not_told_that_nothing_was_written() -> None:
    """Whatever words say so, and wherever they stand; what went wrong in the store is said alike to all."""
    for said in ("It is x. Nothing was written. Say y", "It is x. Nothing changed. Say y", "It is x. Say y"):
        no = Refused("not_found", said, near=[]).of_a_read()
        assert (no.code, no.message, no.facts) == ("not_found", "It is x. Say y", {"near": []})
    lost = Refused("store_unavailable", "The store does not answer. Nothing was written.")
    assert lost.of_a_read() is lost
