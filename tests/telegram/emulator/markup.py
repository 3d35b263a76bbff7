"""Keyboards by Telegram's rules."""

import json
from typing import Any
from urllib.parse import urlsplit

from tests.telegram.emulator.errors import TEXT_BUTTON, refuse
from tests.telegram.emulator.limits import Limits
from tests.telegram.emulator.text import units

Json = dict[str, Any]

ACTIONS = (
    "url", "callback_data", "web_app", "login_url", "switch_inline_query", "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat", "copy_text", "callback_game", "pay", "disabled",
)  # fmt: skip
"""What makes a text a button; the first of several wins."""


def inline(markup: Json | None, *, limits: Limits, private: bool) -> Json | None:
    """The inline keyboard as it will be shown, None for none; a BotError 400 for what is refused."""
    if markup is None:
        return None
    if "inline_keyboard" not in markup:
        raise refuse(400, "inline keyboard expected")
    rows = [[_button(button, private=private) for button in row] for row in markup["inline_keyboard"] if row]
    size = len(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    if sum(len(row) for row in rows) > limits.markup_buttons or size > limits.markup_bytes:
        raise refuse(400, "reply markup is too long")
    return {"inline_keyboard": rows} if rows else None


def _button(button: Json, *, private: bool) -> Json:
    action = next((name for name in ACTIONS if name in button), None)
    if action is None:
        raise refuse(400, TEXT_BUTTON)
    if not button["text"].strip():
        raise refuse(400, "can't parse inline keyboard button: text of the button must be non-empty")
    value = button[action]
    if action == "callback_data" and not 1 <= len(value.encode()) <= 64:
        raise refuse(400, "BUTTON_DATA_INVALID")
    if action == "url":
        check_link(value)
    if action == "copy_text" and not 1 <= units(value["text"]) <= 256:
        raise refuse(400, "BUTTON_COPY_TEXT_INVALID")
    if action in ("web_app", "login_url"):
        if action == "web_app" and not private:
            raise refuse(400, "BUTTON_TYPE_INVALID")
        if not value["url"].startswith("https://"):
            raise refuse(400, f"inline keyboard button URL '{value['url']}' is invalid: only HTTPS links are allowed")
    return {key: kept for key, kept in button.items() if key not in ACTIONS or key == action}


def check_link(url: str) -> None:
    """A link that a button may open: http, https or tg, and a host with a dot."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme == "tg" and url.startswith("tg://"):
        return
    if parts.scheme not in ("http", "https"):
        raise refuse(400, f"inline keyboard button URL '{url}' is invalid: Unsupported URL protocol")
    if "." not in host or any(sign.isspace() for sign in url):
        raise refuse(400, f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")


def of_message(markup: Json | None, *, limits: Limits, private: bool) -> tuple[Json | None, Json | None]:
    """What sendMessage's reply_markup means: the inline keyboard, or the special markup, or neither."""
    if markup is None or "inline_keyboard" in markup:
        return inline(markup, limits=limits, private=private), None
    if len(json.dumps(markup).encode()) > limits.markup_bytes:
        raise refuse(400, "reply markup is too long")
    if "keyboard" in markup and not any(row for row in markup["keyboard"]):
        raise refuse(400, "reply keyboard is empty")
    return None, markup
