"""What a card says and offers, from the door's view of an ask or an item. Pure: the same view gives the same card.

The first line is what a lock screen shows: who asks, and the summary in quotes; once it is decided, the verdict stands
before it, in one word. No emoji anywhere: words say it, and in a chat full of cards the bold ones are the verdicts.
What agents wrote stands in `code` or `pre`, in quotes and inert (see bot.text).

Pages hang on what was asked alone: a verdict, questions or who else was asked never move a word from one page to
another, so that a page that was shown stays shown.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from store.domain.copy import Copy
from store.domain.via import surface

from . import day
from .buttons import Rows, keyboard, labels, link
from .message import Message
from .paging import Part, paged, written
from .payload import layout
from .text import Text, bare, clipped, exact, is_whole, natural, quoted, units

__all__ = ["answers", "layout_of", "message", "render"]

View = Mapping[str, Any]

LIMIT = 4000  # UTF-16 units of a message; Telegram takes 4096
TAIL = 1100  # of them that are kept free for the verdict, for who else was asked, and for the thread
SUMMARY = 200  # of a summary on the first line; one that is longer, or may look like another, stands below exactly
SAID = 200  # of a reason or an answer
ANSWER = 1200  # of an answer in a message of its own
TURN = 160  # of a question or an answer of the thread, at most
LEAST = 24  # that are worth beginning one with
NAMES = 3  # of who else was asked
KEPT = 16  # cards whose pages are remembered: everybody who is asked gets the same

# What pages are made of, and what takes up room on each of them.
BOUND = (
    "kind", "huddle", "space", "where", "code", "digest", "by", "byline", "summary", "cannot", "payload", "options",
    "risk", "deadline", "simulated",
)  # fmt: skip

WORDS = {
    "approved": "Approved",
    "rejected": "Rejected",
    "answered": "Answered",
    "expired": "Expired",
    "withdrawn": "Withdrawn",
    "redeemed": "Used",
    "lapsed": "Lapsed",
    "taken_back": "Taken back",
    "accepted": "Accepted",
    "declined": "Declined",
}
VERDICTS = {"approve": "Approved", "reject": "Rejected", "answer": "Answered"}
YES = ("approve", "answer")
COMES = {
    "approve": " Approve comes when every page was shown.",
    "answer": " Answering comes when every page was shown.",
    "accept": " Accept comes when every page was shown.",
}
BY = {"item": "to accept by", "seat": "to answer by"}
DID = {"question": "asked", "answer": "answered"}


def message(text: Text, rows: Rows = (), *, pages: int = 1) -> Message:
    """A message of these words and buttons, without the end of its last line."""
    said = text.text.rstrip("\n")
    looks = json.dumps([said, text.entities, rows], ensure_ascii=False, separators=(",", ":"))
    mark = hashlib.sha256(looks.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Message(text=said, entities=text.entities, rows=rows, hash=mark, pages=pages)


def layout_of(view: View, to: str) -> tuple[int, str]:
    """How many pages its card has for them, and a name for what stands on which: what was seen was seen under it."""
    if _is_notice(to) or view["kind"] == day.KIND:
        return 1, ""
    pages, name = _split(view)
    return len(pages), name


def render(view: View, to: str, copy: Copy) -> Message:
    """The page of the card that this copy shows; a chat's is a notice. The page counts as shown."""
    if view["kind"] == day.KIND:
        rows = day.buttons(view, to, token=copy.token, live=copy.live)
        rows += link("Open in the console", view.get("url") or "")
        return message(day.words(view, to, live=copy.live), rows)
    if _is_notice(to):
        return message(_top(view).join(_verdict(view)).join(_facts(view)).join(_asked(view, "")))
    pages = _pages(view)
    page = min(copy.page, len(pages) - 1)
    whole = {page, *copy.seen} >= set(range(len(pages)))
    row: View = next((one for one in view["to"] if one["who"] == to), {})
    can = row.get("can", ()) if copy.live else ()
    text = _top(view).join(_verdict(view)).line()
    if pages[page]:
        text.join(written(pages[page]))
    text.join(_facts(view)).join(_asked(view, to)).join(
        _note(view, row, can, live=copy.live, page=page, pages=len(pages), whole=whole)
    )
    text.join(_thread(view, LIMIT - text.size))
    reads = copy.live and row.get("reads", bool(can))
    rows = keyboard(view, can, token=copy.token, page=page, pages=len(pages) if reads else 1, whole=whole)
    if copy.live:
        decide, look = row.get("link") or "", view.get("url") or ""
        rows += link("Decide in the console", decide) or link("Open in the console", look)
    return message(text, rows, pages=len(pages))


