from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.recall.file import IndexFile
from store.recall.query import parse
from store.recall.stem import stem
from store.recall.words import clean, fold, pieces
from tests.recall.files import filled, find, numbers

# One entry and queries that find it; beside it stand all the others.
FOUND: dict[str, tuple[str, ...]] = {
    "Retries of the upload were capped": ("retry", "upload retries", "retried uploads", "capping", "uplo", "RETRIES"),
    "See store/engine/feed.py:41 for the tail": ("store/engine/feed.py", "engine/feed", "feed.py", "feed.py:41"),
    "Renamed getUserName, was get_user_name": ("getUserName", "getusername", "get_user_name", "user name", "username"),
    "mail bob.smith+x@mail.example today": ("bob.smith+x@mail.example", "bob.smith", "mail.example", "smith"),
    "TASK-123 depends on v1.20.3 and utf-8": ("TASK-123", "task 123", "task123", "v1.20.3", "1.20.3", "utf8", "UTF-8"),
    "Tagged v2.14.0-rc.3, built with 4.1.7": ("v2.14.0-rc.3", "2.14.0-rc.3", "V2.14.0-RC.3", "4.1.7", "v4.1.7"),
    "a rate-limited re-index of co-workers": ("rate-limited", "rate limit", "ratelimited", "reindex", "coworkers"),
    "Größe der Anhänge überprüfen": ("groesse" "n", "grosse", "GRÖSSE", "uberprufen", "Anhang", "prüfen"),
    "Le café est fermé, naïveté": ("cafe", "ferme", "naivete", "CAFÉ"),
    "認証サーバの再起動が必要": ("認証", "証", "サーバ", "ｻｰﾊﾞ", "再起動", "必要", "要", "再起動 認証"),
    "数据库备份失败": ("备", "备份", "数据库", "失败 数据库", "败"),
    "서버를 재시작했다": ("서버", "재시작", "서버 재시작", "버"),
    "تم تحديث الخادم الجديد": ("خادم", "الخادم", "تَحديث", "جديد"),
    "Перезапустили сервер платежей": ("сервера", "платежи", "перезапуск", "СЕРВЕР"),
    "ישיבה עם הצוות מחר": ("צוות", "ישיבה"),
    "भुगतान धीमा है": ("भुगतान", "धीमा"),
    "ยกเลิกการจอง": ("ยกเลิก", "จอง"),
    "Shipped 🚀 with 👍🏽 from all": ("🚀", "👍", "👍🏿", "shipped 🚀"),
    "Deadlock 40P01 in C++ and .NET code, #urgent": ("40P01", "40p01", "c++", ".net", "#urgent", "urgent"),
    "Kept at https://x.example/a/b?c=d&e=%20f": ("https://x.example/a/b?c=d&e=%20f", "x.example/a", "x.example"),
    "Ａｌｌ ｗｉｄｅ ｌｅｔｔｅｒｓ": ("all wide", "letters", "Ｗｉｄｅ"),
    "Authentication of zero\u200bwidth characters": ("zerowidth", "authent", "authenticated"),
}  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexFile]:
    """An index of all these."""
    file = filled(tmp_path_factory.mktemp("search") / "x.db", *FOUND)
    yield file
    file.close()


@pytest.mark.parametrize(("entry", "query"), [(e, q) for e, queries in FOUND.items() for q in queries])
def test_it_is_found(file: IndexFile, entry: str, query: str) -> None:
    """Any script, inflection, part or spelling of a name finds its entry first."""
    assert numbers(file, query)[:1] == [list(FOUND).index(entry) + 1]


