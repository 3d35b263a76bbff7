"""The chain: what Python and commit.lua must agree on, and what a link binds."""

import hashlib
import re

import pytest

from store.engine.commit import SCRIPT
from store.ledger.chain import SEGMENT, leaf, line, link, record, segment
from tests.world import World

from .lines import raw_of, tampering, write


def test_segments_are_of_one_size() -> None:
    """The script and the chain put as many entries into a segment."""
    found = re.search(r"^local SEGMENT = (\d+)$", SCRIPT, re.M)
    assert found
    assert int(found[1]) == SEGMENT


@pytest.mark.parametrize(
    ("seq", "at"), [(1, 0), (SEGMENT, 0), (SEGMENT + 1, 1), (2 * SEGMENT, 1), (2 * SEGMENT + 1, 2)]
)
def test_segment_of_a_number(seq: int, at: int) -> None:
    """Numbers start at 1, and a segment ends with a multiple of its size."""
    assert segment(seq) == at


async def test_c51_script_and_chain_agree(empty: World) -> None:
    """Each record that the script wrote has the leaf of its salt and text, and the link after the one before it."""
    ids = await write(empty, SEGMENT + 5, at_once=100)
    before = last = ""
    async with tampering(empty) as hand:
        count = int(ids[-1].partition("-")[2])
        for number in range(1, count + 1):
            found = await hand.read(number)
            assert found.id.partition("-")[2] == str(number)
            assert len(found.salt) == 64
            assert found.leaf == leaf(bytes.fromhex(found.salt), found.text)
            assert found.link == link(before, found.id, found.leaf)
            before, last = found.link, found.id
        sizes = [await hand.admin.hlen(empty.keys.segment(at)) for at in (0, 1)]
    assert sizes == [SEGMENT, count - SEGMENT]
    assert ids[-1] == last


def test_leaf_and_link_are_plain_hashes() -> None:
    """Anybody can compute them: SHA-256 over salt and text, SHA-1 over the link before, the id and the leaf."""
    salt, text = b"\x01" * 32, b'{"kind":"memo"}'
    assert leaf(salt, text) == hashlib.sha256(salt + text).hexdigest()
    assert link("ab", "5-1", "cd") == hashlib.sha1(b"ab5-1cd", usedforsecurity=False).hexdigest()


def test_a_record_is_what_it_was_made_of() -> None:
    """Texts may hold blanks and line breaks; a record falls into its five parts and back."""
    made = line(b'{"summary":"a b  c\\n"}', b"\x02" * 32)
    raw = b"7-3 " + made.leaf.encode() + b" " + b"0" * 40 + b" " + made.salt.encode() + b" " + made.text
    found = record(raw)
    assert (found.id, found.leaf, found.salt, found.text) == ("7-3", made.leaf, made.salt, made.text)
    assert raw_of(found) == raw
    assert not found.redacted
    with pytest.raises(ValueError, match="unpack"):
        record(b"7-3 only three parts")
