"""Entries: lines of a Log. Append-only; who wrote one is stamped by the server."""

from dataclasses import dataclass
from typing import Any, Literal

from .errors import Refused
from .moments import iso
from .text import quoted

Via = Literal["token", "oauth", "console", "telegram", "system"]

SUMMARY_LIMIT = 1000  # characters
PLACEHOLDER = "…"  # in calls of ours: here the caller is to write something
PLACEHOLDERS = (PLACEHOLDER, "...")
PAYLOAD_LIMIT = 32 * 1024  # bytes of canonical JSON
NOTE_KINDS = ("memo", "progress", "stuck", "fix", "problem", "question", "answer", "synthesis", "fact")
TOOL_OF_KIND = {
    "handoff": "logmem_handoff",
    "posted": "logmem_handoff",
    "withdrawn": "logmem_handoff or logmem_ask",
    "accepted": "logmem_accept",
    "declined": "logmem_accept",
    "asked": "logmem_ask",
    "redeemed": "logmem_redeem",
    "recap": "logmem_recap",
    "started": "logmem_start",
    "status": "logmem_status",
    "bio": "logmem_bio",
    "assigned": "logmem_assign",
    "staged": "logmem_stage",
    "huddle": "logmem_huddle",
    "checked_in": "logmem_sync",
}
PEOPLE_KINDS = (
    "decided",
    "taken_back",
    "minted",
    "renewed",
    "revoked",
    "role",
    "link",
    "rule",
    "signed_in",
    "signed_out",
    "paired",
    "unpaired",
    "on_call",
    "attends",
)
SYSTEM_KINDS = (
    "created",
    "expired",
    "lapsed",
    "redacted",
    "undelivered",
    "reminded",
    "overdue",
    "accounted",
    "expiring",
    "review",
    "digest",
    "rhythm",
)
KINDS = frozenset((*NOTE_KINDS, *TOOL_OF_KIND, *PEOPLE_KINDS, *SYSTEM_KINDS))


class Absent:
    """The payload of an entry that has none; `null` is a payload."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line as its author's side knows it; the store adds id and time.

    `fact`, `supersedes` and `review_by` (ISO 8601, or never) are those of a fact.
    """

    where: str
    kind: str
    by: str
    via: Via
    summary: str
    client: str = ""  # a program need not name itself
    payload: Any = ABSENT
    trail: str = ""
    origin: str = ""
    answers: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    fact: str = ""
    supersedes: str = ""
    review_by: str = ""

    @property
    def byline(self) -> str:
        """Author and program, as in `muse (via cursor)`."""
        return f"{self.by.partition(':')[2]} (via {self.client or self.via})"

    @property
    def places(self) -> tuple[str, ...]:
        """Whose Logs this line stands in: its place, its author's and its trail's."""
        named = (self.where, self.by, f"trail:{self.trail}" if self.trail else "")
        return tuple(dict.fromkeys(p for p in named if p))

    def body(self) -> dict[str, Any]:
        """What is kept and hashed: every field that says something."""
        says = {k: v for k, v in vars(self).items() if k == "payload" or v not in ("", ())}  # "" is a payload too
        kept = {k: list(v) if isinstance(v, tuple) else v for k, v in says.items()}
        if isinstance(self.payload, Absent):
            del kept["payload"]
        return kept


@dataclass(frozen=True, kw_only=True)
class Logged:
    """An entry as the ledger has it. `id` is `<ms>-<seq>` by the store's clock.

    `entry` is None once redacted, or when what stands there is no entry that this version can read.
    """

    id: str
    entry: Entry | None
    readable: bool = True

    @property
    def ts(self) -> int:
        return int(self.id.partition("-")[0])

    @property
    def seq(self) -> int:
        return sequence(self.id)

    @property
    def summary(self) -> str:
        return self.entry.summary if self.entry else self.gone

    @property
    def gone(self) -> str:
        """What stands in place of a text that is not there."""
        return "[redacted]" if self.readable else "[unreadable]"

    def shown(self) -> dict[str, Any]:
        """The entry for a result, as in the manual, with id, time and byline."""
        head = {"id": self.id, "ts": self.ts, "at": iso(self.ts)}
        if self.entry is None:
            return {**head, "kind": self.gone.strip("[]"), "summary": self.gone}
        return {**head, "byline": self.entry.byline, **self.entry.body()}


def sequence(entry_id: str) -> int:
    """The number of an entry in its space's ledger, from its id."""
    return int(entry_id.partition("-")[2])


def entry_of(body: dict[str, Any]) -> Entry:
    """The entry that `Entry.body` was made from."""
    fields: dict[str, Any] = {k: tuple(v) if k in ("tags", "options") else v for k, v in body.items()}
    return Entry(**fields)


def check_note_kind(kind: str) -> None:
    """Refuse kinds that only tools, people or the system write. Refuses reserved_kind, invalid_argument."""
    if kind in NOTE_KINDS:
        return
    if kind in TOOL_OF_KIND:
        tool = TOOL_OF_KIND[kind]
        text = f'kind "{kind}" is written by {tool}; call that instead. Nothing was written.'
        raise Refused("reserved_kind", text, kind=kind, tool=tool)
    if kind in PEOPLE_KINDS:
        text = (
            f'kind "{kind}" is a person\'s alone: people decide in the console. Nothing was written. '
            "To ask for a decision: logmem_ask {where, summary, payload}"
        )
        raise Refused("reserved_kind", text, kind=kind)
    if kind in SYSTEM_KINDS:
        text = f'kind "{kind}" is written by the system alone. Nothing was written. For what you saw: kind "memo".'
        raise Refused("reserved_kind", text, kind=kind)
    raise Refused(
        "invalid_argument", f"kind takes one of {', '.join(NOTE_KINDS)}. Nothing was written.", argument="kind"
    )


def check_written(text: str, *, name: str) -> None:
    """Refuse a placeholder of ours where the caller is to write something. Refuses invalid_argument."""
    if text.strip() in PLACEHOLDERS:
        raise Refused(
            "invalid_argument",
            f"{name} is {quoted(text)}, a placeholder; write what it is. Nothing was written.",
            argument=name,
        )


def check_summary(summary: str, *, name: str = "summary") -> None:
    """Refuse an empty or overlong summary. Refuses invalid_argument, too_long."""
    if not summary.strip():
        raise Refused(
            "invalid_argument",
            f"{name} is empty; say in a line what it is about. Nothing was written.",
            argument=name,
        )
    if len(summary) > SUMMARY_LIMIT:
        raise Refused(
            "too_long",
            f"{name} has {len(summary)} characters and may have {SUMMARY_LIMIT}; the rest can go into payload. "
            "Nothing was written.",
            argument=name,
            limit=SUMMARY_LIMIT,
        )
