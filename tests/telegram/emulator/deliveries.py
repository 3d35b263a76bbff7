"""Updates as the bot gets them: polled or pushed, and spoiled on demand."""

import asyncio
from typing import Any

import httpx

from tests.telegram.emulator.faults import OF_UPDATES
from tests.telegram.emulator.state import State
from tests.telegram.emulator.updates import Update

Json = dict[str, Any]


def polled(state: State, ready: list[Update]) -> list[Json]:
    """The updates of one answer, with the fault that is due; faults wait for an answer that carries updates."""
    shown = [update.shown() for update in ready]
    if not ready:
        return shown
    kinds = OF_UPDATES if len(ready) > 1 else OF_UPDATES[:-1]  # one alone has no order
    fault = state.faults.struck("getUpdates", kinds=kinds)
    match fault and fault.kind:
        case "malformed":
            return [*shown, _malformed(state).shown()]
        case "duplicate":
            return _twice(state, shown)
        case "reorder" if fault:
            mixed = fault.dice.sample(shown, len(shown))
            return mixed[::-1] if mixed == shown else mixed
    return shown


def _malformed(state: State) -> Update:
    """One more update, which no library can parse."""
    return state.updates.insert("message", {"message_id": "seven", "chat": 7, "date": None})


def _twice(state: State, shown: list[Json]) -> list[Json]:
    """The last update that was confirmed comes again, and each of these twice."""
    before = [state.updates.confirmed[-1].shown()] if state.updates.confirmed else []
    return before + [update for update in shown for _ in range(2)]


async def push_to_webhook(state: State) -> None:
    """Push updates to the webhook while there is one, until cancelled; in order, each until it is taken."""
    async with httpx.AsyncClient(timeout=30, trust_env=False, verify=False) as client:
        failures = 0
        while not state.changes.closed:
            seen, pending = state.changes.version, state.updates.pending()
            if not state.webhook.url or not pending:
                await state.changes.beyond(seen, deadline=asyncio.get_running_loop().time() + 60)
                continue
            failures = 0 if await _push_one(state, client, pending) else failures + 1
            if failures:
                await _pause(state, min(2 ** (failures - 1), 60) * state.limits.webhook_retry)


async def _push_one(state: State, client: httpx.AsyncClient, pending: list[Update]) -> bool:
    kinds = OF_UPDATES if len(pending) > 1 else OF_UPDATES[:-1]  # one alone has no order
    fault = state.faults.struck("getUpdates", kinds=kinds)
    update = fault.dice.choice(pending[1:]) if fault and fault.kind == "reorder" else pending[0]
    if fault and fault.kind == "malformed":
        _malformed(state)
    shown = [update.shown()]
    for one in _twice(state, shown) if fault and fault.kind == "duplicate" else shown:
        status = await state.webhook.post(client, one, secret=state.webhook.secret)
        if not 200 <= status < 300:
            state.webhook.last_error_at = state.now()
            state.webhook.last_error = f"Wrong response from the webhook: {status}" if status else "Connection refused"
            state.changes.bump()
            return False
    if update in state.updates.waiting:
        state.updates.waiting.remove(update)
        state.updates.confirmed.append(update)
        state.changes.bump()
    return True


async def _pause(state: State, seconds: float) -> None:
    """Wait, but not for a webhook that is another by now."""
    state.webhook.changed.clear()
    try:
        await asyncio.wait_for(state.webhook.changed.wait(), seconds)
    except TimeoutError:
        return
