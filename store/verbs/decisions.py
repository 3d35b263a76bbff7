"""What people do with an ask: decide it, ask back, take an approval back."""

from ..domain import ask as rules
from ..domain.commit import Commit, Quote, put
from ..domain.entry import ABSENT, check_summary
from ..domain.errors import Refused
from ..domain.via import ASSURANCE, check_assurance
from .approvers import check_decider, standing
from .asks import REASON_LIMIT, found, grounds, words
from .call import Call


async def decide(
    call: Call, *, trail: str, verdict: str, digest: str = "", answer: str = "", reason: str = ""
) -> Commit:
    """Decide an ask: approve, reject or answer it. digest is the one that was shown with it."""
    ask = await found(call, trail)
    await check_decider(call, ask)
    new = rules.decide(
        ask,
        verdict,
        by=call.me,
        via=call.caller.via,
        assurance=ASSURANCE[call.caller.via],
        shown=digest,
        now=call.now,
        said=await grounds(call, ask),
    )
    check_assurance(new.assurance, risk=ask.risk, verdict=verdict)
    if len(reason) > REASON_LIMIT or len(answer) > REASON_LIMIT:
        raise Refused("too_long", f"reason and answer may have {REASON_LIMIT} characters. Nothing changed.")
    # What nobody can read any more, or what was altered, can only be rejected.
    said = await words(call, ask) if verdict != "reject" else None
    if said and verdict == "answer":
        _check_answer(said.options, answer)
    payload = {"digest": ask.digest, "verdict": verdict, "assurance": new.assurance}
    payload |= {k: v for k, v in (("answer", answer), ("reason", reason)) if v}
    how = {"approved": "approved", "rejected": "rejected", "answered": f'answered "{answer}"'}[new.state]
    entry = call.entry(
        ask.where,
        "decided",
        f"{how}{f': {reason}' if reason else ''}"[:REASON_LIMIT],
        trail=trail,
        payload=payload,
    )
    return Commit(
        result={**rules.verdict_of(new), "digest": ask.digest, "entry": Quote(0)},
        puts=(put(new, decided=0),),
        entries=(entry,),
        not_after=ask.deadline,
    )


def _check_answer(options: tuple[str, ...], answer: str) -> None:
    """An answer is one of the options, where there are any."""
    if not answer.strip():
        raise Refused("invalid_argument", "An answer needs its text in answer. Nothing changed.", argument="answer")
    if options and answer not in options:
        raise Refused(
            "invalid_argument",
            "The answer is not one of the options. Nothing changed.",
            argument="answer",
            options=list(options),
        )


async def ask_back(call: Call, *, trail: str, text: str) -> Commit:
    """Ask the requester something before deciding; the ask stays pending and its deadline stands.

    For any approver, also one who may not decide this ask.
    """
    check_summary(text, name="text")
    ask = await found(call, trail)
    rules.check_approver(by=call.me, roles=standing(call)[0])
    new = rules.ask_back(ask, now=call.now, said=await grounds(call, ask))
    entry = call.entry(ask.where, "question", text, trail=trail)
    return Commit(
        result={"trail": trail, "status": new.state, "entry": Quote(0)},
        puts=(put(new, question=0),),
        entries=(entry,),
        not_after=ask.deadline,
    )


async def take_back(call: Call, *, trail: str, reason: str = "") -> Commit:
    """Take an approval back while it has not been used. For any approver, also one who may not decide this ask."""
    if len(reason) > REASON_LIMIT:
        raise Refused("too_long", f"reason may have {REASON_LIMIT} characters. Nothing changed.", argument="reason")
    ask = await found(call, trail)
    rules.check_approver(by=call.me, roles=standing(call)[0])
    new = rules.take_back(ask, by=call.me, now=call.now, said=await grounds(call, ask))
    entry = call.entry(
        ask.where,
        "taken_back",
        f"taken back{f': {reason}' if reason else ''}"[:REASON_LIMIT],
        trail=trail,
        payload={"reason": reason} if reason else ABSENT,
    )
    return Commit(
        result={**rules.verdict_of(new), "entry": Quote(0)},
        puts=(put(new, ended=0),),
        entries=(entry,),
        not_after=ask.lapses,
    )
