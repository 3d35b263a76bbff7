"""The page about the tools is the catalogue's, and what it shows is what comes."""

import ast
import json
import re
from typing import Any

import httpx
import pytest

from api.examples import CALLS
from api.meanings import MEANINGS
from store.domain.bounds import VALUES
from store.domain.errors import STATUS
from store.engine.embedded import Embedded
from store.engine.store import Store
from store.verbs.arguments import model, title
from store.verbs.call import Row
from store.verbs.catalog import ROWS
from tests.handbook.codes import EVERY_CALL, EVERY_WRITE, NOT, PEOPLES, UNUSED, all_refusals, found
from tests.handbook.page import DOCS, EXAMPLES, MEANT, PAGE, RENEW, page
from tests.handbook.record import record

AGENTS = [row for row in ROWS.values() if row.profiles]
PEOPLE = [row for row in ROWS.values() if not row.profiles]


def recorded() -> Any:
    """What stands in docs/examples.json."""
    return json.loads(EXAMPLES.read_text(encoding="utf-8"))


def test_every_argument_has_a_meaning() -> None:
    """Each argument of each verb says what it is for, and nothing is said of what is not there."""
    arguments = {verb: set(model(row).model_fields) for verb, row in ROWS.items()}
    assert {verb: set(MEANINGS.get(verb, {})) for verb in ROWS} == arguments, "api/meanings.py"
    assert set(MEANINGS) <= set(ROWS)
    assert all(each.says.endswith(".") for of in MEANINGS.values() for each in of.values())
    assert set(VALUES) == {name for of in MEANINGS.values() for name in of if name in VALUES}


def test_every_verb_has_a_call() -> None:
    """Each verb has one call in api/examples.py, and its result is recorded."""
    assert set(CALLS) == set(ROWS), "api/examples.py"
    assert set(recorded()["results"]) == set(recorded()["callers"]) == set(ROWS), RENEW


def test_the_page_is_made_from_the_catalogue() -> None:
    """What stands in docs/tools.md is what its generator makes now."""
    assert PAGE.read_text(encoding="utf-8") == page(recorded()), RENEW


def test_the_page_leaves_nothing_out() -> None:
    """Every verb has its part, every code stands in the table, and every link leads somewhere."""
    text = page(recorded())
    parts = re.findall(r"^### (\w+)$", text, re.M)
    assert [part for part in parts if part in {title(row) for row in ROWS.values()}] == [
        title(row) for row in (*AGENTS, *PEOPLE)
    ]
    heads = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in re.findall(r"^#+ (.+)$", text, re.M)}
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= heads
    assert all(f"`{code}`" in text.partition("## Codes")[2] for code in STATUS)
    assert set(MEANT) == set(STATUS)
    assert all((DOCS / name).is_file() for name in re.findall(r"\]\(([\w.]+)\)", text))


def test_the_index_has_every_page() -> None:
    """docs/README.md leads to each page beside it."""
    said = (DOCS / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w.-]+)\)", said)) == {p.name for p in DOCS.iterdir()} - {"README.md"}


async def test_what_was_recorded_is_what_comes(engine: Embedded, store: Store, http: httpx.AsyncClient) -> None:
    """Each call of the examples, made now, gives a result of the same form."""
    now = (await record(engine, store, http)).as_json
    before = recorded()
    assert now["callers"] == before["callers"], RENEW
    for part in ("results", "refused", "mcp"):
        for name, result in now[part].items():
            assert shape(result) == shape(before[part].get(name)), f"{part} {name}; {RENEW}"


def shape(value: Any) -> Any:
    """The keys of a result, all the way down, with the kind of each value; of text and numbers no more."""
    match value:
        case dict():
            return {key: shape(each) for key, each in value.items()}
        case list():
            return [shape(each) for each in value]
    return type(value).__name__


def test_what_is_left_out_of_the_codes_is_found_still() -> None:
    """What stands in `NOT` is what the search finds: else it belongs there no longer."""
    assert not [(verb, code) for verb, code in NOT if code not in found(ROWS[verb])]


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.verb)
def test_the_codes_of_a_verb_are_codes(row: Row) -> None:
    """What is found is in the table of codes, and is given by something."""
    assert all_refusals(row) <= set(STATUS) - set(UNUSED)


def test_every_code_is_somebodys() -> None:
    """A code that the product refuses with is in the part of a verb or of all; those kept for later are nowhere."""
    listed = {code for row in ROWS.values() for code in all_refusals(row)} | {*EVERY_CALL, *EVERY_WRITE}
    listed |= {code for codes in PEOPLES.values() for code in codes} | {"rate_limited"}  # of the event stream
    assert listed == set(STATUS) - set(UNUSED)
    root = DOCS.parent
    modules = [p for name in ("store", "api") for p in (root / name).rglob("*.py") if p.name != "errors.py"]
    said = {n.value for p in modules for n in ast.walk(ast.parse(p.read_text())) if isinstance(n, ast.Constant)}
    assert not said & (set(UNUSED) - {"paused"})  # which is a field of a space
