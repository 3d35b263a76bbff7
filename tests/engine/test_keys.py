"""Keys: whatever agents choose, no key looks like one of another class, and no two things share one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.engine.keys import Keys, of_bot, shared

KEYS = Keys("w")
LABELS = st.text(st.sampled_from("}{:_*a") | st.characters(codec="utf-8"), max_size=12)


def made(label: str) -> list[str]:
    """A key of each class that a text can be part of."""
    return [
        KEYS.place(f"trail:{label}"),
        KEYS.index("same", label),
        KEYS.doc("fact", label),
        KEYS.done("agent:a", label),
        KEYS.mail(label),
        KEYS.card(label),
        of_bot(f"lease:{label}"),
    ]


@given(LABELS)
def test_a_text_closes_no_brace_before_a_colon(label: str) -> None:
    """`}:` stands once in a key: after its space. So `lm:{*}:tg:*` matches what begins like that, and nothing else."""
    for key in made(label):
        assert key.count("}:") == 1
        assert key.index("}:") == key.index("}")
    assert "}:" not in shared("tg:button", label)


@given(LABELS, LABELS)
def test_different_texts_make_different_keys(one: str, other: str) -> None:
    """Nothing is lost on the way into a key."""
    assert (set(made(one)) & set(made(other)) == set()) is (one != other)


@pytest.mark.parametrize("label", ["", "release 1.4", "a:b", "{x", "50%_"])
def test_a_text_without_a_closing_brace_stands_as_it_is(label: str) -> None:
    """Only what could be mistaken is spelled otherwise."""
    assert KEYS.place(f"trail:{label}") == f"lm:{{w}}:place:trail:{label}"


def test_keys_of_a_space_share_its_slot() -> None:
    """What a commit writes has the space between the first braces; what the bot's scripts write has one name there."""
    for key in (KEYS.outbox, KEYS.open_cards, KEYS.term, KEYS.card("ask:a"), KEYS.feed, *made("}{x}")[:6]):
        assert key.partition("{")[2].partition("}")[0] == "w"
    for name in ("inbox", "seen", "offset", "dead", "lease:poller"):
        assert of_bot(name).partition("{")[2].partition("}")[0] == "g:tg"
