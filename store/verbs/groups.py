"""Groups on Telegram that get notices of a space, and the spaces that have anything to do with Telegram."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from ..domain.commit import Commit, put
from ..domain.errors import Refused
from ..domain.group import Group, group_id
from ..domain.space import Space
from ..engine.reads import Doc, Range
from ..engine.store import Store
from .call import Call, Result, Row
from .everywhere import everywhere
from .faults import told_plainly
from .identity import Badge
from .perform import perform
from .unheard import every_ask, refs

TITLE = 80  # characters of a group's name in the Log
LIMIT = 500  # groups and topics of a space
OVER = "No notices go to a Telegram group any more"

log = structlog.get_logger(__name__)


async def group(store: Store, badge: Badge, *, chat: int, thread: int, title: str, off: bool, action_id: str) -> Result:
    """Have notices of a space go to a group, or to a topic of one, or no more.

    For owners. Refuses what the policy does, not_found.
    """
    args = {"chat": chat, "thread": thread, "title": title, "off": off}
    return await perform(store, badge, _GROUP, args, action_id=action_id)


async def _group(call: Call, *, chat: int, thread: int, title: str, off: bool) -> Commit:
    id = group_id(chat, thread)
    old = await call.read(Doc(Group, id))
    space = call.caller.space
    told = {"chat": chat, "thread": thread, "on": not off}
    if off:
        if old is None or not old.on:
            raise Refused("not_found", f"No notices of {space} go here. Nothing changed.")
        new, said = replace(old, on=False), OVER
    else:
        new = Group(id=id, by=call.me, since=call.now)
        said = f"Notices of {space} go to a Telegram group: what is asked, and how it was decided"
    on = () if call.space.telegram else (put(replace(call.space, telegram=True)),)
    cards = () if off else refs(await every_ask(call))  # what waits already is told here too
    about = {"chat": chat, **({"thread": thread} if thread else {}), "title": title[:TITLE]}
    return Commit(
        result={**told, "says": f"{'No notices' if off else 'Notices'} of {space} {'come' if off else 'go'} here."},
        puts=(put(new), *on),
        entries=(call.entry(f"channel:{space}", "rule", said, payload=about),),
        cards=cards,
    )


async def left(store: Store, *, chat: int) -> list[str]:
    """The bot is in this chat no more, whoever put it out; the spaces whose notices went there."""
    return await everywhere(store, GONE, await _spaces(store), chat=chat)


async def _gone(call: Call, *, chat: int) -> Commit | Result:
    groups = await _of_chat(call, chat)
    if not groups:
        return {"changed": False}
    entry = call.entry(f"channel:{call.caller.space}", "rule", f"{OVER}: the bot is not in it", payload={"chat": chat})
    return Commit(result={"changed": True}, puts=tuple(put(replace(g, on=False)) for g in groups), entries=(entry,))


async def migrated(store: Store, *, old: int, new: int) -> list[str]:
    """A group has another number now; the spaces whose notices went there."""
    return await everywhere(store, MOVED, await _spaces(store), old=old, new=new)


async def _moved(call: Call, *, old: int, new: int) -> Commit | Result:
    groups = await _of_chat(call, old)
    if not groups:
        return {"changed": False}
    there = await call.read_each(Doc(Group, group_id(new, group.thread)) for group in groups)
    moved = [
        after if after and after.on else replace(group, id=group_id(new, group.thread))
        for group, after in zip(groups, there, strict=True)
    ]
    puts = [*(put(replace(group, on=False)) for group in groups), *map(put, moved)]
    return Commit(result={"changed": True}, puts=tuple(puts))


async def _of_chat(call: Call, chat: int) -> Sequence[Group]:
    """The topics of a chat to which notices go, read for a decision."""
    page = await call.look(Range("groups", "", LIMIT))
    mine = [id for id in page.ids(Group) if id.partition(":")[0] == str(chat)]
    found = await call.read_each(Doc(Group, id) for id in mine) if mine else []
    return [group for group in found if group and group.on]


async def _spaces(store: Store) -> list[str]:
    with told_plainly():
        return await store.shared.spaces()


async def on_telegram(store: Store) -> list[str]:
    """The spaces whose people or groups are reached there; one that cannot be read keeps no other from it."""
    found = []
    for name in await _spaces(store):
        with told_plainly():
            try:
                ((space,),) = await store.across([name], Doc(Space, name))
            except ValueError:
                log.error("space_unreadable", space=name)
                continue
        if space and space.telegram:
            found.append(name)
    return found


_GROUP = Row("group", "manage", _group)
GONE, MOVED = Row("gone", "write", _gone), Row("moved", "write", _moved)
