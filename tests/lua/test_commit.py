"""commit.lua: all of a plan or none of it, each outcome, and what it leaves in the store.

test_mutants.py runs these same functions against the script with a line missing: each is there to notice one.
"""

import asyncio
import json
import time

import pytest
import redis

from store.domain.commit import MailText, Put, put
from store.domain.document import Index
from store.domain.entry import Entry
from store.domain.slot import Now
from store.engine.commit import FEED_LENGTH, What
from store.engine.reads import Seen
from store.ledger.chain import SEGMENT, leaf, link, record

from .script import LIFE, Script

HOUR = 3_600_000
ABSENT = Seen("rev", "")


def line(summary: str = "x", *, trail: str = "") -> Entry:
    """An entry by agent:a in channel:c."""
    return Entry(where="channel:c", kind="memo", by="agent:a", via="token", client="t", summary=summary, trail=trail)


def now_of(agent: str, *, blocked: str = "", since: int = 7, **marks: int) -> Put:
    """A Now, which is in the index `blocked` while it is blocked; `said=0` marks it with the first entry."""
    return put(Now(id=agent, blocked=blocked, since=since), **marks)


async def test_ok_writes_all_of_it(commit: Script) -> None:
    """A plan with everything in it: each document, index, text, entry, place, the head and the feed."""
    keys, admin = commit.keys, commit.admin
    out = await commit(
        now_of("agent:a", blocked="no key", said=1),
        now_of("agent:b", said=0),
        lines=[line("one"), line("two", trail="t1")],
        touches=((Index("idle", "", 5), "agent:a"), (Index("wrote", "", 6), "k1")),
        texts=(MailText("mb_1", "\0001 is text", HOUR),),
    )
    assert out.what is What.OK
    assert [id.partition("-")[2] for id in out.rest] == ["1", "2"]
    first, second = out.rest
    a, b = await admin.hgetall(keys.doc("now", "agent:a")), await admin.hgetall(keys.doc("now", "agent:b"))
    assert json.loads(a.pop(b"doc")) == {"id": "agent:a", "blocked": "no key", "since": 7}
    assert a == {b"rev": b"1", b"said": second.encode()}
    assert b.pop(b"doc")
    assert b == {b"rev": b"1", b"said": first.encode()}
    assert await admin.zrange(keys.index("blocked", ""), 0, -1, withscores=True) == [[b"now:agent:a", 7]]
    assert await admin.zscore(keys.index("idle", ""), "agent:a") == 5
    assert await admin.zscore(keys.index("wrote", ""), "k1") == 6
    assert json.loads(await admin.get(keys.mail("mb_1"))) == "\0001 is text"
    assert 0 < await admin.pttl(keys.mail("mb_1")) <= HOUR
    assert await admin.hkeys(keys.segment(0)) == [b"1", b"2"]
    assert await admin.lrange(keys.place("channel:c"), 0, -1) == [b"1", b"2"]
    assert await admin.lrange(keys.place("agent:a"), 0, -1) == [b"1", b"2"]
    assert await admin.lrange(keys.place("trail:t1"), 0, -1) == [b"2"]
    ((_, event),) = await admin.xrange(keys.feed)
    touched = b"now:agent:a now:agent:b\nchannel:c\nagent:a\ntrail:t1"
    assert event == {b"c": touched, b"i": f"{first} {second}".encode()}


async def test_records_and_head(commit: Script) -> None:
    """Each entry has its id, leaf, link, salt and text; the head names the last; the next commit goes on from it."""
    ids = [*(await commit(lines=[line("one"), line("two")])).rest, *(await commit(lines=[line("three")])).rest]
    before = ""
    for number, (id, said) in enumerate(zip(ids, ("one", "two", "three"), strict=True), 1):
        found = record(await commit.admin.hget(commit.keys.segment(0), str(number)))
        assert (found.id, json.loads(found.text)["summary"]) == (id, said)
        assert found.leaf == leaf(bytes.fromhex(found.salt), found.text)
        assert found.link == link(before, id, found.leaf)
        before = found.link
    ms, _, seq = ids[-1].partition("-")
    assert await commit.admin.hgetall(commit.keys.head) == {b"seq": b"3", b"ms": ms.encode(), b"h": before.encode()}
    assert seq == "3"


async def test_time_of_entries(commit: Script) -> None:
    """Entries are stamped by the server's time and the offset of the space's clock, to the millisecond."""
    for offset in (0, 240 * HOUR, 240 * HOUR + 1):
        if offset:
            await commit.clock(offset)
        low = await commit.now() + offset
        (id,) = (await commit(lines=[line()])).rest
        high = await commit.now() + offset
        assert low <= int(id.partition("-")[0]) <= high
    stamps = [(await commit(lines=[line()])).rest[0].partition("-")[0] for _ in range(3)]
    assert await commit.admin.hget(commit.keys.head, "ms") == stamps[-1].encode()