@pytest.mark.parametrize(
    "query",
    [
        '"', '""', '"upload', "*", "upload*", "^upload", "upload^2", "NEAR(upload, 5)", "NEAR", "AND", "upload AND",
        "OR OR", "NOT", "-upload", "head:upload", "{head rest}: upload", "(upload", ")", "upload)", "+", "';--", "%",
        "upload + retries", "_",
        "\\", "upload\\", "\ue001memo", "\ue002", "tags:upload", "''", "`", "?", "upload\nretries\t", "￾", "\ufffd",
    ],
)  # fmt: skip
def test_no_sign_means_anything(file: IndexFile, query: str) -> None:
    """What a query language would read as its own is words or nothing, and never an error."""
    found = numbers(file, query)
    assert ("upload" not in query) or found[:1] == [1]


@settings(max_examples=400, deadline=None)
@given(query=st.text(max_size=500))
def test_any_query_is_answered(file: IndexFile, query: str) -> None:
    """No text breaks the search."""
    find(file, query)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=120)


@settings(max_examples=200, deadline=None)
@given(summary=TEXT)
def test_an_entry_is_found_by_its_own_words(tmp_path_factory: pytest.TempPathFactory, summary: str) -> None:
    """Whatever somebody wrote is found by the first word of it, if it has one."""
    file = filled(tmp_path_factory.mktemp("own") / "x.db", summary)
    try:
        for chunk in clean(summary).split()[:1]:
            if parse(chunk).units:
                assert numbers(file, chunk) == [1]
    finally:
        file.close()


def test_a_query_of_marks_has_no_words() -> None:
    """So the caller can be told."""
    assert [parse(q).units for q in ("", " ", "?!", "-- ** --", "\u200b")] == [()] * 5


def ranked(tmp_path: Path, query: str, *entries: dict[str, Any], **more: Any) -> list[int]:
    """What a query finds among these entries, best first."""
    file = filled(tmp_path / "x.db", *entries)
    found = numbers(file, query, **more)
    file.close()
    return found


def test_what_was_settled_comes_before_what_was_on_the_way(tmp_path: Path) -> None:
    """Of entries that say the same, facts and decisions stand first."""
    said = "Tokens rotate nightly"
    kinds = ("progress", "fact", "started", "decided", "recap")
    found = ranked(tmp_path, "token rotation", *({"summary": said, "kind": kind} for kind in kinds))
    assert set(found[:2]) == {2, 4}
    assert found[2:] == [5, 1, 3]


def test_the_fresh_comes_before_the_old(tmp_path: Path) -> None:
    """Of entries that say the same, the newer stands first."""
    assert ranked(tmp_path, "red door", *({"summary": "The red door"} for _ in range(3))) == [3, 2, 1]


def test_more_of_the_query_weighs_more_than_fresh(tmp_path: Path) -> None:
    """All words beat some, and rare words beat common ones."""
    lines = [{"summary": "Rotate the token of the mailer"}, *({"summary": f"token {n}"} for n in range(30))]
    assert ranked(tmp_path, "mailer token rotation", *lines)[0] == 1


def test_filters_narrow(tmp_path: Path) -> None:
    """By kind and by place, also for names; a trail and an author are places too."""
    lines = (
        {"summary": "TASK-7 is slow", "kind": "fact"},
        {"summary": "TASK-7 is slow", "where": "job:y", "trail": "t 1"},
        {"summary": "TASK-7 is slow", "by": "agent:codex"},
    )
    file = filled(tmp_path / "x.db", *lines)
    for query in ("slow", "TASK-7", "task"):
        assert numbers(file, query, kinds=("fact",)) == [1]
        assert numbers(file, query, where="job:y") == [2]
        assert numbers(file, query, where="trail:t 1") == [2]
        assert numbers(file, query, where="agent:codex") == [3]
        assert numbers(file, query, kinds=("fact",), where="job:y") == []
        assert numbers(file, query, kinds=("fact", "memo"), where="channel:x") == [1, 3]
    file.close()


