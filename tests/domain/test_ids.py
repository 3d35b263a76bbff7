"""Ids: what is accepted, what a refusal says, what new ids look like, and what an id names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.domain.errors import Refused
from store.domain.ids import (
    ITEM_BITS,
    PRINCIPALS,
    TRAIL_BITS,
    Shape,
    as_id,
    bare,
    known,
    meant,
    near,
    new_item,
    new_note,
    new_trail,
    parse_place,
    principal,
    shape,
)

ID = r"[a-z0-9][a-z0-9._-]{0,62}"


def malformed(text: object, **how: object) -> Refused:
    """The refusal of a principal."""
    with pytest.raises(Refused) as caught:
        principal(text, **how)  # type: ignore[arg-type]  # the test passes what the test says
    assert caught.value.code == "malformed_id"
    return caught.value


@pytest.mark.parametrize("id", ["a", "0", "codex", "a.b_c-d", "x" * 63, "1764499682123"])
@pytest.mark.parametrize("kind", PRINCIPALS)
def test_an_id_after_its_prefix_is_accepted(kind: str, id: str) -> None:
    """Principals of every kind, with ids at the edges of the rule."""
    assert principal(f"{kind}:{id}") == f"{kind}:{id}"


@pytest.mark.parametrize(
    "id",
    [
        "",
        "x" * 64,
        ".a",
        "-a",
        "_a",
        "A",
        "é",
        "a b",
        "a\n",
        "\na",
        "a:b",
        "a/b",
        "a*",
        "\uff41",
        "a\u200b",
        "a\0",
        "{a}",
        "٣",
    ],
)
def test_an_id_outside_the_rule_is_refused(id: str) -> None:
    """Nothing that could be mistaken for another id, or for part of a key, passes."""
    malformed(f"agent:{id}")
    malformed(id, default="agent")


def test_a_bare_id_is_accepted_where_one_kind_can_be_meant() -> None:
    """Without a prefix an id is of the default kind, and of none where there is no default."""
    assert principal("codex", default="agent") == "agent:codex"
    assert principal("human:ana", default="agent") == "human:ana"
    assert parse_place("billing", default="job") == "job:billing"
    assert bare("billing", "job") == bare("job:billing", "job") == "billing"
    assert "agent:<id>, human:<id> or system:<id>" in malformed("codex").message


def test_a_bare_id_may_mean_an_agent_or_a_person() -> None:
    """Whose it is only the space knows; what has its kind means that, and a slip is told as what may stand alone."""
    assert meant("ana") == ("agent:ana", "human:ana")
    assert meant("ana", ("human", "role")) == ("human:ana",)
    assert meant("human:ana") == ("human:ana",)
    assert meant("role:review", ("agent", "role")) == ("role:review",)
    for text, close in ((" Ana", ["ana"]), ("Human:Ana", ["human:ana"]), ("?", None), ("job:ana", None)):
        with pytest.raises(Refused, match=r"\(or the id alone, for agent or human\)") as no:
            meant(text, name="to")
        assert (no.value.code, no.value.facts.get("near")) == ("malformed_id", close)


def test_only_the_kinds_that_are_asked_for_are_accepted() -> None:
    """A place is no system, a recipient no channel, a job no agent."""
    assert principal("human:ana", ("agent", "human")) == "human:ana"
    malformed("system:scheduler", kinds=("agent", "human"))
    for text in ("system:scheduler", "world:x", "channel", "channel:", ":x", "agent"):
        with pytest.raises(Refused, match=r"channel:<id>, job:<id>, agent:<id> or human:<id>"):
            parse_place(text)
    with pytest.raises(Refused, match=r"job is \"agent:x\"\. Expected is job:<id> \(or the id alone, for job\)"):
        bare("agent:x", "job")


@pytest.mark.parametrize("text", [None, 5, True, 1.5, ["agent:x"], {"agent": "x"}, b"agent:x", 10**300])
def test_what_is_no_text_is_refused(text: object) -> None:
    """A number, a list or null in place of an id is a malformed id, never a crash."""
    assert malformed(text, default="agent").facts["argument"] == "principal"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Agent:Codex", "agent:codex"),
        (" codex ", "agent:codex"),
        ("Ana Lee", "agent:ana-lee"),
        ("agent:a\n", "agent:a"),
        ("José Díaz", "agent:jose-diaz"),
        ("human: Jürgen Groß", "human:jurgen-gross"),
        ("Łukasz Ørsted", "agent:lukasz-orsted"),
        ("a" * 64, None),
        ("team:x", None),
        ("李", None),
        ("x" * 500, None),
    ],
)
def test_a_refusal_says_what_was_probably_meant(text: str, meant: str | None) -> None:
    """A slip of case or blanks is answered with the id that is right, and is not accepted in silence."""
    refusal = malformed(text, default="agent")
    assert refusal.facts.get("near") == ([meant] if meant else None)
    assert ("Did you mean" in refusal.message) == bool(meant)


@pytest.mark.parametrize(
    ("name", "id"),
    [("Ana López", "ana-lopez"), ("  J. R.  ", "j.-r."), ("_x_", "x_"), ("O'Neil", "o-neil"), ("A" * 99, "a" * 63)],
)
def test_names_become_ids(name: str, id: str) -> None:
    """A name as people write it becomes an id, as far as an id can say it."""
    assert as_id(name) == id


def test_a_foreign_name_stays_readable_in_a_refusal() -> None:
    """Letters of any script are shown as they are; what acts or hides in a line is escaped."""
    assert '"José Díaz 李 Ünal"' in malformed("José Díaz 李 Ünal").message
    hidden = malformed("J\u00fcrgen\u202e\u200b\x1b[2J\n").message
    assert r'"Jürgen\u202e\u200b\u001b[2J\n"' in hidden
    assert hidden.isprintable()


@given(st.text())
def test_a_refusal_repeats_little_of_the_text_and_nothing_raw(text: str) -> None:
    """What was sent is echoed as one inert line of at most 80 characters."""
    said = ""
    try:
        named = principal(text, default="agent")
    except Refused as refused:
        said, named = refused.message, "agent:x"
    assert said.replace("\u3000", " ").isprintable()
    assert len(said) < 500
    assert re.fullmatch(rf"(agent|human|system):{ID}", named)


def test_a_trail_carries_all_its_bits() -> None:
    """128 bits in 22 characters of base64url, none lost and none added."""
    assert new_trail(bytes(16)) == "ask_" + "A" * 22
    assert new_trail(b"\xff" * 16) == "ask_" + "_" * 21 + "w"
    one_bit = {new_trail((1 << n).to_bytes(16)) for n in range(TRAIL_BITS)}
    assert len(one_bit) == TRAIL_BITS
    assert all(re.fullmatch(r"ask_[A-Za-z0-9_-]{22}", trail) for trail in one_bit)


@pytest.mark.parametrize(("new", "prefix"), [(new_item, "ci_"), (new_note, "mb_")])
def test_a_short_id_carries_fifty_bits(new: object, prefix: str) -> None:
    """The first 50 bits make ten characters without i, l, o and u."""
    assert callable(new)
    assert new(bytes(7)) == prefix + "0" * 10
    assert new(b"\xff" * 7) == prefix + "z" * 10
    assert new(b"\xff" + bytes(6)) == prefix + "zw00000000"
    one_bit = {new((1 << n).to_bytes(7)) for n in range(56)}
    assert len(one_bit) == ITEM_BITS + 1  # the last six bits are not used
    assert all(re.fullmatch(prefix + "[0-9a-hjkmnp-tv-z]{10}", id) for id in one_bit)


@pytest.mark.parametrize(
    ("new", "bits"), [(new_trail, 15), (new_trail, 17), (new_trail, 0), (new_item, 6), (new_note, 0)]
)
def test_too_few_bits_make_no_id(new: object, bits: int) -> None:
    """An id that could be guessed is an error of the caller."""
    assert callable(new)
    with pytest.raises(ValueError, match="bits"):
        new(bytes(bits))


@given(st.binary(min_size=16, max_size=16))
def test_new_ids_have_the_shape_of_their_kind(bits: bytes) -> None:
    """What is made here is recognised here, and is accepted as what it is."""
    for id, what in (
        (new_trail(bits), Shape.ASK),
        (new_item(bits), Shape.ITEM),
        (new_note(bits), Shape.MAILBOX_NOTE),
    ):
        assert shape(id) is what
        assert known(id, (what,), name="what") == (what, id)


@pytest.mark.parametrize(
    ("id", "what"),
    [
        ("ask_AAAAAAAAAAAAAAAAAAAAAA", Shape.ASK),
        ("ci_01jd8x2k4m", Shape.ITEM),
        ("mb_01jd8x2k4m", Shape.MAILBOX_NOTE),
        ("1764499682123-481", Shape.ENTRY),
        ("1-0", Shape.ENTRY),
        ("channel:general", Shape.PLACE),
        ("job:billing", Shape.PLACE),
        ("agent:codex", Shape.PLACE),
        ("human:ana", Shape.PLACE),
        ("system:scheduler", None),
        ("billing", None),
        ("ask_AAAAAAAAAAAAAAAAAAAAA", None),
        ("ask_AAAAAAAAAAAAAAAAAAAAAB", None),
        ("ask_AAAAAAAAAAAAAAAAAAAAAAA", None),
        ("ci_01jd8x2k4", None),
        ("ci_01JD8X2K4M", None),
        ("ci_01jd8x2k4u", None),
        ("mb_01jd8x2k4m\n", None),
        ("0-1", None),
        ("01-1", None),
        ("1764499682123-", None),
        ("-1", None),
        ("1-01", None),
        ("٣-1", None),
        ("job:", None),
        ("", None),
        ("9" * 100_000, None),
        (None, None),
        (17, None),
    ],
)
def test_an_id_says_what_it_names(id: object, what: Shape | None) -> None:
    """Only the exact form counts; a near miss names nothing."""
    assert shape(id) is what


def test_an_id_of_another_kind_is_refused_with_what_it_is() -> None:
    """Somebody who gives an item where a trail belongs is told so."""
    with pytest.raises(
        Refused, match=r'trail is "ci_01jd8x2k4m", which has the form of an item\. Expected is ask: ask_'
    ):
        known("ci_01jd8x2k4m", (Shape.ASK,), name="trail")
    with pytest.raises(
        Refused, match=r'what is "x"\. Expected is ask: .*; item: .*; mailbox note: .*; entry: .*; place: '
    ):
        known("x", name="what")
    assert known("job:x", name="what") == (Shape.PLACE, "job:x")


@pytest.mark.parametrize(
    ("id", "says"),
    [
        ("ask_AAECAwQFBgcICQoLDA0ODB", "no ask of ours: a character in it is wrong"),
        ("ask_AAECAwQFBgcICQoLDA0OD", "no ask of ours: it was cut"),
        ("ask_AAECAwQFBgcICQoLDA0ODwA", "no ask of ours: it is too long"),
        ("ci_01jd8x2k4u", "no item of ours: a character in it is wrong"),
    ],
)
def test_an_id_that_was_changed_is_told_so(id: str, says: str) -> None:
    """What begins like an id of ours and is none is told where it went wrong, not what it looks like."""
    with pytest.raises(Refused, match=says):
        known(id, name="what")


def test_near_names_are_found() -> None:
    """The nearest come first, whatever their case, and what is far is left out."""
    assert near("codx", ["muse", "codex", "cod", "billing"])[0] == "codex"
    assert near("Fleet", ["float", "fleet"])[0] == "fleet"
    assert near("fleet", ["FLEET", "x"]) == ["FLEET"]
    assert near("zzz", ["codex", "muse"]) == []
    assert near("abcdef", ["fedcba"]) == []
    assert near("agent:codx", ["agent:codex", "agent:muse"], n=1) == ["agent:codex"]
    assert near("job", [f"job{n}" for n in range(9)]) == ["job0", "job1", "job2"]


@pytest.mark.parametrize("name", [None, 5, "", " ", "\ud800", "x" * 100_000, ["a"]])
def test_near_never_raises(name: object) -> None:
    """A hint is never a reason to fail."""
    near(name, ["", "x" * 100_000, "\ud800", "a"])
    assert near(name, []) == []
    assert near(name, ["a"], n=0) == []


def test_near_looks_at_a_bounded_number() -> None:
    """An endless supply of candidates is not read to its end."""

    def endless() -> object:
        while True:
            yield "codex"

    assert near("codx", endless()) == ["codex"]  # type: ignore[arg-type]  # a generator of texts


@pytest.mark.parametrize(
    ("id", "what"),
    [
        ("ci_0123456789", "an item's id"),
        ("hd_0123456789", "a huddle's id"),
        ("mb_0123456789", "a mailbox note's id"),
        ("fa_0123456789", "a fact's id"),
        (f"ask_{'a' * 21}g", "an ask's id"),
        ("1764499682123-7", "an entry's id"),
    ],
)
def test_no_job_or_channel_is_named_like_an_id(id: str, what: str) -> None:
    """What is the id of something else is refused as that; a name that only begins like one is a name."""
    for text in (id, f"job:{id}"):
        with pytest.raises(Refused, match=f"has the form of {what} and names no job") as no:
            bare(text, "job")
        assert (no.value.code, no.value.facts["argument"]) == ("malformed_id", "job")
    for text in (id, f"channel:{id}"):
        with pytest.raises(Refused, match=f"has the form of {what} and names no channel"):
            parse_place(text, default="channel")
    assert parse_place("job:ci_pipeline") == "job:ci_pipeline"
