"""The control API under `/_/`: what people do, what goes wrong, and what the bot did."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, fields, replace
from itertools import takewhile
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.telegram.emulator import people
from tests.telegram.emulator.faults import Fault
from tests.telegram.emulator.methods import leave
from tests.telegram.emulator.state import Chat, Person, Sent, State
from tests.telegram.emulator.updates import Update

Json = dict[str, Any]

LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of the control: its body, the ids of its path, its query."""

    state: State
    body: Json
    path: dict[str, str]
    query: dict[str, str]

    def person(self) -> Person:
        """The person of the path."""
        return self.state.people[int(self.path["id"])]

    def chat(self) -> Chat:
        """The chat of the path."""
        return self.state.chats[int(self.path["id"])]

    def deadline(self) -> float:
        """Until when the asker wants to wait, by the loop's clock."""
        wait = min(float(self.query.get("wait", 0)), LONGEST_WAIT)
        return asyncio.get_running_loop().time() + wait

    def since(self) -> int:
        """The version the asker has seen."""
        return int(self.query.get("since", 0))


Handler = Callable[[Ask], Any]


def overview(ask: Ask) -> Json:
    """All there is, but for messages and calls."""
    state = ask.state
    return {
        "version": state.changes.version, "now": state.clock.now(), "token": state.token, "bot": state.bot(),
        "limits": asdict(state.limits), "people": [asdict(one) for one in state.people.values()],
        "chats": [chat.view() for chat in state.chats.values()], "faults": faults(ask),
        "violations": len(state.violations), "polling": state.updates.polling,
        "pending": [update.shown() for update in state.updates.pending()[:100]],
        "webhook": state.webhook.info(pending=len(state.updates.waiting), allowed=state.updates.allowed),
        "commands": [[*json.loads(scope), commands] for scope, commands in state.commands.items()],
    }  # fmt: skip


async def wait(ask: Ask) -> Json:
    """Wait for a change after a version."""
    await ask.state.changes.beyond(ask.since(), deadline=ask.deadline())
    return {"version": ask.state.changes.version}


def add_person(ask: Ask) -> Json:
    """Somebody new; `started` when they have a chat with the bot already."""
    number = ask.body.get("id") or max([1000, *ask.state.people]) + 1
    if number in ask.state.people:
        raise ValueError(f"there is a person {number} already")
    person = ask.state.people[number] = Person(**{**ask.body, "id": number})
    if person.started:
        people.private_chat(ask.state, person)
    ask.state.changes.bump()
    return asdict(person)


def change_person(ask: Ask) -> Json:
    """Block or unblock the bot, delete the account, take another name."""
    person = ask.person()
    for name, value in ask.body.items():
        if name == "blocked":
            people.block(ask.state, person, blocked=value)
        elif name in ("deactivated", "name", "username", "language"):
            setattr(person, name, value)
        else:
            raise ValueError(f"a person has no {name} that changes")
    ask.state.changes.bump()
    return asdict(person)


def add_chat(ask: Ask) -> Json:
    """A group, supergroup or channel."""
    state, body = ask.state, ask.body
    group = body["kind"] == "group"
    number = body.get("id") or (-(2_000 + len(state.chats)) if group else -(1_001_000_000_000 + len(state.chats)))
    if number in state.chats:
        raise ValueError(f"there is a chat {number} already")
    topics = {int(topic): name for topic, name in (body.get("topics") or {}).items()}
    chat = state.chats[number] = Chat(
        number, body["kind"], title=body["title"], forum=bool(topics) or body.get("forum", False),
        members=set(body.get("members", ())), bot_status=body.get("bot_status", "member"), topics=topics,
    )  # fmt: skip
    adder = next((state.people[one] for one in chat.members if one in state.people), None)
    if adder:
        state.updates.add("my_chat_member", people.bot_moved(state, chat, adder, ("left", chat.bot_status)))
    state.changes.bump()
    return chat.view()


