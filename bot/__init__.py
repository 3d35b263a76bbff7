"""The Telegram bot: cards out, presses in. It holds no rules and no rights; see ARCHITECTURE.md."""
