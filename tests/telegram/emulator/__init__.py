"""A strict Bot API server over HTTP: it refuses what Telegram refuses, in the same words, and fails on demand.

`bot-api-10.3.json` is the schema of Bot API 10.3 (methods with parameters, and types), made from the declarations of
npm `@gramio/types` 10.3.1 (MIT, its text in `bot-api-10.3.LICENSE`). Methods without parameters are not in it: see
`schema.py`.

One event loop owns the whole state (`state.py`), so nothing needs a lock; `tests/telegram/running.py` gives it a
thread of its own.
"""
