"""The labelled sets: notes as a fleet writes them, and what a user would ask for some of them.

A file holds the entries that questions are about, one a line, each with its questions as [class, query]; a question
that several entries list has several right answers. Around them stand entries of a seeded generator, which speak of the
same things: sessions, backups, invoices, servers.

`labelled.jsonl` is what constants of the ranking may be chosen by. `frozen.jsonl` was written once, before its answers
were seen, and is never changed nor tuned on: it tells whether the other one is believed too much.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SIZE = 5_000  # entries in all
BEGIN = 1_790_000_000_000  # ms
APART = 60_000  # ms between two entries
LABELLED, FROZEN = (Path(__file__).parent / name for name in ("labelled.jsonl", "frozen.jsonl"))
SEEDS = {LABELLED: 20261130, FROZEN: 61}  # of the entries around them

_WORDS = {  # what fills the templates
    "component": """checkout basket catalogue importer exporter mailer thumbnailer gateway scheduler ledger console
        indexer warehouse booking payout invoice session token webhook uploader translator crawler dashboard report""",
    "thing": """deployment backup certificate migration export invoice refund password session token key index cache
        queue lock snapshot release test build pipeline timeout retry cursor listing template chart barcode printer
        router shard customer tenant provider approval audit incident vendor contract photo price discount terms email
        thumbnail""",
    "place": "staging production the-lab the-edge eu-north-1 us-east-4 the-office the-basement the-mirror",
    "verb": """checked moved cleaned measured described tested replaced documented renamed paused resumed reviewed
        merged profiled compared counted cached logged exported imported""",
    "state": "slow late missing empty broken odd noisy full unclear pending duplicated",
    "person": "ana bo chi dov eli fay gus",
}
_REASONS = """the disk was full|the clock was wrong|nobody had asked|the provider changed its answer|a test was wrong
|two people edited it|the limit was too low|the network was down|the old version was still there|it was a holiday
|the schema had changed|the queue was long|a flag was off""".replace("\n", "").split("|")
_TEMPLATES = (
    "{Verb} the {thing} of the {component} in {place}, because {reason}",
    "The {component} {thing} is {state} since {n} minutes",
    "{thing} of {component} took {n} s, before it was {m} s",
    "Asked {person} about the {thing} of {component}",
    "{ticket}: {thing} of the {component} is {state}",
    "Fixed {path}:{n}, the {thing} was {state}",
    "{function}() returns a {state} {thing} when {reason}",
    "Deployed {component} {version} to {place}",
    "Reverted {hash}, {reason}",
    "{person}@{component}.example wants a new {thing}",
    "{component}-worker-{hash} restarted, {reason}",
    "Next: {verb} {thing} and {thing2} in {place}",
    "{thing} for {component} {verb}, {thing2} still {state}",
    "Nothing to do for the {component} until the {thing} is {verb}",
    "Is the {thing} of {component} still {state}?",
    "{SETTING}={n} in {place} now",
    "Waiting for {person}: {thing} of {component} is {state}",
    "We keep the {thing} in {place}, {reason}",
    "Server {n} in {place} has a {state} {thing}",
    "Error {n} from {component} while the {thing} was {verb}",
)
_OTHER_SCRIPTS = (
    "Der {component} in {place} ist wieder da, {n} Anfragen gingen verloren",
    "Die Verbindung zum {component} wurde nach {n} Sekunden getrennt",
    "Le service {component} répond en {n} ms depuis ce matin",
    "El servidor {component} tarda {n} segundos en arrancar",
    "Сервер {component} отвечает за {n} мс, проверка завершена",
    "Новый релиз {component} готов, осталось {n} задач",
    "الخدمة {component} بطيئة منذ {n} دقيقة",
    "تمت مراجعة {component} من قبل الفريق",
    "服务器{component}的连接数达到{n}，正在扩容",
    "数据库迁移完成，用时{n}秒，{component}恢复正常",
    "メールサーバの証明書を更新した、{component}は{n}分停止",
    "画面の表示が{n}秒遅い、{component}を調査中",
    "{component} 배포가 {n}분 만에 끝났다",
    "데이터베이스 연결이 {n}개를 넘었다",
    "{component} ✅ {n} checks passed",
    "{component} ⚠️ {thing} {state}",
)
_KINDS = ("progress",) * 8 + ("memo", "memo", "fix", "problem", "question", "answer", "stuck", "fact", "synthesis")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, its class (`name`, `words`, `script`), and the numbers of the entries that answer it."""

    kind: str
    query: str
    answers: frozenset[int]


@cache
def entries(data: Path = LABELLED) -> list[dict[str, Any]]:
    """The bodies of all entries in their order; the number of each is its place, from 1."""
    rng = random.Random(SEEDS[data])
    asked = [dict(body, by="agent:ana", via="token") for body, _ in asked_about(data)]
    others = [other(rng, n) for n in range(SIZE - len(asked))]
    at = sorted(rng.sample(range(SIZE), len(asked)))
    for place, body in zip(at, asked, strict=True):
        others.insert(place, body)
    return others


@cache
def questions(data: Path = LABELLED) -> list[Question]:
    """All questions, with their answers."""
    numbers = {body["summary"]: n for n, body in enumerate(entries(data), 1)}
    right: dict[tuple[str, str], set[int]] = {}
    for body, asked in asked_about(data):
        for kind, query in asked:
            right.setdefault((kind, query), set()).add(numbers[body["summary"]])
    return [Question(kind, query, frozenset(found)) for (kind, query), found in right.items()]


def records(data: Path = LABELLED) -> Iterator[bytes]:
    """The entries as records of a ledger."""
    for n, body in enumerate(entries(data), 1):
        yield f"{BEGIN + n * APART}-{n} {n:064x} {n:040x} {n:064x} {json.dumps(body, ensure_ascii=False)}".encode()


def asked_about(data: Path) -> Iterator[tuple[dict[str, Any], list[list[str]]]]:
    """The entries that questions are about, each with its questions as [class, query]."""
    for line in data.read_text(encoding="utf-8").splitlines():
        body = json.loads(line)
        yield body, body.pop("asked")


def other(rng: random.Random, n: int) -> dict[str, Any]:
    """The body of an entry that nothing is asked about; `n` makes its ticket its own."""
    fill = {name: rng.choice(words.split()) for name, words in _WORDS.items()}
    thing, component, verb = fill["thing"], fill["component"], fill["verb"]
    summary = rng.choice(_OTHER_SCRIPTS if n % 6 == 0 else _TEMPLATES).format(
        **fill, Verb=verb.capitalize(), thing2=rng.choice(_WORDS["thing"].split()), reason=rng.choice(_REASONS),
        n=rng.randint(2, 900), m=rng.randint(2, 900), ticket=f"TASK-{10_000 + n}",
        path=f"{component}/{thing}/{verb}.py",
        function=f"{verb}_{thing}_of_{component}", SETTING=f"{component}_{thing}".upper(),
        version=f"v{rng.randint(3, 9)}.{rng.randint(0, 40)}.{rng.randint(0, 9)}", hash=f"{rng.getrandbits(40):010x}",
    )  # fmt: skip
    return {
        "where": f"job:{component}", "kind": rng.choice(_KINDS), "by": f"agent:{fill['person']}", "via": "token",
        "summary": summary,
    }  # fmt: skip
