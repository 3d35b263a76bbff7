"""Files of other programs, edited as text: what was asked for changes, and nothing else does."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logmem import jsontext, tomltext
from logmem.jsontext import Odd, Uneditable

NAMES = st.sampled_from(["mcpServers", "logmem", "a", 'other"x', "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
BLANKS = ["", " ", "\n  ", "\r\n\t"]
COMMENTS = [*BLANKS, '// x, } "\n', "/* { */ "]


def written(draw: st.DrawFn, value: Any, *, comments: bool) -> str:
    """A JSON value as somebody may write it."""

    def blank() -> str:
        return draw(st.sampled_from(COMMENTS if comments else BLANKS))

    def loose(some: object) -> str:
        return f",{blank()}" if comments and some and draw(st.booleans()) else ""

    if isinstance(value, dict):
        parts = [
            f"{blank()}{json.dumps(name)}{blank()}:{blank()}{written(draw, each, comments=comments)}{blank()}"
            for name, each in value.items()
        ]
        return f"{{{','.join(parts)}{loose(parts)}{blank()}}}"
    if isinstance(value, list):
        parts = [f"{blank()}{written(draw, each, comments=comments)}{blank()}" for each in value]
        return f"[{','.join(parts)}{loose(parts)}]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def files(draw: st.DrawFn, *, comments: bool) -> tuple[str, dict[str, Any]]:
    """A file of JSON, and what it says."""
    value = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    return f"{written(draw, value, comments=comments)}\n", value


def in_the_way(said: Any, path: list[str]) -> bool:
    """Whether what is no object stands on the path."""
    for name in path[:-1]:
        if not isinstance(said, dict) or name not in said:
            return False
        said = said[name]
        if not isinstance(said, dict):
            return True
    return False


@given(st.data(), st.booleans(), st.lists(NAMES, min_size=1, max_size=3), VALUES)
def test_any_json(data: st.DataObject, comments: bool, path: list[str], value: Any) -> None:
    """In any file a value is put at any path and taken out again; comments and other members stay."""
    text, said = data.draw(files(comments=comments))
    assert jsontext.parse(text, comments=comments) == said
    if in_the_way(said, path):
        with pytest.raises(Odd):
            jsontext.put(text, path, value, comments=comments)
        return
    new = jsontext.put(text, path, value, comments=comments)  # which checks what it says
    assert jsontext.put(new, path, value, comments=comments)
    gone = jsontext.drop(new, path, comments=comments)
    assert jsontext.drop(gone, path, comments=comments) == gone
    if path[0] not in said:  # nothing was replaced
        assert new.count("// x") == text.count("// x")
        assert gone.count("/* { */") == text.count("/* { */")


JSONC = """{
\t// mine
\t"servers": {
\t\t"other": { "command": "x" }, // why
\t},
\t/* these too */
\t"inputs": [],
}
"""


def test_comments_and_indentation() -> None:
    """A new member comes last, indented as the file is, and no comment changes its place."""
    new = jsontext.put(JSONC, ("servers", "logmem"), {"url": "u"}, comments=True)
    assert new == JSONC.replace("// why\n", '// why\n\t\t"logmem": {\n\t\t\t"url": "u"\n\t\t}\n')
    gone = jsontext.drop(new, ("servers", "logmem"), comments=True)
    assert gone == JSONC.replace('"x" },', '"x" }')
    assert jsontext.put("", ("servers", "logmem"), 1, comments=True) == '{\n  "servers": {\n    "logmem": 1\n  }\n}\n'
    assert jsontext.put('{"a":1}', ("b", "c"), 1, comments=False) == '{"a":1, "b": {"c": 1}}'
    windows = '{\r\n  "a": 1\r\n}\r\n'
    assert jsontext.put(windows, ("b",), 1, comments=False) == '{\r\n  "a": 1,\r\n  "b": 1\r\n}\r\n'


@pytest.mark.parametrize("text", ["[]", "{", '{"a": }', "{'a': 1}", '{"mcpServers": []}', '{"mcpServers": 1}'])
def test_json_that_is_not_edited(text: str) -> None:
    """What is no object, or has something else where our entry belongs, is refused."""
    with pytest.raises(Odd):
        jsontext.put(text, ("mcpServers", "logmem"), {}, comments=False)
    with pytest.raises(Odd):
        jsontext.parse("{} // no comments here", comments=False)


TOML = """# mine
model = "o3" # why

