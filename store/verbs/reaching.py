"""How people are reached on Telegram: paired in a space, lost, found again; on call; when cards make no sound."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from ..domain.ask import Ask
from ..domain.commit import Commit, put
from ..domain.document import Document
from ..domain.entry import Entry
from ..domain.errors import Refused
from ..domain.grant import Grant
from ..domain.item import Item
from ..domain.moments import iso
from ..domain.person import Member
from ..domain.reach import Reach, paired, quiet_hours, snoozed_until, unpaired
from ..engine.copies import Changing
from ..engine.reads import Doc
from ..engine.store import Store
from .approvers import ROLES, Otherwise, Roles, audience
from .arguments import Length
from .call import Call, Result, Row
from .everywhere import bot_badge, everywhere
from .faults import told_plainly
from .perform import perform
from .signed_in import sessions_of
from .unheard import BATCH, NOBODY, WAITING, Change, Ref, owners, refs, retold, waiting


async def joined(
    call: Call, person: str, member: Member, *, account: int, lost: bool = False, found: Iterable[Ref] | None = None
) -> Change:
    """The person, with this membership, is reached here by this account from now on.

    `found` are the asks and items that this may be about, by default those which wait for them.
    """
    reach = await call.read(Doc(Reach, person))
    found = await waiting(call, owners(person, member)) if found is None else list(found)
    on = () if call.space.telegram else (put(replace(call.space, telegram=True)),)
    new = replace(paired(reach, person=person, account=account), lost=call.now if lost else 0)
    told = await retold(call, found, but=Otherwise(member=member, reach=new))
    return replace(told, puts=(put(new), *on, *told.puts), cards=refs(found))


async def left(call: Call, person: str) -> Change:
    """The person is reached here by no account any more."""
    reach, member = await call.read(Doc(Reach, person), Doc(Member, person))
    if reach is None or not reach.account:
        return Change()
    found, new = await waiting(call, owners(person, member)), unpaired(reach)
    told = await retold(call, found, but=Otherwise(reach=new))
    entries = (*told.entries, *await _undelivered(call, found, person))
    return replace(told, puts=(put(new), *told.puts), entries=entries, cards=refs(found))


async def _undelivered(call: Call, found: Iterable[Ref], person: str) -> tuple[Entry, ...]:
    """Tell those who handed something to this person that it does not arrive."""
    ids = [id for kind, id in found if kind == Item.kind]
    if not ids or (await call.read(sessions_of(call, person))).ids(Grant):
        return ()
    items = await call.read_each(Doc(Item, id) for id in ids[:BATCH])
    text = f"{person} cannot be reached now: no card arrives, and they are not signed in. It stays open."
    mine = [item for item in items if item and item.to == person and item.as_of(call.now).state == "open"]
    return tuple(call.entry(item.where, "undelivered", text, trail=item.thread) for item in mine)


async def _reach(call: Call, *, person: str) -> Commit | Result:
    """Note whether messages reach somebody, as is known of their account.

    If none does, the next ones are asked, and who asks is told where nobody is left.
    """
    account = await call.store.shared.accounts.of(person)
    reach, member = await call.read(Doc(Reach, person), Doc(Member, person))
    if account is None or reach is None or reach.account != account.number:
        return {"changed": False, "more": False}
    fresh = bool(reach.lost) != account.lost
    new = replace(reach, lost=call.now if account.lost else 0) if fresh else reach
    found = await waiting(call, owners(person, member))
    told = await retold(call, found, but=Otherwise(reach=new))
    result = {"changed": fresh, "more": told.more}
    if not fresh and not told.puts:
        return result
    handed = await _undelivered(call, found, person) if fresh and new.lost else ()
    return Commit(
        result=result,
        puts=((put(new),) if fresh else ()) + told.puts,
        entries=told.entries + handed,
        cards=(*refs(found), *(() if new.lost else await _behind(call))) if fresh else (),
    )


async def _behind(call: Call) -> list[str]:
    """What may have ended while nothing reached somebody: their cards of it are to show that, once they are back."""
    return list(await call.look(Changing(WAITING)))


async def _unshown(call: Call, *, ref: str, person: str, account: int) -> Commit | Result:
    """The card of this ref cannot be shown to somebody: they are passed over, for this one alone."""
    kind, _, id = ref.partition(":")
    reach, doc = await call.read(Doc(Reach, person), Doc(Ask if kind == Ask.kind else Item, id))
    if reach is None or reach.account != account or not _is_open(call, doc):
        return {"changed": False}
    match doc:
        case Ask() if person not in doc.unshown:
            new = replace(doc, unshown=(*doc.unshown, person))
            silent = not new.unheard and (await audience(call, new, firm=True)).is_silent
            entry = call.entry(new.where, "undelivered", NOBODY, trail=id)
            new = replace(new, unheard=call.now) if silent else new
            return Commit(result={"changed": True}, puts=(put(new),), entries=(entry,) if silent else ())
        case Item() if person not in doc.unshown:
            item = replace(doc, unshown=(*doc.unshown, person))
            said = await _undelivered(call, [(Item.kind, id)], person)
            return Commit(result={"changed": True}, puts=(put(item),), entries=said)
    return {"changed": False}


def _is_open(call: Call, doc: Document | None) -> bool:
    live = doc.as_of(call.now) if isinstance(doc, Ask | Item) else None
    return live is not None and live.state in ("pending", "open")


REACH, UNSHOWN = Row("reach", "write", _reach), Row("unshown", "write", _unshown)


async def unreached(store: Store, *, user: int, age: int = 0) -> tuple[list[str], bool]:
    """A message did not reach the person with this account, `age` ms ago; the spaces in which that is news.

    And whether they are out of reach, as far as is known: not where they were heard since.
    """
    accounts = store.shared.accounts
    changed = await _known(store, user, lambda: accounts.mark_lost(user, age=age))
    with told_plainly():
        return changed, await accounts.lost(user)


async def reached(store: Store, *, user: int, age: int = 0) -> list[str]:
    """The person with this account was heard, or reached, `age` ms ago; the spaces in which that is news."""
    return await _known(store, user, lambda: store.shared.accounts.mark_heard(user, age=age))


async def heard_from(store: Store, *, user: int) -> None:
    """Who writes to the bot in their own chat can be reached there."""
    with told_plainly():
        lost = await store.shared.accounts.lost(user)
    if lost:
        await reached(store, user=user)


async def unshown(store: Store, *, user: int, space: str, ref: str) -> list[str]:
    """The card of this ref cannot be shown to the person with this account; the space, where that is news."""
    with told_plainly():
        person = await store.shared.accounts.person(user)
    if not person:
        return []
    out = await perform(store, bot_badge(space), UNSHOWN, {"ref": ref, "person": person, "account": user})
    return [space] if out["changed"] else []


async def _known(store: Store, user: int, mark: Callable[[], Awaitable[object]]) -> list[str]:
    """Note it with the account, where that is somebody's, and in each space of theirs."""
    with told_plainly():
        person = await store.shared.accounts.person(user)
        names = await store.shared.joined(person.partition(":")[2]) if person else []
    return await everywhere(store, REACH, names, first=mark, person=person) if person else []