def test_labels_ids_and_places_are_found(tmp_path: Path) -> None:
    """An entry's id, tags, trail, origin and place are names of it; of a long label also the words."""
    lines = (
        {"summary": "a", "tags": ["big launch", "q3"], "trail": "release 12"},
        {"summary": "b", "where": "job:auth-flow"},
        {
            "summary": "c",
            "origin": "1790000060000-1",
            "why": "Because of zebras",
            "payload": {"deep": [{"x": "giraffe"}]},
        },
    )
    file = filled(tmp_path / "x.db", *lines)
    for query in ("big launch", "q3", "release 12", "launch"):
        assert numbers(file, query)[0] == 1
    for query in ("job:auth-flow", "auth-flow", "auth flow"):
        assert numbers(file, query) == [2]
    assert numbers(file, "1790000060000-1")[0] == 1
    assert set(numbers(file, "1790000060000-1")) == {1, 3}
    assert numbers(file, "zebra") == numbers(file, "giraffe") == [3]
    file.close()


def test_ids_are_found_however_long_the_payload_is(tmp_path: Path) -> None:
    """Words of its first part, names of all of it; also the last of thousands, and one as long as a query may be."""
    ids = [f"PAY-{n}" for n in range(2000)]
    url = f"https://x.example/{'a' * 440}/7"
    file = filled(
        tmp_path / "x.db",
        {"summary": "a", "payload": {"first": "giraffe", "ids": ids, "last": "okapi"}},
        {"summary": "b", "payload": " ".join(["filler words"] * 1500 + ["see", "api/deep/last.py:77", url])},
    )
    assert numbers(file, "giraffe") == numbers(file, "PAY-0") == numbers(file, "PAY-1999") == [1]
    assert [h.how for h in find(file, "PAY-1999").hits] == ["name"]
    assert numbers(file, "okapi") == []
    assert numbers(file, "api/deep/last.py") == numbers(file, "last.py:77 api/deep/last.py:77") == [2]
    assert numbers(file, url) == [2]
    file.close()


def test_a_version_is_a_name_with_and_without_its_v(tmp_path: Path) -> None:
    """Among many that have all its numbers."""
    noise = [f"Deployed v{n}.14.0 of rc.3 and 2.0.14" for n in range(300)]
    file = filled(tmp_path / "x.db", "v2.14.0-rc.3 is tagged, built with 4.1.7", *noise)
    for query in ("2.14.0-rc.3", "v2.14.0-rc.3", "4.1.7", "v4.1.7"):
        assert [(h.seq, h.how) for h in find(file, query).hits[:1]] == [(1, "name")], query
    file.close()


def test_it_says_why_it_matched(file: IndexFile) -> None:
    """All words, some, part of one, or a name; and which words of the query."""
    whys = {
        q: (h.how, h.words)
        for q in ("upload retries", "upload zzzz", "uplo", "TASK-123")
        for h in find(file, q).hits[:1]
    }
    assert whys == {
        "upload retries": ("all words", ("upload", "retries")),
        "upload zzzz": ("some words", ("upload",)),
        "uplo": ("part of a word", ("uplo",)),
        "TASK-123": ("name", ("TASK-123",)),
    }


def test_stems_are_porter_s() -> None:
    """The examples of its publication, and the words of our trade."""
    same = "retry retries retried|deploy deployed deployment|migrate migration migrations|policy policies|hop hopping"
    for group in same.split("|"):
        assert len({stem(word) for word in group.split()}) == 1, group
    examples = (
        "caresses:caress", "ponies:poni", "agreed:agre", "relational:relat", "formaliti:formal",
        "vietnamization:vietnam",
    )  # fmt: skip
    for word, wanted in (pair.split(":") for pair in examples):
        assert stem(word) == wanted


def test_one_spelling() -> None:
    """Accents, width, case and what nobody sees make no difference; nothing passes for a mark of our own."""
    assert fold("ÄÖÜ ß É Ｆｕｌｌ ﬁ ό ё") == "aou ss e full fi ο е"
    assert fold("a\u200bb\u00adc\ue000\ue001\ud800\x00") == "abc"
    assert [kind for kind, _ in pieces("ab 認証 🚀 ١٢")] == ["word", "run", "symbol", "word"]