[mcp_servers.other]
command = "x"
env = { A = "[mcp_servers.logmem]" }

# about the next one
[profiles.fast]
text = '''
a
'''
"""
TABLE = {"url": "http://h/mcp", "http_headers": {"A-b": 'Bearer "x"', "ü x": "y"}, "limit": 60, "on": True}


def test_toml() -> None:
    """A table is added at the end, replaced where it stands with all that is in it, and taken out; other lines stay."""
    path = ("mcp_servers", "logmem")
    new = tomltext.put(TOML, path, TABLE)
    assert new.startswith(f"{TOML}\n[mcp_servers.logmem]\n")
    assert tomllib.loads(new)["mcp_servers"]["logmem"] == TABLE
    assert tomltext.put(new, path, TABLE) == new
    assert tomltext.drop(new, path) == TOML
    assert tomltext.drop(TOML, path) == TOML
    assert tomltext.drop(tomltext.put("", path, TABLE), path) == ""
    amid = TOML.replace(
        "# about",
        "[ mcp_servers . 'logmem' ]\ncommand = 'y'\n[mcp_servers.logmem.env]\nA = 'b'\n\n# about",
    )
    assert tomltext.put(amid, path, TABLE) == TOML.replace("# about", f"{tomltext.rendered(path, TABLE)}\n\n# about")
    assert tomltext.drop(amid, path) == TOML


@pytest.mark.parametrize("quotes", ["'''", '"""'])
def test_toml_with_texts(quotes: str) -> None:
    """What looks like a table in a text over several lines is text: it stays, and ours is written where it belongs."""
    path = ("mcp_servers", "logmem")
    text = f"x = {quotes}\n[mcp_servers.logmem]\n#{quotes} # {quotes}\ny = {quotes}{quotes}\n\u2028[mcp_servers.logmem]"
    before = text.replace("\u2028", "# \u2028")  # the end of a line to Python, and not to TOML
    new = tomltext.put(before, path, TABLE)
    assert new.startswith(f"{before}\n\n[mcp_servers.logmem]\n")
    assert tomltext.put(new, path, {}) == f"{before}\n\n[mcp_servers.logmem]\n"
    assert tomltext.drop(new, path) == f"{before}\n"
    assert tomltext.drop(before, path) == before


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers.logmem.url = "x"',
        '[mcp_servers]\nlogmem.url = "x"\n',
        'mcp_servers = { logmem = { command = "x" } }',
        "[mcp_servers]\nlogmem = { command = 'x' }",
    ],
)
def test_toml_of_another_form(text: str) -> None:
    """What is TOML, and has our entry in a form that is not edited, is refused as that, also to take it out."""
    path = ("mcp_servers", "logmem")
    with pytest.raises(Uneditable, match="it is TOML, but mcp_servers is written"):
        tomltext.put(text, path, TABLE)
    with pytest.raises(Uneditable, match="it is TOML, but mcp_servers is written"):
        tomltext.drop(text, path)


@pytest.mark.parametrize(
    "text",
    [
        "model = ",
        "mcp_servers = 1",
        'mcp_servers = { other = { command = "x" } }',
        "[[mcp_servers]]\nname = 'x'",
    ],
)
def test_toml_that_is_not_edited(text: str) -> None:
    """What is no TOML, or says it in a form that a line more would not fit, is refused."""
    with pytest.raises(Odd):
        tomltext.put(text, ("mcp_servers", "logmem"), TABLE)
