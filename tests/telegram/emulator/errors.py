"""Errors as Telegram words them; the HTTP status is the error's code."""

from typing import Any

REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    500: "Internal Server Error",
    501: "Not Implemented",
}


class BotError(Exception):
    """A call that is refused."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def body(self) -> dict[str, Any]:
        """The answer's JSON."""
        extra = {"parameters": self.parameters} if self.parameters else {}
        return {"ok": False, "error_code": self.code, "description": self.description, **extra}


def refuse(code: int, what: str) -> BotError:
    """An error with its code's usual first words: `refuse(400, "chat not found")`."""
    return BotError(code, f"{REASONS[code]}: {what}")


NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)
STALE_QUERY = "query is too old and response timeout expired or query ID is invalid"
OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
ENDED_BY_WEBHOOK = "Conflict: terminated by setWebhook request"
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
TEXT_BUTTON = "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
