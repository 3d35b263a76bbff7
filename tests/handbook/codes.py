"""Which codes a verb can refuse with, found in what its function refers to.

    refusals(row), all_refusals(row) -> set of codes

Names are followed from the verb's function through `store`, so a new `Refused` is found wherever it stands. What is
caught and not raised again does not count. Flags are not followed: what is left out because of one stands in `NOT`,
with why.
"""

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from store.domain.errors import STATUS
from store.verbs.call import Row

EVERY_CALL = (  # of `enter`, `Admission`, `parse`, `perform` and the surfaces, whatever the verb
    *("unauthenticated", "key_expired", "key_revoked", "identity_mismatch"),
    *("scope_undeclared", "scope_mismatch", "scope_unknown", "scope_denied"),
    *("invalid_argument", "unknown_argument", "payload_not_canonical", "payload_too_large", "too_long"),
    *("busy", "store_unavailable"),
)
EVERY_WRITE = ("action_conflict", "store_full", "store_read_only", "unconfirmed")
PEOPLES = {"decide": ("humans_only", "not_an_approver")}  # by effect, of the policy
UNUSED = ("paused", "room_full", "audit_unavailable")  # kept for later versions

_UNSETTLED = "`resolve` looks at that only where something will have to be settled"
_LEFT = "who has left is found too, and who was never here is `not_found`"
_MADE = "its place is a job, which the first write makes"
NOT: Mapping[tuple[str, str], str] = {  # what the search finds and a caller never meets
    ("note", "job_done"): _UNSETTLED,
    ("status", "job_done"): _UNSETTLED,
    ("four_eyes", "job_done"): "its place is a channel",
    ("four_eyes", "not_found"): "its place is a channel",
    ("four_eyes", "malformed_id"): "its place is the space's own",
    ("assign", "not_found"): _MADE,
    ("update", "not_found"): _MADE,
    ("huddle", "not_found"): _MADE,
    ("open", "unknown_recipient"): _LEFT,
    ("brief", "unknown_recipient"): _LEFT,
    ("feed", "unknown_recipient"): _LEFT,
    ("start", "not_found"): "an agent with a key has a profile",
    ("bio", "not_found"): "whoever has a credential has a profile",
    ("sync", "not_found"): "whoever has a credential has a profile",
    ("inbox", "expired"): "it shows asks and items, and no note of the mailbox",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A function, class or table at the top of a module: the names in it that count, and the codes it refuses with."""

    names: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    by_argument: Mapping[str, int] = field(default_factory=dict)  # arguments that are codes, with their positions
    calls: tuple[ast.Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    """What stands at the top of a module, and what its imports mean: a module, or a name in one."""

    nodes: Mapping[str, Node]
    imports: Mapping[str, tuple[str, str]]


@cache
def refusals(row: Row) -> frozenset[str]:
    """The codes that are this verb's own; `EVERY_CALL` and `EVERY_WRITE` may stand among them."""
    return frozenset({*found(row), *PEOPLES.get(row.effect, ())} - {code for verb, code in NOT if verb == row.verb})


def all_refusals(row: Row) -> frozenset[str]:
    """All codes that a call of this verb may come back with."""
    return refusals(row) | {*EVERY_CALL, *(() if row.pure else EVERY_WRITE)}


def found(row: Row) -> set[str]:
    """The codes in all that the verb's functions refer to."""
    rows = [row, *([row.turns[1]] if row.turns else [])]
    starts = [f for r in rows for f in (r.run, r.around, r.again) if f]
    return {code for start in starts for code in _reached(start)}


def _reached(start: Callable[..., Any]) -> set[str]:
    """The codes in all that a function refers to."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    ahead = [(start.__module__, start.__name__)]
    while ahead:
        place = ahead.pop()
        if place in seen:
            continue
        seen.add(place)
        module = _module(place[0])
        node = module.nodes.get(place[1])
        if node is None:
            continue
        found |= node.codes
        for called in node.calls:
            found |= _given(module, place[0], called)
        ahead += [target for name in node.names if (target := _target(module, place[0], name))]
    return found


def _given(module: Module, home: str, called: ast.Call) -> set[str]:
    """The codes that a call gives to a function which refuses with what it is given."""
    target = _target(module, home, _dotted(called.func))
    node = _module(target[0]).nodes.get(target[1]) if target else None
    codes: set[str] = set()
    for name, position in (node.by_argument if node else {}).items():
        said = [k.value for k in called.keywords if k.arg == name] + called.args[position : position + 1]
        codes |= {code for value in said for code in _constants(value)}
    return codes


def _target(module: Module, home: str, name: str) -> tuple[str, str] | None:
    """Where the name is defined, as (module, name), if that is in the store."""
    head, _, rest = name.partition(".")
    if not rest and head in module.nodes:
        return home, head
    if head not in module.imports:
        return None
    where, what = module.imports[head]
    return (where, rest) if rest and not what else (where, what) if what and not rest else None


@cache
def _module(name: str) -> Module:
    tree = ast.parse(inspect.getsource(importlib.import_module(name)))
    package = name.rpartition(".")[0]
    imports: dict[str, tuple[str, str]] = {}
    tops: dict[str, ast.AST] = {}
    for statement in tree.body:
        match statement:
            case ast.ImportFrom(level=level) if level:
                base = ".".join(
                    [*package.split(".")[: len(package.split(".")) - level + 1], *filter(None, [statement.module])]
                )
                imports |= {alias.asname or alias.name: _import(base, alias.name) for alias in statement.names}
            case ast.FunctionDef(name=own) | ast.AsyncFunctionDef(name=own) | ast.ClassDef(name=own):
                tops[own] = statement
            case ast.Assign(targets=targets, value=value):
                tops |= {n.id: value for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=own), value=ast.expr() as value):
                tops[own] = value
            case _:
                pass
    return Module({own: _node(top, tops) for own, top in tops.items()}, imports)


def _import(base: str, name: str) -> tuple[str, str]:
    """What `from base import name` means: a module of that package, or a name in one."""
    try:
        importlib.import_module(f"{base}.{name}")
    except ModuleNotFoundError:
        return base, name
    return f"{base}.{name}", ""


def _node(top: ast.AST, tables: Mapping[str, ast.AST]) -> Node:
    counted = list(_counted(top))
    calls = [each for each in counted if isinstance(each, ast.Call)]
    codes: set[str] = set()
    by_argument: dict[str, int] = {}
    arguments = [a.arg for a in top.args.args] if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef) else []
    for call in calls:
        if _dotted(call.func) != "Refused" or not call.args:
            continue
        said = call.args[0]
        if isinstance(said, ast.Name) and said.id in arguments:
            by_argument[said.id] = arguments.index(said.id)
        elif isinstance(said, ast.Name):
            codes |= {code for value in _assigned(top, said.id, tables) for code in _constants(value)}
        else:
            codes |= set(_constants(said))
    return Node(frozenset(_names(top)), frozenset(codes), by_argument, tuple(calls))


def _names(top: ast.AST) -> Iterator[str]:
    """The names that lead out of this one: what a function binds itself is its own, whoever else is called so."""
    if isinstance(top, ast.ClassDef):
        for part in top.body:
            yield from _names(part)
        return
    everything = list(ast.walk(top))
    own = {n.id for n in everything if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own |= {n.arg for n in everything if isinstance(n, ast.arg)}
    own |= {n.name for n in everything if isinstance(n, ast.MatchAs | ast.ExceptHandler) and n.name}
    for each in _counted(top):
        name = _dotted(each)
        if name and name.partition(".")[0] not in own:
            yield name


def _assigned(top: ast.AST, name: str, tables: Mapping[str, ast.AST]) -> Iterator[ast.AST]:
    """What is assigned to a name in a function, and the tables that this is taken from."""
    for each in ast.walk(top):
        match each:
            case ast.Assign(targets=targets, value=value) if any(
                isinstance(n, ast.Name) and n.id == name for t in targets for n in ast.walk(t)
            ):
                yield value
                yield from (tables[n.id] for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in tables)
            case _:
                pass


def _constants(value: ast.AST) -> Iterator[str]:
    said = (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))
    return (code for code in said if isinstance(code, str) and code in STATUS)


def _counted(top: ast.AST) -> Iterator[ast.AST]:
    """The nodes below this one, without annotations and without what is tried and whose refusal is swallowed."""
    for name, value in ast.iter_fields(top):
        if name in ("annotation", "returns") or (name == "body" and isinstance(top, ast.Try) and _swallows(top)):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield each
                yield from _counted(each)


def _swallows(tried: ast.Try) -> bool:
    """Whether a refusal ends here: it is caught, and neither raised again nor handed back."""
    for handler in tried.handlers:
        if handler.type is None or "Refused" not in {_dotted(n) for n in ast.walk(handler.type)}:
            continue
        out: list[ast.stmt] = [n for n in ast.walk(handler) if isinstance(n, ast.Raise)]
        out += [
            n for n in ast.walk(handler) if isinstance(n, ast.Return) and n.value and _dotted(n.value) == handler.name
        ]
        return not out
    return False


def _dotted(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
    return ""
