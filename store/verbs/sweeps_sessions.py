"""Sessions of people whose time is over: an ask that nobody else can be told of says so, as after a sign-out."""

from dataclasses import replace

from ..domain.commit import Commit, put
from ..domain.grant import Grant
from ..domain.person import Member
from ..engine.reads import Doc, Range
from .call import Call
from .signed_in import over_until
from .sweeping import BATCH, did, each, row
from .unheard import Change, owners, retold, waiting


async def _passed(call: Call) -> Commit:
    """The sessions that have ended by their time."""
    await call.admit()
    page = await call.look(Range("passing", "", BATCH, high=over_until(call)))
    ended = await each(call, page, Grant)
    told = await _told(call, ended) if call.space.telegram else Change()
    return did(
        len(ended),
        more=len(page.members) == BATCH,
        puts=(*(put(replace(grant, passed=call.now)) for grant in ended), *told.puts),
        entries=told.entries,
    )


async def _told(call: Call, ended: list[Grant]) -> Change:
    """What is to be said of the asks that wait for these people."""
    people = dict.fromkeys(grant.principal for grant in ended)
    members = await call.read_each(Doc(Member, person) for person in people) if people else []
    names = dict.fromkeys(name for member in members if member for name in owners(member.id, member))
    return await retold(call, await waiting(call, list(names))) if names else Change()


PASSED = row("passed", _passed)
