"""What each argument of each verb means and takes: for OpenAPI and docs/tools.md, and for nobody who pays by the token.

    meaning("note", "origin") -> Meaning

Values and bounds are those of the tables that the verbs check with; a test calls each verb with what is just outside.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from store.domain import ask, fact, grant, item, job, mailbox, sync, timetable
from store.domain.bounds import VALUES
from store.domain.entry import NOTE_KINDS, PAYLOAD_LIMIT, SUMMARY_LIMIT
from store.domain.moments import MINUTE, span
from store.domain.pairing import LIFE
from store.domain.person import ROLES
from store.domain.reach import SNOOZE
from store.domain.sentences import BUDGET
from store.domain.slot import NAME_LIMIT, ROLE_LIMIT, SKILL_LIMIT, SKILLS_LIMIT, WAITING_LIMIT
from store.domain.space import FOUR_EYES
from store.verbs import asks, feed, follow, notes, recall, shifts, syncs
from store.verbs.credentials import PROFILES
from store.verbs.perform import ACTION_LIMIT


@dataclass(frozen=True, slots=True)
class Meaning:
    """One argument: what it is for, when it is `needed` though it may be left out at other times, and what it takes.

    `values`: these alone. `forms`: ids of these forms. `whole`: a number in these bounds. `lasts`: a length of time, or
    the time at which that ends, in these bounds (ms); with `least` and `most` of them in words where they vary.
    `chars`: of a text, or of each in a list. `size`: bytes, of a text in UTF-8 or of JSON in canonical form.
    """

    says: str
    needed: str = ""
    values: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    whole: tuple[int, int] | None = None
    lasts: tuple[int, int] | None = None
    chars: int = 0
    size: int = 0
    also: str = ""

    def allowed(self, argument: str) -> Iterator[str]:
        """What the argument of this name takes, in words; nothing where its type says it all."""
        if argument in VALUES:
            yield f"at most {VALUES[argument]}"
        yield from ([" ".join(f"`{value}`" for value in self.values)] if self.values else ())
        yield from ([" ".join(f"`{form}`" for form in self.forms)] if self.forms else ())
        if self.whole:
            yield " to ".join(f"{n:,}" for n in dict.fromkeys(self.whole))
        if self.lasts:
            yield f"{span(self.lasts[0])} to {span(self.lasts[1])}"
        if self.chars:
            yield f"{'each ' if argument in VALUES else ''}up to {self.chars:,} characters"
        if self.size:
            yield f"up to {self.size // 1024} KiB"
        if self.also:
            yield self.also

    def takes(self, argument: str) -> str:
        """`allowed` as a sentence, or ''."""
        said = "; ".join(self.allowed(argument)).replace("`", "")
        return f"Takes {said}." if said else ""


ASK, ITEM, HUDDLE, FACT, NOTE, ENTRY = "ask_…", "ci_…", "hd_…", "fa_…", "mb_…", "<ms>-<number>"
PLACES = ("channel:x", "job:x", "agent:x", "human:x")
SOMEBODY = ("agent:x", "human:x")
TRAIL = Meaning("The ask that is meant.", forms=(ASK,))
CURSOR = Meaning("Where to go on: `cursor` of the page before, with all other arguments as they were.")
PLAN = Meaning("Only the jobs of this plan.", forms=("x",))
JOB = Meaning("The job that is meant.", forms=("job:x", "x"))
WHERE = Meaning("The place that it belongs to. A channel or job that is not there yet is made.", forms=PLACES)
TOKENS = Meaning("How many tokens the result may take; what does not fit is counted in `left_out`.", whole=BUDGET)
KINDS = Meaning("Only entries of these kinds.", also="any kind of entry")
DAYS = Meaning("How many days the key lasts from now.", whole=(1, grant.LEASE_DAYS))
PERSON = Meaning("The person.", forms=("human:x", "x"))
KEY = Meaning("The key's id, or the agent that it is for.", forms=("x", "agent:x"))
REASON = Meaning("Why. Whoever asked reads it.", chars=asks.REASON_LIMIT)
BLOCKED = Meaning(
    "What is in the way, so that others see it; `false`, `no` or `none` for nothing.", chars=SUMMARY_LIMIT
)
WAITING = Meaning("Who or what is waited for, in one line.", chars=WAITING_LIMIT)
IN_LOG = Meaning("Only what stands in this Log.", forms=("channel:x", "job:x", *SOMEBODY, ASK, ITEM, HUDDLE))
ACTION_ID = Meaning(
    "A name of your own for this call: made again with it, the call is not done twice.", chars=ACTION_LIMIT
)

MEANINGS: Mapping[str, Mapping[str, Meaning]] = {
    "start": {
        "agent": Meaning(
            "Who you think you are: compared with the key, and refused if it is not so.", forms=("agent:x",)
        ),
        "model": Meaning(
            "The model that you run on; stands in the entry that begins the shift.", chars=shifts.MODEL_LIMIT
        ),
        "budget": TOKENS,
    },
    "bio": {
        "profile": Meaning(
            f"`name` ({NAME_LIMIT} characters), `role` ({ROLE_LIMIT}), `skills` (a list of up to {SKILLS_LIMIT}, "
            f"{SKILL_LIMIT} characters each), and any other keys that others should know "
            f"({shifts.EXTRA_LIMIT // 1024} KiB together). The role makes `role:x` mean you; skills decide which jobs "
            "you can be given.",
            size=PAYLOAD_LIMIT,
        )
    },
    "recap": {
        "notes": Meaning("What was done in this shift.", chars=SUMMARY_LIMIT),
        "next": Meaning("What comes next, a step each, in their order.", chars=shifts.STEP_LIMIT),
        "end": Meaning("Whether the shift ends with it."),
    },
    "note": {
        "where": WHERE,
        "kind": Meaning(
            "What it is. `answer` and `synthesis` settle what `answers` names; a `fact` is remembered and reviewed.",
            values=NOTE_KINDS,
        ),
        "summary": Meaning("What happened, in a sentence or two.", chars=SUMMARY_LIMIT),
        "trail": Meaning(
            "What the entry is about: an ask, item or huddle, or a label of your own that ties entries together. "
            '`logmem_feed {where: "trail:<label>"}` reads all of one.',
            chars=notes.LABEL_LIMIT,
        ),
        "origin": Meaning("What caused the entry: the trail or id of that.", chars=notes.LABEL_LIMIT),
        "answers": Meaning(
            "What this answers: your seat in a huddle, your ask that a person has a question on, or the huddle that "
            "this synthesis closes. Any other text is a label.",
            forms=(ITEM, ASK, HUDDLE),
            chars=notes.LABEL_LIMIT,
        ),
        "payload": Meaning("Data that belongs to it, for programs. `null` is a payload too.", size=PAYLOAD_LIMIT),
        "why": Meaning("The reason for what was done.", chars=notes.WHY_LIMIT),
        "tags": Meaning("Words to find it by.", chars=notes.LABEL_LIMIT),
        "review_by": Meaning(
            f"Of a fact: when it is to be looked at again; a day (`2027-01-31`) or `{fact.NEVER}` will do. "
            f"{span(fact.REVIEW_USUAL)} if left out, never for what a person decided.",
            lasts=fact.REVIEW,
        ),
        "supersedes": Meaning("Of a fact: the one whose place it takes.", forms=(FACT, ENTRY)),
        "action_id": ACTION_ID,
    },
    "assign": {
        "job": Meaning("The id that the job gets, or has.", forms=("job:x", "x")),
        "title": Meaning("What is to be done, in a line.", chars=job.TITLE_LIMIT),
        "to": Meaning("Who gets it. Their Brief says so at once.", forms=SOMEBODY),
        "plan": Meaning("The plan that it is a part of: a name that jobs share.", forms=("x",)),
        "milestones": Meaning("What will have been reached on the way, in its order.", chars=job.LINE_LIMIT),
        "tracks": Meaning("The lines of work that go on side by side in it.", chars=job.LINE_LIMIT),
        "needs": Meaning("Skills that its agent must have said that it has, by `logmem_bio`.", chars=job.NEED_LIMIT),
        "reason": Meaning("Why it is opened anew.", needed="for a job that is open already", chars=SUMMARY_LIMIT),
    },
    "update": {
        "job": JOB,
        "summary": Meaning("The step: what was done or found.", chars=SUMMARY_LIMIT),
        "kind": Meaning("What the step is.", values=job.UPDATES),
        "doing": Meaning("What the job does now, where that is not the summary.", chars=SUMMARY_LIMIT),
        "blocked": BLOCKED,
        "waiting_on": WAITING,
    },
    "stage": {
        "job": JOB,
        "stage": Meaning("The stage that it goes to: the next one, or one back.", values=job.STAGES),
        "reason": Meaning("Why it goes back.", needed="for a step back", chars=SUMMARY_LIMIT),
    },
    "open": {
        "agent": Meaning("Whose jobs: yours if left out, all of the plan if you give one.", forms=SOMEBODY),
        "plan": PLAN,
        "cursor": CURSOR,
    },
    "ask": {
        "where": Meaning(WHERE.says, needed="without `again` and `withdraw`", forms=PLACES),
        "summary": Meaning(
            "The question to the person, complete in itself.",
            needed="without `again` and `withdraw`",
            chars=SUMMARY_LIMIT,
        ),
        "payload": Meaning(
            "Exactly what will be done. The person sees it, the decision binds to it, redeeming gives it back.",
            size=PAYLOAD_LIMIT,
        ),
        "risk": Meaning(
            "How bad a wrong decision would be. `high` lapses sooner, and may take somebody else than the person who "
            "answers for your key.",
            values=ask.RISKS,
        ),
        "options": Meaning(
            "Answers to choose from, all different; then the verdict is `answer`.", chars=ask.OPTION_LENGTH
        ),
        "allow": Meaning("The verdicts that are possible; rejecting always is.", values=ask.VERDICTS),
        "approvers": Meaning(
            "Who may decide it: people and roles; any approver if left out.",
            forms=("human:x", *(f"role:{role}" for role in ask.ROLES)),
        ),
        "quorum": Meaning("How many must approve.", whole=(1, 1)),
        "expires_in": Meaning(
            f"How long it waits for a decision; {span(ask.EXPIRES_USUAL)} if left out.", lasts=ask.EXPIRES
        ),
        "valid_for": Meaning(
            f"How long an approval can be redeemed; the most if left out, which at high risk is "
            f"{span(ask.VALID_FOR['high'])}.",
            lasts=(ask.VALID_MINIMUM, ask.VALID_FOR["normal"]),
        ),
        "again": Meaning("An ask of yours, to be asked again as it was under a new trail.", forms=(ASK,)),
        "withdraw": Meaning("A pending ask of yours, to be taken away.", forms=(ASK,)),
    },
    "redeem": {
        "trail": Meaning("Your ask that was approved.", forms=(ASK,)),
        "payload": Meaning("What you are about to do; refused unless it is what was approved.", size=PAYLOAD_LIMIT),
        "action_id": ACTION_ID,
    },
    "status": {
        "doing": Meaning("What you are doing.", chars=SUMMARY_LIMIT),
        "blocked": BLOCKED,
        "waiting_on": WAITING,
        "where": Meaning(WHERE.says, forms=PLACES),
        "if_revision": Meaning("The `revision` of your Now that you saw; refused if it is another by now."),
    },
    "handoff": {
        "to": Meaning(
            "Who gets it. `anyone` posts a text in the mailbox instead, which nobody has to accept.",
            needed="without `withdraw` and `requeue`",
            forms=(*SOMEBODY, "role:x", "anyone"),
        ),
        "summary": Meaning(
            "What is handed over: what is done, what is to do.",
            needed="with `to`, but for `anyone`",
            chars=SUMMARY_LIMIT,
        ),
        "where": Meaning(
            "The place that it is about; handing over a job makes whoever accepts it the assignee. Left out, it stands "
            "at its recipient's.",
            forms=PLACES,
        ),
        "deadline": Meaning(
            f"Until when it is to be accepted; {span(item.DEADLINE_USUAL)} if left out. For `anyone`: how long the "
            f"text is kept, at most {span(mailbox.LIFE[1])}.",
            lasts=item.DEADLINE,
        ),
        "text": Meaning("For `anyone`: the text that is left.", needed="with `to: anyone`", size=mailbox.TEXT_LIMIT),
        "label": Meaning("For `anyone`: the line that the text is listed by.", chars=mailbox.LABEL_LIMIT),
        "withdraw": Meaning("An item that you sent, to be taken back while it is open.", forms=(ITEM,)),
        "requeue": Meaning("An item that you sent and that expired, to be sent again as it was.", forms=(ITEM,)),
    },
    "accept": {
        "item": Meaning("What was handed to you or your role, or your seat in a huddle to decline it.", forms=(ITEM,)),
        "decline": Meaning("Whether you send it back."),
        "reason": Meaning("Why, or a word to its sender.", needed="with `decline: true`", chars=SUMMARY_LIMIT),
    },
    "huddle": {
        "where": Meaning("The job that it is about.", forms=("job:x", "x")),
        "question": Meaning("What all of them are asked.", chars=SUMMARY_LIMIT),
        "seats": Meaning("Who is asked, each once.", forms=SOMEBODY),
        "closer": Meaning("Who sums up and closes it; you if left out.", forms=SOMEBODY),
        "deadline": Meaning(
            f"Until when they may answer; {span(item.DEADLINE_USUAL)} if left out.", lasts=item.DEADLINE
        ),
        "urgent": Meaning("Whether the Briefs of those who are asked say that it is urgent."),
    },
    "sync": {
        "receipt": Meaning("Whether you check in; without it the tool only reads."),
        "slot": Meaning("The window to check in for; the open one if left out.", values=sync.SLOTS),
        "outcome": Meaning("How it stands with your work.", needed="with `receipt: true`", values=sync.OUTCOMES),
        "notes": Meaning(
            "What the window asks for, in your words.", needed="with `receipt: true`", chars=SUMMARY_LIMIT
        ),
    },
    "brief": {
        "agent": Meaning("Whose Brief; yours if left out.", forms=SOMEBODY),
        "budget": TOKENS,
        "since": Meaning("Only what changed since then: an ISO 8601 time, or how long ago (`2h`)."),
    },
    "view": {"what": Meaning("The thing, by its id.", forms=(*PLACES, ASK, ITEM, HUDDLE, FACT, NOTE, ENTRY))},
    "roster": {"cursor": CURSOR},
    "feed": {
        "where": Meaning(IN_LOG.says, forms=(*IN_LOG.forms, "trail:<label>")),
        "kinds": KINDS,
        "by": Meaning("Only what this one wrote.", forms=(*SOMEBODY, "system:x")),
        "since": Meaning("Only what came after: an entry's id, an ISO 8601 time, or how long ago (`2h`)."),
        "limit": Meaning("How many entries a page may have.", whole=feed.LIMITS),
        "cursor": CURSOR,
    },
    "follow": {
        "what": Meaning("What is waited for.", forms=(ASK, ITEM, HUDDLE, *PLACES)),
        "since": Meaning("The `cursor` of the call before: what came after it is returned at once.", forms=(ENTRY,)),
        "wait": Meaning("How long the call may wait; a bare number is seconds.", lasts=(0, follow.WAIT_LIMIT)),
    },
    "jobs": {
        "stage": Meaning("Only the jobs in this stage.", values=(*job.STAGES, job.UNOPENED)),
        "plan": PLAN,
        "cursor": CURSOR,
    },
    "recall": {
        "query": Meaning("What is looked for: words, an id, a path, a name.", chars=recall.QUERY_LIMIT),
        "where": Meaning(IN_LOG.says, forms=(*IN_LOG.forms, "trail:<label>")),
        "kinds": KINDS,
        "limit": Meaning("How many hits there may be.", whole=recall.LIMITS),
    },
    "decide": {
        "trail": TRAIL,
        "verdict": Meaning("What you decide; one that the ask allows.", values=ask.VERDICTS),
        "digest": Meaning("The `digest` that was shown with the ask: the decision binds to it.", needed="always"),
        "answer": Meaning(
            "The answer; one of the options if there are any.", needed="with `verdict: answer`", chars=asks.REASON_LIMIT
        ),
        "reason": REASON,
    },
    "ask_back": {
        "trail": TRAIL,
        "text": Meaning("The question to the agent.", chars=SUMMARY_LIMIT),
    },
    "take_back": {"trail": TRAIL, "reason": REASON},
    "inbox": {
        "trail": Meaning("Show all of this one, with its digest, in place of the list.", forms=(ASK, ITEM)),
        "after": Meaning("Where to go on: `cursor` of the page before."),
    },
    "mint": {
        "name": Meaning("The agent that the key is for.", forms=("agent:x", "x")),
        "may": Meaning("What the key may do; all of it if left out. Reading always is.", values=grant.AGENT_MAY),
        "days": DAYS,
        "profile": Meaning("Which tools it lists and may call.", values=PROFILES),
        "responsible": Meaning(
            "Who answers for what it does. You if left out; of the operator's keys the first owner.",
            forms=("human:x", "x"),
        ),
    },
    "keys": {"key": Meaning("Show all of this one, by its id, in place of the list.", forms=("x",)), "cursor": CURSOR},
    "renew": {"name": KEY, "days": DAYS},
    "revoke": {"name": KEY},
    "people": {
        "person": Meaning("Show this one in place of the list, also if they left.", forms=("human:x", "x")),
        "cursor": CURSOR,
    },
    "sessions": {
        "person": Meaning("Whose sessions; yours if left out.", forms=("human:x", "x")),
        "cursor": CURSOR,
    },
    "end_session": {"session": Meaning("The session, by its id.", forms=("x",))},
    "fleet": {
        "principal": Meaning("Show all of this one in place of the list.", forms=SOMEBODY),
        "find": Meaning("Only those with this in their id."),
        "cursor": CURSOR,
    },
    "board": {
        "stage": Meaning("Only this stage, page by page.", values=(*job.STAGES, job.UNOPENED)),
        "plan": PLAN,
        "job": Meaning("Show all of this one in place of the board.", forms=("job:x", "x")),
        "cursor": CURSOR,
    },
    "syncs": {"weeks": Meaning("How many weeks back, this one counted.", whole=syncs.WEEKS)},
    "human": {
        "name": PERSON,
        "role": Meaning("The role here; `none` takes it away.", values=(*ROLES, "none")),
        "excluded": Meaning("Whether an owner approves nothing."),
    },
    "link": {"name": PERSON},
    "pairing": {
        "person": Meaning("Whose account it is to pair; yours if left out.", forms=("human:x", "x")),
        "life": Meaning(
            "How long an operator's code is good. What comes of one that is good for longer than 10 minutes, an owner "
            "confirms.",
            lasts=(MINUTE, LIFE["command"]),
        ),
    },
    "confirm": {
        "claim": Meaning("The claim that is meant, from `claims`."),
        "yes": Meaning("Whether the account is the person's."),
    },
    "unpair": {"person": Meaning("Whose account; yours if left out.", forms=("human:x", "x"))},
    "oncall": {"on": Meaning("Whether you are on call from now on.")},
    "quiet": {
        "snooze": Meaning("For how long from now no card makes a sound; `off` ends it.", lasts=SNOOZE),
        "hours": Meaning("Between which hours none does, day for day; `off` for none.", also="like `22:00-07:00`"),
    },
    "space": {
        "simulated": Meaning("Whether its clock can be moved."),
        "zone": Meaning("Where its days and sync windows are.", also="an IANA time zone"),
    },
    "rhythm": {
        "times": Meaning(
            "When morning, midday and closeout open, on the space's clock.", also="like `09:00, 13:00, 17:30`"
        ),
        "days": Meaning("The weekdays with syncs.", also="names and ranges, like `mon-fri` or `mon, wed`"),
        "zone": Meaning("Whose clock that is.", also="an IANA time zone"),
        "holiday": Meaning("A day without syncs: of today or later.", also="like `2026-12-25`"),
        "reason": Meaning("Why there are none that day.", needed="to add a holiday", chars=timetable.REASON),
        "remove": Meaning("Whether that day is a holiday no more."),
    },
    "attend": {"on": Meaning("Whether you take part from now on.")},
    "four_eyes": {"rule": Meaning("`auto`: on where there are two approvers or more.", values=FOUR_EYES)},
}


def meaning(verb: str, argument: str) -> Meaning:
    """What an argument of a verb means. Raises KeyError for one that nobody has described."""
    return MEANINGS[verb][argument]