async def oncall(call: Call, *, on: bool = True) -> Commit:
    """Be on call: asks go to those on call first, and to all approvers where nobody is. on: false ends it."""
    reach = await _own(call)
    if "decide" not in call.may:
        raise Refused(
            "not_an_approver", f"{call.me} is no approver now, and only approvers are on call. Nothing changed."
        )
    others = await _on_call(call)
    changed = reach.on_call != on
    said = f"{call.me} is {'on call' if on else 'on call no more'}"
    return Commit(
        result={"on_call": on, "others": others},
        puts=(put(replace(reach, on_call=on)),) if changed else (),
        entries=(call.entry(call.me, "on_call", said),) if changed else (),
        cards=refs(await waiting(call, owners(call.me, call.member))) if changed else (),
    )


async def _on_call(call: Call) -> list[str]:
    """Who else is on call."""
    people = [p for p in Roles.of(*await call.look(*ROLES)).approvers if p != call.me]
    reaches = await call.look_each(Doc(Reach, p) for p in people) if people else []
    return [reach.id for reach in reaches if reach and reach.live and reach.on_call]


async def quiet(call: Call, *, snooze: Length = "", hours: str = "") -> Commit:
    """Let cards come without a sound: for a while (snooze: "2h", or off), or each day (hours: "22:00-07:00", or off).

    No deadline moves, and high risk always sounds. With neither it changes nothing, and says how cards come to you.
    """
    await call.admit()
    until = snoozed_until(snooze, now=call.now) if snooze != "" else None
    daily = quiet_hours(hours) if hours else None
    old = await _own(call)
    reach = replace(old, snoozed=old.snoozed if until is None else until, quiet=old.quiet if daily is None else daily)
    snoozed = {"snoozed_until": iso(reach.snoozed)} if reach.snoozed > call.now else {}
    on_call = {"on_call": reach.on_call, "others": await _on_call(call)}
    result: Result = {**snoozed, "hours": reach.quiet, "zone": call.space.zone, **on_call}
    return Commit(result=result, puts=(put(reach),) if reach != old else ())


async def _own(call: Call) -> Reach:
    """How the caller is reached. Refuses not_found."""
    await call.admit()
    reach = await call.read(Doc(Reach, call.me))
    if reach is None or not reach.account:
        raise Refused(
            "not_found",
            f"{call.me} has no Telegram account in {call.caller.space}. Nothing changed. Pair one in the console.",
        )
    return reach
