"""Who may do what: the one function that every call passes. A refusal names the rule that refused.

The rules that hold whatever a policy set says stand first; a Cedar policy set takes the place of the last one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .errors import Refused

EFFECTS = ("read", "write", "gate", "decide", "manage")


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the policy: whether `principal`, holding the rights `may`, may do `verb` in `space`."""

    principal: str
    verb: str
    effect: str
    space: str
    may: tuple[str, ...]
    listed: tuple[str, ...] = ()  # profiles that list the verb; none for what people do
    profile: str = ""  # of the key, which narrows what it may call

    @property
    def is_(self) -> str:
        """The kind of the principal: agent, human or system."""
        return self.principal.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule: which requests it refuses, and with what."""

    name: str
    refuses: Callable[[Request], bool]
    code: str
    text: str


RULES: Sequence[Rule] = (
    Rule(
        "only-people-decide",
        lambda r: r.effect == "decide" and r.is_ != "human",
        "humans_only",
        "{verb} is for people: they decide in the console, and {principal} is none. Nothing changed. "
        "Wait for them: logmem_follow {{what: <trail>}}",
    ),
    Rule(
        "agents-do-not-manage",
        lambda r: r.effect == "manage" and r.is_ == "agent",
        "scope_denied",
        "{verb} is for the owners of {space}; {principal} is an agent (rule {rule}). Nothing was written.",
    ),
    Rule(
        "people-have-their-own-verbs",
        lambda r: r.is_ == "agent" and not r.listed,
        "scope_denied",
        "{verb} is for people; {principal} is an agent (rule {rule}). Nothing was done.",
    ),
    Rule(
        "profile-of-the-key",
        lambda r: r.is_ == "agent" and r.profile not in r.listed,
        "scope_denied",
        "The key of {principal} has the profile {profile}, which has no {verb} (rule {rule}). Nothing was done. "
        "An owner can mint one with another profile.",
    ),
    Rule(
        "deciding-needs-the-role",
        lambda r: r.effect == "decide" and r.effect not in r.may,
        "not_an_approver",
        "{principal} is no approver of {space} now (rule {rule}). Nothing changed. An owner can give the role.",
    ),
    Rule(
        "rights-of-the-credential",
        lambda r: r.effect not in r.may,
        "scope_denied",
        "{principal} may {may} in {space}, and {verb} needs {effect} (rule {rule}). Nothing was written. "
        "An owner can change that.",
    ),
)


def permit(request: Request) -> None:
    """Let the request pass. Refuses humans_only, not_an_approver, scope_denied."""
    for rule in RULES:
        if rule.refuses(request):
            text = rule.text.format(
                principal=request.principal,
                verb=request.verb,
                space=request.space,
                effect=request.effect,
                may=", ".join(request.may) or "nothing",
                profile=request.profile,
                rule=rule.name,
            )
            raise Refused(rule.code, text, rule=rule.name, caller=request.principal, space=request.space)
