"""Where a person acted, in words."""

_SURFACES = {"console": " in the console", "telegram": " on Telegram"}


def surface(via: str) -> str:
    """As a sentence goes on with it (` in the console`); '' for what is no surface of people's."""
    return _SURFACES.get(via, "")
