import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.recall.file import IndexFile
from store.recall.query import parse
from store.recall.search import Filter, search
from tests.recall.labelled import APART, BEGIN, FROZEN, LABELLED, SIZE, Question, entries, questions, records

CLASSES = ("name", "words", "script")
NOW = BEGIN + (SIZE + 1) * APART
BARS = {"name": 1.0, "words": 0.9, "script": 0.95}
SETS = {"labelled": LABELLED, "frozen": FROZEN}
FROZEN_AS = "9f47a2b0c3f93bd9170a8ef608b5dc452deef67de61047f616a1a34af239597f"


@pytest.fixture(scope="module", params=SETS)
def data(request: pytest.FixtureRequest) -> Path:
    """One of the sets."""
    return SETS[request.param]


@pytest.fixture(scope="module")
def filled(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexFile]:
    """An index of a set."""
    file = IndexFile(tmp_path_factory.mktemp("labelled") / "set.db")
    mark, lines = file.mark(), list(records(data))
    for n in range(0, len(lines), 500):
        mark = file.add(mark, lines[n : n + 500])
    assert mark.seq == SIZE
    yield file
    file.close()


def among_five(file: IndexFile, question: Question) -> float:
    """Which share of the right answers is among the first five."""
    with file.reading() as db:
        found = search(db, parse(question.query), Filter(), limit=5, now=NOW)
    return len(question.answers & {h.seq for h in found.hits}) / len(question.answers)


@pytest.mark.parametrize(("name", "asked", "each"), [("labelled", 200, 50), ("frozen", 50, 15)])
def test_there_is_enough_to_ask(name: str, asked: int, each: int) -> None:
    """So many questions over 5,000 entries, of each class a fair part, and no two alike."""
    some = questions(SETS[name])
    assert len(entries(SETS[name])) == SIZE
    assert len(some) == len({q.query for q in some}) >= asked
    assert all(sum(q.kind == kind for q in some) >= each for kind in CLASSES)


def test_the_frozen_set_is_as_it_was_written() -> None:
    """Whoever changes it to get a better number changes this too, and says why."""
    assert hashlib.sha256(FROZEN.read_bytes()).hexdigest() == FROZEN_AS
    assert not {q.query for q in questions(FROZEN)} & {q.query for q in questions()}


def test_what_is_asked_by_name_stands_in_the_answers_alone(data: Path) -> None:
    """The labels of names follow from the texts: what is asked as it is spelled stands in no other."""
    texts = [str(body).casefold() for body in entries(data)]
    for question in questions(data):
        spelled = question.query.casefold()
        if question.kind == "name" and any(spelled in texts[n - 1] for n in question.answers):
            assert {n for n, text in enumerate(texts, 1) if spelled in text} == question.answers, question.query


def test_what_is_asked_for_is_among_the_first_five(data: Path, filled: IndexFile) -> None:
    """Recall at five over all questions."""
    shares = {q.query: among_five(filled, q) for q in questions(data)}
    assert sum(shares.values()) / len(shares) >= 0.95, [q for q, share in shares.items() if share < 1]


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_is_found(data: Path, filled: IndexFile, kind: str) -> None:
    """Names always; words and other scripts nearly so."""
    shares = {q.query: among_five(filled, q) for q in questions(data) if q.kind == kind}
    assert sum(shares.values()) / len(shares) >= BARS[kind], [q for q, share in shares.items() if share < 1]
