"""What happens in the demo, as a table: two days of a fleet, in the forms of `script`."""

from .script import CLAUDE, CODEX, GROK, MUSE, Act, Gate, Moment, Of, Scene, Step, begins, carried, checks_in, found


def _start(who: str, **named: str) -> Step:
    return Step(who, "start", {"agent": who}, begins, **named)


def _bio(who: str, name: str, role: str, *skills: str) -> Step:
    profile = {"name": name, "role": role, "skills": list(skills)}
    return Step(who, "bio", {"profile": profile}, "is {r[who][name]!q}, {r[who][role]!q}")


def _check_in(who: str, slot: str, notes: str) -> Step:
    args = {"receipt": True, "slot": slot, "outcome": "pass", "notes": notes}
    return Step(who, "sync", args, checks_in)


def _recap(who: str, notes: str, *then: str) -> Step:
    return Step(who, "recap", {"notes": notes, "next": list(then)}, "ends shift {r[shift][number]}: {a[notes]!q}")


AUTH, BROADCAST = "job:auth-flow{tag}", "job:social-broadcast{tag}"
TALK = "channel:agent-coordination"
ANNOUNCEMENT = {"channels": ["x", "linkedin"], "version": "v0.1.0"}

MORNING = Scene(
    "Morning. Everybody begins with a Brief and checks in",
    (
        _start(CLAUDE),
        _bio(CLAUDE, "Claude Code", "Autonomous Systems Engineer", "python", "review"),
        _start(CODEX),
        _bio(CODEX, "OpenAI Codex", "Security & Verification Lead", "python", "review"),
        _start(MUSE),
        _bio(MUSE, "Muse", "Brand Assets & Visual QA", "design"),
        _start(GROK),
        _bio(GROK, "Grok", "Publisher & Telemetry Bot", "publishing"),
        _check_in(CLAUDE, "morning", "Taking the sign-in flow; nothing blocks me."),
        _check_in(CODEX, "morning", "Reviewing today; send me what is ready."),
        _check_in(MUSE, "morning", "Hero poster first, then contrast checks."),
        _check_in(GROK, "morning", "Watching for the announcement of v0.1.0."),
    ),
    Moment("morning", 5),
)

WORK = Scene(
    "A job, its steps, and an asset",
    (
        Step(
            CLAUDE,
            "assign",
            {
                "job": AUTH,
                "title": "Sign-in that settles once",
                "to": "agent:claude-code",
                "milestones": ["CAS settlement", "No token in any log", "Reviewed"],
                "needs": ["review"],
            },
            "opens {r[job]}, {r[title]!q}, for {r[assignee]}; milestones {a[milestones]!q}",
        ),
        Step(CLAUDE, "stage", {"job": AUTH, "stage": "in_progress"}, "moves {r[job]} from {r[was]} to {r[stage]}"),
        Step(
            CLAUDE,
            "update",
            {"job": AUTH, "summary": "PR 140 settles by compare-and-set; tests pass."},
            "reports on {r[job]}: {a[summary]!q}",
        ),
        Step(
            MUSE,
            "note",
            {
                "where": TALK,
                "kind": "memo",
                "summary": "Generated hero poster SVG and color contrast checks.",
                "trail": "trail-hero-redesign",
                "payload": {"file": "brand/hero.svg", "contrast": 7.2},
            },
            "notes in {a[where]}: {a[summary]!q}; stamped {r[entry][byline]!q}",
        ),
    ),
    Moment("morning", 15),
)

HANDOFF = Scene(
    "A handoff is an obligation, not a message",
    (
        Step(
            CLAUDE,
            "handoff",
            {"to": "agent:muse", "where": AUTH, "summary": "Review PR 140."},
            "wants to hand the review to agent:muse and is refused, {code}: it does not say that it can review",
            refused="skill_missing",
        ),
        Step(
            CLAUDE,
            "handoff",
            {
                "to": "agent:codex",
                "where": AUTH,
                "summary": "Review PR 140 for CAS settlement and token leak safety.",
            },
            "hands {r[where]} to {r[to]} ({r[item]}, {r[delivery]}): {a[summary]!q}",
        ),
        _start(CODEX, name="told"),
        Step(
            CODEX,
            "accept",
            {"item": Of("told", ("handoffs", 0, "item"))},
            "accepts {r[item]} of {r[from]}, as its Brief said, and is the assignee of {r[job]} in the same commit",
        ),
        Step(CODEX, "status", {"doing": "Reviewing PR 140", "where": AUTH}, "does now: {a[doing]!q}"),
    ),
    Moment("morning", 25),
)

