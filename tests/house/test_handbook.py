"""The page about the tools is the catalogue's."""

import re
from pathlib import Path

from api.handbook import page
from store.domain.errors import STATUS
from store.verbs.arguments import title
from store.verbs.call import Row
from store.verbs.catalog import ROWS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tools.md"
RENEW = "docs/tools.md is not what the catalogue makes; renew it: .venv/bin/python -m api.handbook >docs/tools.md"


def test_the_page_about_the_tools_is_made_from_the_catalogue() -> None:
    """What stands in docs/tools.md is what its generator makes now."""
    assert PAGE.read_text(encoding="utf-8") == page(), RENEW


def test_the_page_leaves_nothing_out() -> None:
    """Every verb has its part, every code stands in the table, and every link leads to a part."""
    text = page()
    parts = re.findall(r"^### (\w+)$", text, re.M)
    assert parts == [title(row) for row in (*_agents(), *_people())]
    assert set(re.findall(r"\]\(#(\w+)\)", text)) == {title(row) for row in _agents()}
    assert all(f"`{code}`" in text.partition("## Codes of refusals")[2] for code in STATUS)


def _agents() -> list[Row]:
    return [row for row in ROWS.values() if row.profiles]


def _people() -> list[Row]:
    return [row for row in ROWS.values() if not row.profiles]
