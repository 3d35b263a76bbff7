"""Prompts of MCP: short requests that a person picks from a menu, and that make the model call the right tools.

They hold our own words and ids that were checked, and nothing that an agent wrote.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from store.domain.entry import SUMMARY_LIMIT
from store.domain.errors import Refused
from store.domain.ids import SOMEBODY, bare, parse_place
from store.domain.text import quoted
from store.verbs.arguments import unknown_argument


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: what it is, and how it is checked."""

    description: str
    check: Callable[[str], str]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: the verbs that its text takes, its arguments, and the text made from them."""

    title: str
    description: str
    verbs: tuple[str, ...]
    text: Callable[[Mapping[str, str]], str]
    arguments: Mapping[str, Argument]


def _recipient(to: str) -> str:
    """`anyone`, a role, or a principal. Refuses malformed_id."""
    return to if to == "anyone" else parse_place(to, (*SOMEBODY, "role"), default="agent", name="to")


def _job(job: str) -> str:
    return f"job:{bare(job, 'job')}"


def _outstanding(said: Mapping[str, str]) -> str:
    return (
        "Is anything outstanding for me? Call logmem_brief and tell me what it lists, in its order: what it is, "
        "from whom, and until when. Say which of it you would deal with first, and wait for my word before you do."
    )


def _standup(said: Mapping[str, str]) -> str:
    return (
        "Give me a standup of this space. Call logmem_roster for who does what and who is blocked, logmem_jobs for "
        "how the jobs stand, and logmem_brief for what waits. Then tell me in at most ten lines: done lately, in "
        "progress, blocked and on whom, and what needs a person. Change nothing."
    )


def _handoff(said: Mapping[str, str]) -> str:
    to, job = said["to"], said.get("job", "")
    what = f"the work on {job}" if job else "what you are working on here"
    where = f', where: "{job}"' if job else ""
    given = "text" if to == "anyone" else f"summary, of {SUMMARY_LIMIT:,} characters at most"
    return (
        f"Hand {what} over to {to}. Sum up for somebody who was not here: what is done, what comes next, what is in "
        f'the way, and where things are. Then call logmem_handoff with to: "{to}"{where} and that as the {given}, and '
        "tell me its id. If you cannot sum it up from what you know, say so instead."
    )


PROMPTS: Mapping[str, Prompt] = {
    "outstanding": Prompt("Is anything outstanding?", "What waits for you here.", ("brief",), _outstanding, {}),
    "standup": Prompt(
        "Standup", "Who does what, what is blocked, and what needs a person.", ("roster", "jobs", "brief"), _standup, {}
    ),
    "handoff": Prompt(
        "Hand over",
        "Pass the work on to another agent, a person, a role, or whoever comes next.",
        ("handoff",),
        _handoff,
        {
            "to": Argument("agent:x, human:x, role:x or anyone", _recipient, required=True),
            "job": Argument("The job that it is about", _job),
        },
    ),
}


def listed(verbs: Iterable[str]) -> list[dict[str, Any]]:
    """The prompts whose tools a caller has."""
    return [
        {
            "name": name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": [
                {"name": each, "description": a.description, "required": a.required}
                for each, a in prompt.arguments.items()
            ],
        }
        for name, prompt in _had(verbs).items()
    ]


def _had(verbs: Iterable[str]) -> Mapping[str, Prompt]:
    return {name: prompt for name, prompt in PROMPTS.items() if set(prompt.verbs) <= set(verbs)}


def filled(name: str, given: Mapping[str, Any], verbs: Iterable[str]) -> dict[str, Any]:
    """A prompt with its arguments filled in. Refuses invalid_argument, unknown_argument, malformed_id."""
    had = _had(verbs)
    if name not in had:
        raise Refused("invalid_argument", f"{quoted(name)} is no prompt of yours. There is {', '.join(had) or 'none'}.")
    prompt = had[name]
    for argument in given:
        if argument not in prompt.arguments:
            raise unknown_argument(f"The prompt {name}", argument, list(prompt.arguments)).of_a_read()
    said = {each: _checked(name, each, a, given.get(each, "")) for each, a in prompt.arguments.items()}
    text = prompt.text({each: value for each, value in said.items() if value})
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": prompt.description, "messages": [message]}


def _checked(prompt: str, name: str, argument: Argument, value: Any) -> str:
    if not isinstance(value, str) or (argument.required and not value.strip()):
        raise Refused("invalid_argument", f"The prompt {prompt} takes {name}: {argument.description}.", argument=name)
    return argument.check(value.strip()) if value.strip() else ""