MIDDAY = Scene(
    "Midday. A huddle, and a job that is not done before its time",
    (
        _check_in(CLAUDE, "midday", "Handed the review over; on the release notes."),
        _check_in(CODEX, "midday", "PR 140 is sound; one question to the others."),
        _check_in(GROK, "midday", "Drafted the announcement."),
        Step(
            CODEX,
            "huddle",
            {
                "where": AUTH,
                "question": "Should a session end when its key is revoked?",
                "seats": ["agent:claude-code", "agent:grok"],
                "urgent": True,
            },
            "convenes {r[huddle]} in {r[where]}: {a[question]!q}; seats for agent:claude-code and agent:grok",
            name="huddle",
        ),
        _start(CLAUDE, name="claude's seat"),
        Step(
            CLAUDE,
            "note",
            {
                "where": AUTH,
                "kind": "answer",
                "answers": Of("claude's seat", ("brief", "seats", 0, "item")),
                "summary": "Yes, and the page should say why it ended.",
            },
            "answers from its seat: {a[summary]!q}",
        ),
        Step(CODEX, "stage", {"job": AUTH, "stage": "review"}, "moves {r[job]} from {r[was]} to {r[stage]}"),
        Step(
            CODEX,
            "stage",
            {"job": AUTH, "stage": "done"},
            "wants to call {a[job]} done and is refused, {code}: the seat of agent:grok is open",
            refused="open_obligations",
        ),
        _start(GROK, name="grok's seat"),
        Step(
            GROK,
            "note",
            {
                "where": AUTH,
                "kind": "answer",
                "answers": Of("grok's seat", ("brief", "seats", 0, "item")),
                "summary": "Yes, within a second.",
            },
            "answers from its seat: {a[summary]!q}",
        ),
        Step(
            CODEX,
            "note",
            {
                "where": AUTH,
                "kind": "synthesis",
                "answers": Of("huddle", ("huddle",)),
                "summary": "A revoked key ends its sessions within a second, and the page says why.",
            },
            "sums the huddle up, which is {r[status]} now: {a[summary]!q}",
        ),
        Step(CODEX, "stage", {"job": AUTH, "stage": "done"}, "moves {r[job]} from {r[was]} to {r[stage]}"),
    ),
    Moment("midday", 5),
)

MEMORY = Scene(
    "What is known, and what is known better",
    (
        Step(
            CLAUDE,
            "note",
            {
                "where": TALK,
                "kind": "fact",
                "summary": "A console session lasts 30 days.",
                "why": "An old comment in the settings says so.",
                "tags": ["auth"],
            },
            "remembers {r[fact]}: {a[summary]!q}, because {a[why]!q}",
            name="fact",
        ),
        Step(
            CODEX,
            "note",
            {
                "where": TALK,
                "kind": "fact",
                "summary": "A console session lasts 12 hours.",
                "why": "Measured in the review of PR 140.",
                "tags": ["auth"],
                "supersedes": Of("fact", ("fact",)),
            },
            "remembers {r[fact]}, which supersedes {r[supersedes]}: {a[summary]!q}, because {a[why]!q}",
        ),
        Step(GROK, "recall", {"query": "console session", "kinds": ["fact"]}, found),
    ),
    Moment("midday", 20),
)

OVERDUE = Scene(
    "Somebody is not in. It is said once, to all and to them",
    (
        _start(MUSE),
        _check_in(MUSE, "midday", "Poster is in; contrast 7.2 to 1. The export took long."),
    ),
    Moment("midday", 5, late=True),
    clocked="That somebody is late",
)

ASK = "publish"
APPROVED: tuple[Step | Act, ...] = (
    Step(
        GROK,
        "redeem",
        {"trail": Of(ASK, ("trail",)), "payload": ANNOUNCEMENT},
        "redeems the approval of {r[decision][by]}: exactly what was shown, digest {r[digest]:.8}",
        name="redeemed",
    ),
    Act(
        GROK,
        "publishes {said[redeemed][payload][version]!q} on {said[redeemed][payload][channels]!q} (prints this line)",
    ),
    Step(
        GROK,
        "redeem",
        {"trail": Of(ASK, ("trail",))},
        "wants to use it a second time and is refused, {code}",
        refused="already_redeemed",
    ),
    Step(
        GROK,
        "update",
        {"job": BROADCAST, "summary": "Published v0.1.0 on X and LinkedIn; watching the replies."},
        "reports on {r[job]}: {a[summary]!q}",
    ),
)
REFUSED: tuple[Step | Act, ...] = (
    Step(
        GROK,
        "redeem",
        {"trail": Of(ASK, ("trail",))},
        "could not publish if it wanted to: refused, {code}",
        refused="not_approved",
    ),
    Step(
        GROK,
        "update",
        {"job": BROADCAST, "summary": "Nothing was published: a person said no."},
        "publishes nothing and reports on {r[job]}: {a[summary]!q}",
    ),
)
NOBODY: tuple[Step | Act, ...] = (
    Step(
        GROK,
        "ask",
        {"withdraw": Of(ASK, ("trail",))},
        "takes its ask away, which is {r[status]} now: silence is never consent",
    ),
    Step(
        GROK,
        "update",
        {"job": BROADCAST, "summary": "Nothing was published: nobody had decided."},
        "publishes nothing and reports on {r[job]}: {a[summary]!q}",
    ),
)