def change_chat(ask: Ask) -> Json:
    """Move the bot in or out, let people join or leave, add topics, take another title."""
    state, chat, body = ask.state, ask.chat(), ask.body
    if status := body.get("bot_status"):
        mover = next((state.people[one] for one in chat.members if one in state.people), Person(1, "Somebody"))
        moved = people.bot_moved(state, chat, mover, (chat.bot_status, status))
        if status == "left":
            leave(state, chat)
        chat.bot_status = status
        state.updates.add("my_chat_member", moved)
    chat.members = chat.members - set(body.get("leave", ())) | set(body.get("join", ()))
    chat.topics |= {int(topic): name for topic, name in body.get("topics", {}).items()}
    chat.title = body.get("title", chat.title)
    state.changes.bump()
    return chat.view()


def migrate(ask: Ask) -> Json:
    """A group becomes a supergroup, under another id; both are told in a service message."""
    state, chat = ask.state, ask.chat()
    if chat.kind != "group" or chat.migrated_to is not None:
        raise ValueError(f"{chat.title} is no group that could become a supergroup")
    number = -(1_001_000_000_000 + len(state.chats))
    new = state.chats[number] = Chat(
        number, "supergroup", title=chat.title, members=set(chat.members), bot_status=chat.bot_status
    )
    for old, told in ((chat, {"migrate_to_chat_id": new.id}), (new, {"migrate_from_chat_id": chat.id})):
        message = {"message_id": state.next_message_id(), "date": state.now(), "chat": state.shown(old), **told}
        author = people.group_author(state, old)
        state.put(old, Sent({**message, **author}, by_bot=False))
        state.updates.add("message", {**message, **author})
    chat.migrated_to = new.id
    state.changes.bump()
    return new.view()


async def messages(ask: Ask) -> Json:
    """The messages of a chat that are new or changed after a version; waits for the first."""
    chat = ask.state.chats.get(int(ask.path["id"]))
    while chat is None or chat.version <= ask.since():
        seen = ask.state.changes.version
        if not await ask.state.changes.beyond(seen, deadline=ask.deadline()):
            break
        chat = ask.state.chats.get(int(ask.path["id"]))
    if chat is None:
        return {"version": 0, "messages": []}
    fresh = takewhile(lambda sent: sent.version > ask.since(), reversed(chat.recent.values()))
    return {"version": chat.version, "messages": [sent.view() for sent in sorted(fresh, key=lambda one: one.id)]}


def news(ask: Ask) -> Json:
    """The messages of private chats that are new or changed after a version, and the presses answered since."""
    state, since = ask.state, ask.since()
    chats = (chat for chat in state.chats.values() if chat.kind == "private" and chat.version > since)
    fresh = (takewhile(lambda sent: sent.version > since, reversed(chat.recent.values())) for chat in chats)
    answered = takewhile(lambda press: press.version > since, reversed(state.answered))
    return {
        "version": state.changes.version,
        "messages": [sent.view() for each in fresh for sent in each],
        "answers": [press.view() for press in answered],
    }


async def press_answer(ask: Ask) -> Json:
    """A press with its answer, waited for."""
    made = ask.state.presses[ask.path["id"]]
    deadline = ask.deadline()
    while made.answer is None:
        if not await ask.state.changes.beyond(ask.state.changes.version, deadline=deadline):
            break
    return made.view()


def calls(ask: Ask) -> list[Json]:
    """What the bot called, of one method or of all, after a number."""
    wanted, after = ask.query.get("method"), int(ask.query.get("after", 0))
    fresh = takewhile(lambda call: call["n"] > after, reversed(ask.state.calls))
    return [call for call in fresh if wanted in (None, call["method"])][::-1]


def faults(ask: Ask) -> list[Json]:
    """Those that are set, with how often they struck."""
    return [fault.view() for fault in ask.state.faults.rules]


def add_fault(ask: Ask) -> Json:
    """Set one."""
    fault = Fault(**ask.body)
    ask.state.faults.add(fault)
    return fault.view()


def clear_faults(ask: Ask) -> list[Json]:
    """Forget all; gives what they had done."""
    done = faults(ask)
    ask.state.faults.clear()
    return done