async def test_time_never_runs_backwards(commit: Script) -> None:
    """When the clock is set back, entries keep the time of the last one until the clock has come there again."""
    await commit.clock(HOUR)
    (one,) = (await commit(lines=[line()])).rest
    await commit.clock(-HOUR)
    two, three = (await commit(lines=[line(), line()])).rest
    ms = one.partition("-")[0]
    assert (two, three) == (f"{ms}-2", f"{ms}-3")
    assert await commit.admin.hget(commit.keys.head, "ms") == ms.encode()
    await commit.clock(2 * HOUR)
    (four,) = (await commit(lines=[line()])).rest
    assert int(four.partition("-")[0]) >= int(ms) + HOUR


async def test_not_after(commit: Script) -> None:
    """Past its bound by the space's clock a plan is not carried out; before it, or without a bound, it is."""
    now = await commit.now()
    assert (await commit(lines=[line()], not_after=now - 1)) == (What.AGAIN, [""])
    assert not await commit.everything()
    assert (await commit(lines=[line()], not_after=now + HOUR)).what is What.OK
    await commit.clock(2 * HOUR)
    before = await commit.everything()
    assert (await commit(lines=[line()], not_after=now + HOUR)) == (What.AGAIN, [""])
    assert await commit.everything() == before


async def test_a_clock_that_is_set_back_brings_nothing_back(commit: Script) -> None:
    """What has passed by the last entry's time stays passed, whatever the clock says afterwards."""
    now = await commit.now()
    await commit.clock(2 * HOUR)
    assert (await commit(lines=[line()])).what is What.OK
    await commit.clock(-2 * HOUR)
    assert (await commit(lines=[line()], not_after=now + HOUR)) == (What.AGAIN, [""])
    assert (await commit(lines=[line()], not_after=now + 3 * HOUR)).what is What.OK


async def test_again_when_a_document_changed(commit: Script) -> None:
    """A document that is not as it was seen is named, and nothing is written; as it was seen, all is."""
    key = commit.keys.doc("now", "agent:a")
    assert (await commit(now_of("agent:a"), seen={key: Seen("rev", "1")})) == (What.AGAIN, [key])
    assert not await commit.everything()
    assert (await commit(now_of("agent:a"), seen={key: ABSENT})).what is What.OK
    before = await commit.everything()
    for seen in (ABSENT, Seen("rev", "2"), Seen("said", "x")):
        assert (await commit(lines=[line()], seen={key: seen})) == (What.AGAIN, [key])
    assert (await commit(now_of("agent:a"))) == (What.AGAIN, [key])  # a document never read is to be new
    assert await commit.everything() == before
    doc = Now(id="agent:a", since=7)
    assert (await commit(now_of("agent:a", since=8), seen={key: Seen("rev", "1", doc)})).what is What.OK
    assert await commit.admin.hget(key, "rev") == b"2"


async def test_again_names_the_first(commit: Script) -> None:
    """Of several things that changed the first is named; what is right does not hide what is wrong after it."""
    one, two, three = (commit.keys.doc("now", f"agent:{n}") for n in "abc")
    seen = {one: ABSENT, two: Seen("rev", "5"), three: Seen("rev", "6")}
    assert (await commit(lines=[line()], seen=seen)) == (What.AGAIN, [two])
    seen = {one: ABSENT, two: ABSENT, three: Seen("rev", "6")}
    assert (await commit(lines=[line()], seen=seen)) == (What.AGAIN, [three])


async def test_again_when_an_index_grew(commit: Script) -> None:
    """The size of an index is expected like a document's revision; one that is absent has size 0."""
    key = commit.keys.index("blocked", "")
    assert (await commit(lines=[line()], seen={key: Seen("#", "1")})) == (What.AGAIN, [key])
    assert (await commit(now_of("agent:a", blocked="x"), seen={key: Seen("#", "0")})).what is What.OK
    assert (await commit(lines=[line()], seen={key: Seen("#", "0")})) == (What.AGAIN, [key])
    assert (await commit(lines=[line()], seen={key: Seen("#", "1")})).what is What.OK


async def test_again_when_an_index_grew_from_a_score_on(commit: Script) -> None:
    """How many an index has from a score on is expected alone; what has a lower one may come and go."""
    key = commit.keys.index("blocked", "")
    assert (await commit(now_of("agent:a", blocked="x", since=5), seen={key: Seen("#6", "0")})).what is What.OK
    assert (await commit(now_of("agent:b", blocked="x", since=6), seen={key: Seen("#6", "0")})).what is What.OK
    assert (await commit(lines=[line()], seen={key: Seen("#6", "0")})) == (What.AGAIN, [key])
    assert (await commit(now_of("agent:c", blocked="x", since=9), seen={key: Seen("#6", "1")})).what is What.OK
    assert (await commit(lines=[line()], seen={key: Seen("#6", "2")})).what is What.OK
    assert (await commit(lines=[line()], seen={key: Seen("#5", "2")})) == (What.AGAIN, [key])