GATE = Scene(
    "Nothing irreversible without a person",
    (
        Step(
            GROK,
            "assign",
            {"job": BROADCAST, "title": "Announce v0.1.0", "to": "agent:grok"},
            "opens {r[job]}, {r[title]!q}, for {r[assignee]}",
        ),
        Step(GROK, "stage", {"job": BROADCAST, "stage": "in_progress"}, "moves {r[job]} from {r[was]} to {r[stage]}"),
        Step(
            GROK,
            "ask",
            {
                "where": BROADCAST,
                "summary": "Publish release announcement to X and LinkedIn?",
                "payload": ANNOUNCEMENT,
            },
            "asks {r[asked][0][who]}: {a[summary]!q}, payload {a[payload]!q}, digest {r[digest]:.8}",
            name=ASK,
        ),
        Step(
            GROK,
            "redeem",
            {"trail": Of(ASK, ("trail",))},
            "wants to go ahead and is refused, {code}: nobody has decided",
            refused="not_approved",
        ),
        Step(
            GROK,
            "note",
            {"where": BROADCAST, "kind": "decided", "summary": "Approved."},
            "wants to decide for itself and is refused, {code}",
            refused="reserved_kind",
        ),
        Gate(GROK, ASK, {"approved": APPROVED, "rejected": REFUSED, "pending": NOBODY}),
    ),
    Moment("midday", 110),
)

CLOSEOUT = Scene(
    "Closeout. What is finished is settled, what is not has an owner; codex does not come",
    (
        _check_in(CLAUDE, "closeout", "Sign-in flow is done and reviewed."),
        _check_in(MUSE, "closeout", "Poster delivered; nothing open."),
        _check_in(GROK, "closeout", "The broadcast stays mine until tomorrow."),
        _recap(CLAUDE, "Sign-in flow handed over, reviewed and done.", "Write the release notes"),
        _recap(MUSE, "Hero poster and contrast checks are in.", "Poster in dark colours"),
        _recap(GROK, "The announcement went to a person before it went anywhere.", "Close the broadcast"),
    ),
    Moment("closeout", 5),
)

NEXT_MORNING = Scene(
    "The next morning. Nobody begins from nothing",
    (
        _start(GROK),
        Step(GROK, "sync", {}, carried),
        _check_in(GROK, "morning", "Broadcast first, then telemetry."),
        _start(CODEX),
        _check_in(CODEX, "morning", "PR 140 is reviewed; I forgot to say so yesterday."),
        _recap(CODEX, "Reviewed PR 140; closed the huddle on revoked keys.", "Review the release notes"),
        _start(CLAUDE),
        _check_in(CLAUDE, "morning", "Release notes today."),
        _recap(CLAUDE, "Began the release notes.", "Finish the release notes"),
    ),
    Moment("morning", 5, day=1),
    clocked="The next morning",
)

END = Scene(
    "What is done is closed. Nobody is expected any more who has nothing to do",
    (
        _start(GROK),
        Step(GROK, "stage", {"job": BROADCAST, "stage": "review"}, "moves {r[job]} from {r[was]} to {r[stage]}"),
        Step(GROK, "stage", {"job": BROADCAST, "stage": "done"}, "moves {r[job]} from {r[was]} to {r[stage]}"),
        _recap(GROK, "Closed the broadcast that was carried over.", "Telemetry of v0.1.0"),
    ),
    Moment("morning", 15, day=1),
)

STORY = (MORNING, WORK, HANDOFF, MIDDAY, MEMORY, OVERDUE, GATE, CLOSEOUT, NEXT_MORNING, END)
ANSWER = "It goes to exactly the channels in the payload, and nowhere else."  # to whatever a person asks back
