"""The mailbox: texts for whoever comes next. Listed without text; reading one uses nothing up."""

import json
import secrets

from ..domain.commit import Commit, MailText, Quote, put
from ..domain.errors import Refused
from ..domain.ids import Shape, known, new_note
from ..domain.mailbox import LABEL_LIMIT, LIFE, LIFE_DEFAULT, TEXT_LIMIT, MailNote
from ..domain.moments import age, iso, until
from ..domain.strict import check
from ..engine.reads import Doc, Mail
from .arguments import Length
from .call import Call, Result
from .places import Place, missing, resolve

UNLABELLED = "a note without a label"


async def post(call: Call, *, text: str, label: str = "", where: str = "", deadline: Length = "") -> Commit:
    """Leave a text for whoever comes next, under one line that it is listed by.

    Refuses invalid_argument, too_long, payload_too_large, payload_not_canonical.
    """
    size = _check_text(text)
    _check_label(label)
    await call.admit()
    place = await resolve(call, where) if where else Place(call.me)
    expires = until(deadline, now=call.now, bounds=LIFE, usual=LIFE_DEFAULT, name="deadline")
    note = MailNote(id=new_note(secrets.token_bytes(7)), by=call.me, made=call.now, expires=expires, size=size)
    entry = call.entry(
        place.name, "posted", label or UNLABELLED, trail=note.id, payload={"bytes": size, "expires": iso(expires)}
    )
    return Commit(
        result={**_shown(note), "label": Quote(0, "summary"), "next": _reading(note.id), **place.said},
        puts=(*place.puts, put(note, posted=0)),
        entries=(entry,),
        texts=(MailText(note.id, text, expires - call.now),),
    )


async def mail_text(call: Call, id: str) -> Result:
    """One note with its text, for anybody who may read the space. Refuses malformed_id, not_found, expired."""
    known(id, (Shape.MAILBOX_NOTE,), name="what")
    note, raw = await call.look(Doc(MailNote, id), Mail(id))
    if note is None:
        raise await missing(call, id)
    if raw is None or note.as_of(call.now).gone:
        raise Refused(
            "expired",
            f"The life of {id} ended {age(call.now - note.expires)}, and its text is gone. {note.by} posted it.",
            by=note.by,
            at=iso(note.expires),
        )
    said = (await call.recall([note.posted])).get(note.posted)
    if said is None or said.entry is None:
        raise Refused("not_found", f"{id} was redacted.", searched=call.caller.space)
    return {
        **_shown(note),
        "byline": said.entry.byline,
        "age": age(call.now - note.made),
        "label": said.summary,
        "text": json.loads(raw),
    }


def _shown(note: MailNote) -> Result:
    return {"note": note.id, "by": note.by, "bytes": note.size, "expires_at": iso(note.expires)}


def _reading(id: str) -> Result:
    return {"tool": "logmem_view", "args": {"what": id}}


def _check_text(text: str) -> int:
    """The size of the text in bytes of UTF-8."""
    check(text, root="text")  # the ledger checks what goes into it; this text does not
    size = len(text.encode())
    if not text.strip():
        raise Refused(
            "invalid_argument",
            'A note for "anyone" needs its text in text; label is the line that it is listed by. Nothing was written.',
            argument="text",
        )
    if size > TEXT_LIMIT:
        raise Refused(
            "payload_too_large",
            f"text has {size} bytes and may have {TEXT_LIMIT}. Nothing was written. Post it in parts, or a link to it.",
            limit=TEXT_LIMIT,
            size=size,
        )
    return size


def _check_label(label: str) -> None:
    if len(label) > LABEL_LIMIT:
        raise Refused(
            "too_long",
            f"label has {len(label)} characters and may have {LABEL_LIMIT}; the rest goes into text. "
            "Nothing was written.",
            argument="label",
            limit=LABEL_LIMIT,
        )
    if len(label.splitlines()) > 1 or any(ord(c) < 32 for c in label):
        raise Refused("invalid_argument", "label is one line. Nothing was written.", argument="label")
