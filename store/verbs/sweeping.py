"""What the scheduler's verbs share: its badge, their rows, and how one is done.

None of them is in the catalogue: no caller may do them. Each writes down what time has brought, reads what is due from
an index, a batch at a time, and does nothing where nothing is due.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from ..domain.commit import Commit
from ..domain.document import Document
from ..engine.reads import Doc, Page
from ..engine.store import Store
from .call import Call, Result, Row
from .identity import Badge
from .perform import perform

BATCH = 50  # documents that one commit writes down

D = TypeVar("D", bound=Document)


def badge(space: str, epoch: int) -> Badge:
    """The scheduler's own badge in a space, in the epoch in which it leads."""
    return Badge("scheduler", id=str(epoch), client="scheduler", spaces=(("the scheduler", space),))


def row(name: str, run: Any) -> Row:
    """A verb of the scheduler's."""
    return Row(name, "manage", run, whole=True)


async def sweep(
    store: Store, row: Row, space: str, *, epoch: int, action_id: str = "", args: Mapping[str, Any] | None = None
) -> Result:
    """Do it once: `done` says how much, `more` whether to do it again. Refuses stale: a later scheduler leads."""
    return await perform(store, badge(space, epoch), row, args or {}, action_id=action_id)


async def each(call: Call, page: Page, kind: type[D]) -> list[D]:
    """The documents of this kind that an index has named, read for a decision."""
    return [doc for doc in await call.read_each(Doc(kind, id) for id in page.ids(kind)) if doc]


def did(done: int, *, more: bool = False, **parts: Any) -> Commit:
    """The commit of a sweep that has done so much; `parts` are the fields of the commit."""
    return Commit(result={"done": done, "more": more}, **parts)


def channel(call: Call) -> str:
    """Where the space itself is spoken of."""
    return f"channel:{call.caller.space}"
