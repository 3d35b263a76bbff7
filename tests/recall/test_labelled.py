from collections.abc import Iterator

import pytest

from store.recall.file import IndexFile
from store.recall.query import parse
from store.recall.search import Filter, search
from tests.recall.labelled import APART, BEGIN, SIZE, Question, entries, questions, records

CLASSES = ("name", "words", "script")
NOW = BEGIN + (SIZE + 1) * APART


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexFile]:
    """An index of the labelled set."""
    file = IndexFile(tmp_path_factory.mktemp("labelled") / "set.db")
    mark, lines = file.mark(), list(records())
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


def test_there_is_enough_to_ask() -> None:
    """At least 200 questions over 5,000 entries, of each class a fair part, and no two alike."""
    asked = questions()
    assert len(entries()) == SIZE
    assert len(asked) == len({q.query for q in asked}) >= 200
    assert all(sum(q.kind == kind for q in asked) >= 50 for kind in CLASSES)


def test_what_is_asked_by_name_stands_in_the_answers_alone() -> None:
    """The labels of names follow from the texts: what is asked as it is spelled stands in no other."""
    texts = [str(body).casefold() for body in entries()]
    for question in questions():
        spelled = question.query.casefold()
        if question.kind == "name" and any(spelled in texts[n - 1] for n in question.answers):
            assert {n for n, text in enumerate(texts, 1) if spelled in text} == question.answers, question.query


def test_what_is_asked_for_is_among_the_first_five(filled: IndexFile) -> None:
    """Recall at five over all questions."""
    shares = {q.query: among_five(filled, q) for q in questions()}
    assert sum(shares.values()) / len(shares) >= 0.95, [q for q, share in shares.items() if share < 1]


@pytest.mark.parametrize(("kind", "bar"), [("name", 1.0), ("words", 0.9), ("script", 0.95)])
def test_each_class_is_found(filled: IndexFile, kind: str, bar: float) -> None:
    """Names always; words and other scripts nearly so."""
    shares = {q.query: among_five(filled, q) for q in questions() if q.kind == kind}
    assert sum(shares.values()) / len(shares) >= bar, [q for q, share in shares.items() if share < 1]