async def test_again_when_a_member_moved(commit: Script) -> None:
    """A plan that read the score of a member is made anew once that is another, or is there, or not any more."""
    key, idle = commit.keys.index("idle", ""), Index("idle", "", 5)
    assert (await commit(touches=((idle, "agent:a"),), seen={key: Seen("@agent:a", "")})).what is What.OK
    for score in ("", "4", "6"):
        assert (await commit(lines=[line()], seen={key: Seen("@agent:a", score)})) == (What.AGAIN, [key])
    assert (await commit(lines=[line()], seen={key: Seen("@agent:a", "5")})).what is What.OK
    assert (await commit(lines=[line()], seen={key: Seen("@agent:b", "")})).what is What.OK
    assert (await commit(drops=((idle, "agent:a"),), seen={key: Seen("@agent:a", "5")})).what is What.OK
    assert (await commit(lines=[line()], seen={key: Seen("@agent:a", "5")})) == (What.AGAIN, [key])
    assert not await commit.admin.exists(key)


async def test_again_when_another_leads(commit: Script) -> None:
    """A plan of a scheduler is made anew once another has noted its own epoch; only lm-scheduler notes one."""
    leader = commit.keys.leader
    assert await commit(epoch=4, seen={leader: Seen("epoch", "")}) == (What.DENIED, ["HSET", leader])
    await commit.admin.hset(leader, "epoch", 4)
    assert (await commit(lines=[line()], seen={leader: Seen("epoch", "4")})).what is What.OK
    for epoch in ("", "3", "5"):
        assert (await commit(lines=[line()], seen={leader: Seen("epoch", epoch)})) == (What.AGAIN, [leader])


async def test_indexes_follow_the_document(commit: Script) -> None:
    """A document that leaves an index is taken out of it."""
    doc = now_of("agent:a", blocked="x")
    await commit(doc)
    seen = {commit.keys.doc("now", "agent:a"): Seen("rev", "1", doc.doc)}
    assert (await commit(now_of("agent:a"), seen=seen)).what is What.OK
    assert not await commit.admin.exists(commit.keys.index("blocked", ""))


async def test_done(commit: Script) -> None:
    """An action that was committed gives its record, whatever has changed since, and writes nothing."""
    action = commit.action(request="h1", result='{"a":[1]}')
    ids = (await commit(lines=[line(), line()], action=action)).rest
    kept = f'h1\n{" ".join(ids)}\n{{"a":[1]}}'
    before = await commit.everything()
    assert (await commit(lines=[line()], action=action)) == (What.DONE, [kept])
    stale = {commit.keys.doc("now", "agent:a"): Seen("rev", "4")}
    assert (await commit(lines=[line()], action=action, seen=stale, not_after=1)) == (What.DONE, [kept])
    assert await commit.everything() == before
    assert LIFE - 60_000 < await commit.admin.pttl(action.key) <= LIFE


async def test_done_has_its_life(commit: Script) -> None:
    """After its life an idempotency record is gone, and the action is new."""
    action = commit.action(life=1)
    assert (await commit(lines=[line()], action=action)).what is What.OK
    bound = time.monotonic() + 20
    while await commit.admin.exists(action.key):
        assert time.monotonic() < bound
        await asyncio.sleep(0.002)
    assert (await commit(lines=[line()], action=commit.action(key=action.key))).rest[0].endswith("-2")


async def test_nothing_but_the_record(commit: Script) -> None:
    """A plan without changes leaves its idempotency record alone: no head, no event."""
    action = commit.action()
    assert (await commit(action=action)) == (What.OK, [])
    assert list(await commit.everything()) == [action.key.encode()]
    assert await commit.admin.get(action.key) == b'req\n\n{"n":1}'


async def test_events(commit: Script) -> None:
    """A commit is one event: its documents, or `-`, and the places of its entries; without either there is none."""
    await commit(now_of("agent:a"))
    await commit(lines=[line()])
    await commit(touches=((Index("idle", "", 5), "agent:a"),))
    events = [event for _, event in await commit.admin.xrange(commit.keys.feed)]
    assert [event[b"c"] for event in events] == [b"now:agent:a", b"-\nchannel:c\nagent:a"]
    assert [event[b"i"].count(b"-") for event in events] == [0, 1]