def answers(view: View, to: str, *, after: int) -> Message:
    """What somebody was answered to their questions since the answer `after`, for below their card."""
    row: View = next((one for one in view["to"] if one["who"] == to), {})
    text = Text()
    for each in row.get("answers") or ():
        if each["n"] > after:
            text.code(bare(each["by"])).add(" answers you: ").code(quoted(each["text"], ANSWER)).line()
    if view.get("deadline"):
        text.add("It still waits for you above, until ").time(view["deadline"]).add(".").line()
    return message(text)


def _is_notice(to: str) -> bool:
    return to.startswith("chat:")


def _pages(view: View) -> list[list[Part]]:
    return _split(view)[0]


def _split(view: View) -> tuple[list[list[Part]], str]:
    """What was asked, in pages, the same ones however it stands; and their name."""
    still = {**{name: view[name] for name in BOUND if name in view}, "state": "pending", "open": True}
    try:
        return _laid_out(json.dumps(still))
    except RecursionError:  # deeper than any payload that is accepted, but no reason to stop
        return _paged(still)


@lru_cache(maxsize=KEPT)
def _laid_out(still: str) -> tuple[list[list[Part]], str]:
    return _paged(json.loads(still))


def _paged(still: View) -> tuple[list[list[Part]], str]:
    fixed = _top(still).size + _facts(still).size + 2 * max(map(len, WORDS.values()))
    pages = paged(_parts(still), LIMIT - TAIL - fixed)
    written_out = json.dumps([[(part.title, part.text) for part in page] for page in pages])
    return pages, hashlib.sha256(written_out.encode()).hexdigest()[:16]


def _parts(view: View) -> list[Part]:
    """The texts shown whole: a summary that the first line shows in part or not for sure, the payload, long options."""
    summary, options = view.get("summary") or "", view.get("options") or ()
    parts = []
    if not is_whole(summary, SUMMARY):
        parts.append(Part(title="Summary", text=exact(summary)))
    if "payload" in view:
        parts.append(Part(title="Payload", text=layout(view["payload"])))
    if labels(options) != list(options):
        parts.append(Part(title="Answers", text="\n".join(f"{n}. {exact(o)}" for n, o in enumerate(options, 1))))
    return parts


def _top(view: View) -> Text:
    """The first line, and what must strike the eye."""
    text = Text()
    open_still = _is_open(view)
    if not open_still:
        text.bold(_word(view)).add(" · ")
    text.code(bare(view["by"])).add(f" {_verb(view, open_still)}: ")
    if view.get("summary") is None:
        text.add(clipped(view.get("cannot") or "The text cannot be shown.", SUMMARY))
    else:
        text.code(natural(view["summary"], SUMMARY))
    text.line().join(_second(view))
    if view.get("simulated"):
        text.bold("Simulated space").line()
    return text


def _second(view: View) -> Text:
    """The second line, which a lock screen shows too: high risk, until when, and the risk where it is lower."""
    text, high = Text(), view.get("risk") == "high"
    if high:
        text.bold("High risk")
    if _is_open(view) and view.get("deadline"):
        what = "seat" if view.get("huddle") else view["kind"]
        text.add(f"{' · ' if high else ''}{BY.get(what, 'by')} ").time(view["deadline"])
        if view["kind"] == "ask" and view.get("risk") and not high:
            text.add(f" · {view['risk']} risk")
    return text.line() if text.size else text


def _is_open(view: View) -> bool:
    """Whether somebody is still to decide."""
    return bool(view["open"])


def _word(view: View) -> str:
    state: str = view["state"]
    return WORDS.get(state, state.replace("_", " ").capitalize())


def _verb(view: View, open_still: bool) -> str:
    if view["kind"] == "ask" or view.get("huddle"):
        return "asks" if open_still else "asked"
    return "hands over" if open_still else "handed over"