def pass_time(ask: Ask) -> Json:
    """Move the clock by seconds."""
    ask.state.clock.offset += float(ask.body["seconds"])
    ask.state.changes.bump()
    return {"now": ask.state.clock.now()}


def change_limits(ask: Ask) -> Json:
    """Change some."""
    known = {field.name for field in fields(ask.state.limits)}
    if unknown := set(ask.body) - known:
        raise ValueError(f"no limit {', '.join(sorted(unknown))}: {', '.join(sorted(known))}")
    ask.state.set_limits(replace(ask.state.limits, **ask.body))
    return asdict(ask.state.limits)


def add_update(ask: Ask) -> Json:
    """Queue an update as it is: `{"kind", "body"}`, with an id of your own in `update_id`."""
    updates, body = ask.state.updates, ask.body
    number = body.get("update_id", updates.next_id)
    updates.next_id = max(updates.next_id, number + 1)
    updates.push(Update(number, body["kind"], body["body"], ask.state.clock.now() + ask.state.limits.update_kept))
    return {"update_id": number}


def renumber(ask: Ask) -> Json:
    """Let update ids go on from another number, as they do after a quiet week."""
    ask.state.updates.next_id = int(ask.body["next_id"])
    return {"next_id": ask.state.updates.next_id}


async def forge(ask: Ask) -> Json:
    """Post an update to the webhook as an attacker would; gives the status."""
    if not ask.state.webhook.url:
        raise ValueError("the bot has set no webhook")
    async with httpx.AsyncClient(timeout=30, trust_env=False, verify=False) as client:
        return {"status": await ask.state.webhook.post(client, ask.body["update"], secret=ask.body.get("secret"))}


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/_/state", overview),
    ("GET", "/_/wait", wait),
    ("GET", "/_/news", news),
    ("POST", "/_/people", add_person),
    ("PATCH", "/_/people/{id}", change_person),
    ("POST", "/_/people/{id}/say", lambda ask: people.say(ask.state, ask.person(), ask.body).view()),
    ("POST", "/_/people/{id}/start", lambda ask: people.start(ask.state, ask.person(), ask.body["payload"]).view()),
    ("POST", "/_/people/{id}/edit", lambda ask: people.edit(ask.state, ask.person(), ask.body).view()),
    ("POST", "/_/people/{id}/press", lambda ask: people.press(ask.state, ask.person(), ask.body).view()),
    ("GET", "/_/presses/{id}", press_answer),
    ("POST", "/_/chats", add_chat),
    ("PATCH", "/_/chats/{id}", change_chat),
    ("POST", "/_/chats/{id}/migrate", migrate),
    ("GET", "/_/chats/{id}/messages", messages),
    ("GET", "/_/calls", calls),
    ("GET", "/_/violations", lambda ask: list(ask.state.violations)),
    ("GET", "/_/faults", faults),
    ("POST", "/_/faults", add_fault),
    ("DELETE", "/_/faults", clear_faults),
    ("POST", "/_/clock", pass_time),
    ("PATCH", "/_/limits", change_limits),
    ("POST", "/_/updates", add_update),
    ("POST", "/_/updates/renumber", renumber),
    ("POST", "/_/forge", forge),
)


def routes(state: State) -> list[Route]:
    """The control's routes."""
    return [Route(path, _endpoint(state, handler), methods=[method]) for method, path, handler in ROUTES]


def _endpoint(state: State, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = await request.json() if request.method in ("POST", "PATCH") else {}
        try:
            answer = handler(Ask(state, body, dict(request.path_params), dict(request.query_params)))
            shown = await answer if asyncio.iscoroutine(answer) else answer
            if request.method != "GET":
                state.changes.bump()
            return JSONResponse(shown)
        except (ValueError, TypeError) as wrong:
            return JSONResponse({"error": str(wrong)}, status_code=400)
        except KeyError as missing:
            return JSONResponse({"error": f"nothing here is called {missing}"}, status_code=404)

    return endpoint