async def test_the_feed_is_trimmed(commit: Script) -> None:
    """The feed keeps about as many events as the call says."""
    keys = [commit.keys.log, commit.keys.head, commit.keys.clock, "", commit.keys.feed]
    run = commit.writer.register_script(commit.text)
    for number in range(60):
        keys[3] = commit.keys.done("agent:a", str(number))
        assert await run(keys=keys, args=["0", "req", "{}", LIFE, "10", "-", 0, 0, 0]) == [b"ok"]
    assert 10 <= await commit.admin.xlen(commit.keys.feed) <= 20
    assert FEED_LENGTH > 1000


async def test_denied_writes_nothing(commit: Script) -> None:
    """When one command of a plan is beyond the user's rights, the first is named and none is carried out."""
    plan = (now_of("agent:a", blocked="x", said=0), now_of("agent:b"))
    other = f"lm:{{{commit.keys.space}}}:other"
    for name, command, key in (
        ("head", "HSET", other),
        ("log", "HSETNX", f"{other}:0"),
        ("feed", "XADD", other),
    ):
        out = await commit.spelled(*plan, lines=[line()], **{name: other})
        assert out == ["denied", command, key]
    assert not await commit.everything()
    assert (await commit.spelled(*plan, lines=[line()]))[0] == "ok"


async def test_corrupt_when_the_end_is_missing(commit: Script) -> None:
    """Where the last entry that the head names is not there, nothing more is written after it."""
    await commit(lines=[line(), line()])
    await commit.admin.hdel(commit.keys.segment(0), "2")
    before = await commit.everything()
    assert (await commit(now_of("agent:a"), lines=[line()])) == (What.CORRUPT, [commit.keys.segment(0)])
    assert await commit.everything() == before


async def test_corrupt_when_a_number_is_taken(commit: Script) -> None:
    """Where an entry stands already under one of the next numbers, nothing is written."""
    await commit(lines=[line()])
    for taken in ("2", "3"):
        await commit.admin.hset(commit.keys.segment(0), taken, "forged")
        before = await commit.everything()
        assert (await commit(lines=[line(), line()])) == (What.CORRUPT, [commit.keys.segment(0)])
        assert await commit.everything() == before
        await commit.admin.hdel(commit.keys.segment(0), taken)
    assert (await commit(lines=[line(), line()])).what is What.OK


async def test_segments(commit: Script) -> None:
    """Entries go on in the next segment when one is full, also within one commit."""
    for count in (500, SEGMENT - 501, 3):
        assert (await commit(lines=[line()] * count)).what is What.OK
    assert await commit.admin.hlen(commit.keys.segment(0)) == SEGMENT
    rest = {str(SEGMENT + 1).encode(), str(SEGMENT + 2).encode()}
    assert set(await commit.admin.hkeys(commit.keys.segment(1))) == rest
    last = record(await commit.admin.hget(commit.keys.segment(0), str(SEGMENT)))
    found = record(await commit.admin.hget(commit.keys.segment(1), str(SEGMENT + 1)))
    assert found.link == link(last.link, found.id, found.leaf)
    assert (await commit(lines=[line()])).what is What.OK


async def test_placeholders(commit: Script) -> None:
    """A zero byte and a number stand for the id of that entry, as a whole argument; other text stays as it is."""
    arguments = ["\x001", "\x002", "\x003", "x\x001", "1", ""]
    head = [commit.keys.log, commit.keys.head, commit.keys.clock, commit.keys.done("agent:a", "p"), commit.keys.feed]
    writes = [x for n, text in enumerate(arguments) for x in (f"f{n}", text)]
    entries = [x for _ in range(2) for x in ("0" * 64, "-", "", 0)]
    argv = ["0", "req", "{}", LIFE, "10", "", 0, 1, len(writes) + 2, "HSET", 6, *writes, 2, *entries]
    run = commit.writer.register_script(commit.text)
    ok, one, two = await run(keys=[*head, commit.keys.doc("now", "agent:x")], args=argv)
    values = list((await commit.admin.hgetall(commit.keys.doc("now", "agent:x"))).values())
    assert (ok, values) == (b"ok", [one, two, b"\x003", b"x\x001", b"1", b""])


async def test_a_full_store_refuses_before_anything(commit: Script) -> None:
    """A store without memory refuses the script outright, so that no half of a plan can be written."""
    action = commit.action()
    doc = now_of("agent:a", blocked="x")
    await commit(doc, action=action)
    before = await commit.everything()
    seen = {commit.keys.doc("now", "agent:a"): Seen("rev", "1", doc.doc)}
    commit.engine.set("maxmemory", 1)
    try:
        for again in (commit(now_of("agent:a"), seen=seen), commit(doc, action=action)):
            with pytest.raises(redis.exceptions.OutOfMemoryError):
                await again
        assert await commit.everything() == before
    finally:
        commit.engine.set("maxmemory", 0)