def _verdict(view: View) -> Text:
    """Who decided, where, when and in which words; and what became of it."""
    text, state = Text(), view["state"]
    decided, closed = view.get("decided") or {}, view.get("closed") or {}
    if decided:
        word = VERDICTS.get(decided.get("verdict", ""), _word(view))  # what became of an approval is said below
        text.add(f"{word} by ").code(bare(decided["by"]))
        text.add(f"{surface(decided.get('via') or '')}, ").time(decided["at"]).add(".").line()
        for name in ("answer", "reason"):
            if decided.get(name):
                text.add(f"{name.capitalize()}: ").code(quoted(decided[name], SAID)).line()
    if state == "approved":
        text.add("It can be used once").join(_until(view)).add(".").line()
    elif state in ("redeemed", "taken_back", "withdrawn"):
        by = closed.get("by") or (view["by"] if state != "taken_back" else "")
        text.add(_word(view)).join(_by(by)).join(_at(closed.get("at"))).add(".").line()
    elif state == "lapsed":
        text.add("Nobody used it in time; it lapsed").join(_at(closed.get("at"), "")).add(".").line()
    elif state == "expired":
        text.add("Nobody had decided by " if view["kind"] == "ask" else "Nobody had taken it by ")
        text.time(view["deadline"]).add(".").line()
    return text


def _until(view: View) -> Text:
    return Text().add(", until ").time(view["until"]) if view.get("until") else Text()


def _by(who: str) -> Text:
    return Text().add(" by ").code(bare(who)) if who else Text()


def _at(ms: int | None, comma: str = ",") -> Text:
    return Text().add(f"{comma} ").time(ms) if ms else Text()


def _facts(view: View) -> Text:
    """Where, how risky by whose word, until when, and by which names it can be found."""
    text = Text()
    if view["kind"] == "ask" and "payload" not in view and view.get("summary") is not None:
        text.add("No payload").line()
    text.add("Place: ").code(clipped(view["where"], 80)).add(" in ").code(view["space"]).line()
    text.join(_through(view))
    if view["kind"] == "ask" and view.get("risk"):
        text.add(f"Risk: {view['risk']} (the agent’s word)").line()
    if view.get("digest"):
        text.add("Code: ").code(view["code"]).add(", digest: ").code(view["digest"][:8]).line()
    return text


def _through(view: View) -> Text:
    """By which client it came; who it is from, the first line says."""
    byline, head = view.get("byline") or "", f"{bare(view['by'])} (via "
    if not byline.startswith(head):
        return Text()
    return Text().add("Through: ").code(clipped(byline.removeprefix(head).removesuffix(")"), 80)).line()


def _asked(view: View, to: str) -> Text:
    others = [bare(who) for who in view.get("asked") or () if who != to]
    text = Text()
    if not others or not _is_open(view):
        return text
    more = len(others) - NAMES
    shown = ", ".join(others[:NAMES]) + (f" and {more} more" if more > 0 else "")
    return text.add("Also asked: " if to else "Asked: ").code(shown).line()


def _note(view: View, row: View, can: Sequence[str], *, live: bool, page: int, pages: int, whole: bool) -> Text:
    """What the buttons do not say by themselves."""
    text = Text()
    if pages > 1:
        yes = next((words for verb, words in COMES.items() if verb in can), "")
        text.add(f"Page {page + 1}/{pages}.{yes if not whole else ''}").line()
    if not row:
        text.add("Another account has taken the place of this one: such cards go there.").line()
    elif not row.get("chat"):
        text.add("This account is not paired here any more.").line()
    elif not live:
        text.add("There is a newer card of this below.").line()
    elif _is_open(view) and not can:
        text.add("It is not for you to decide any more.").line()
    elif _is_open(view) and view.get("summary") is not None and any(v in view["allow"] and v not in can for v in YES):
        text.add("High risk is approved in the console, not here.").line()
    return text


def _thread(view: View, room: int) -> Text:
    """Questions and answers, the latest last, as many as there is room for."""
    turns: list[Text] = []
    for turn in reversed(view.get("thread") or ()):
        who = f"{bare(turn['by'])} {DID.get(turn['kind'], turn['kind'])}: "
        left = room - sum(each.size for each in turns) - units(who) - 6
        if left < LEAST:
            break
        said = Text().code(bare(turn["by"])).add(f" {DID.get(turn['kind'], turn['kind'])}: ")
        turns.append(said.code(quoted(turn["text"], min(TURN, left))).line())
    text = Text()
    if turns:
        text.line()
    for each in reversed(turns):
        text.join(each)
    return text
