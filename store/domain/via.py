"""Where a person acted: in words, and how sure we are there that it was them."""

from collections.abc import Mapping

from .errors import Refused

_SURFACES = {"console": " in the console", "telegram": " on Telegram"}
ASSURANCE: Mapping[str, str] = {"console": "session", "telegram": "telegram"}  # by where a person acted


def surface(via: str) -> str:
    """As a sentence goes on with it (` in the console`); '' for what is no surface of people's."""
    return _SURFACES.get(via, "")


def is_enough(assurance: str, *, risk: str, verdict: str) -> bool:
    """Whether this verdict may be given where we are so sure who gives it.

    Whoever holds a person's phone holds their Telegram, so high risk takes more there; saying no takes nothing.
    """
    return risk != "high" or verdict == "reject" or assurance != ASSURANCE["telegram"]


def check_assurance(assurance: str, *, risk: str, verdict: str) -> None:
    """Let this verdict be given where we are so sure who gives it. Refuses assurance_too_low."""
    if not is_enough(assurance, risk=risk, verdict=verdict):
        raise Refused(
            "assurance_too_low",
            "High risk is not approved on Telegram. Nothing changed. Open it in the console; rejecting works here.",
            needs="session",
        )
