"""Whether a tool is found by what somebody asks for, without a model: plain BM25 over names and descriptions.

    python -m tests.surfaces.test_tool_choice          the requests whose tool does not rank first, and what does

Each tool is a document: its name and its description as clients get to see them. A token is a run of letters or digits
in lower case; names are split at _ like any other text. A tool's score for a request is the sum over the request's
different tokens t that it has, of

    idf(t) · f · (k1 + 1) / (f + k1 · (1 - b + b · length / average length)),    k1 = 1.5, b = 0.75

with idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), where f is how often it has t and n how many of the N tools have it. A
tool that shares the first rank with another does not rank first.
"""

import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from api.mcp import description
from store.verbs.arguments import title
from store.verbs.catalog import FLEET, tools

REQUESTS = Path(__file__).with_name("requests.tsv")
K1, B = 1.5, 0.75
WANTED = 55  # requests whose tool ranks first


def tokens(text: str) -> list[str]:
    """Words in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def ranks(request: str, documents: Mapping[str, list[str]]) -> list[tuple[float, str]]:
    """The score of each document, best first."""
    average = sum(map(len, documents.values())) / len(documents)
    having = Counter(token for words in documents.values() for token in set(words))
    scores = []
    for name, words in documents.items():
        said, score = Counter(words), 0.0
        for token in set(tokens(request)) & said.keys():
            idf = math.log(1 + (len(documents) - having[token] + 0.5) / (having[token] + 0.5))
            f = said[token]
            score += idf * f * (K1 + 1) / (f + K1 * (1 - B + B * len(words) / average))
        scores.append((score, name))
    return sorted(scores, key=lambda pair: (-pair[0], pair[1]))


def listed() -> dict[str, list[str]]:
    """The tools of the fleet's profile as documents."""
    return {title(row): tokens(f"{title(row)} {description(row)}") for row in tools(FLEET)}


def requests() -> list[tuple[str, str]]:
    """The requests, each with its tool."""
    lines = REQUESTS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(request, tool) for request, tool in pairs]


def missed() -> list[tuple[str, str, list[tuple[float, str]]]]:
    """The requests whose tool does not rank first alone, with the scores."""
    found, documents = [], listed()
    for request, tool in requests():
        scores = ranks(request, documents)
        if scores[0][1] != tool or scores[0][0] == scores[1][0]:
            found.append((request, tool, scores))
    return found


def test_there_are_sixty_requests_for_tools_that_are_there() -> None:
    """Each request names one tool of the catalogue, and every tool is asked for."""
    assert len(requests()) == 60
    assert {tool for _, tool in requests()} == listed().keys()


def test_the_right_tool_ranks_first() -> None:
    """For 55 of 60 short requests the words alone lead to the right tool."""
    wrong = missed()
    assert len(requests()) - len(wrong) >= WANTED, [(request, tool, scores[0]) for request, tool, scores in wrong]


def report() -> str:
    """What was missed: the request, the scores of the best, and of the tool that was meant, with their common words."""
    wrong, documents = missed(), listed()
    lines = [f"{len(requests()) - len(wrong)} of {len(requests())} rank first; {WANTED} are wanted"]
    for request, tool, scores in wrong:
        rank = next((n for n, (_, name) in enumerate(scores, start=1) if name == tool), "none")
        lines.append(f"\n{request}\n    meant: {tool}, rank {rank}")
        shown = [pair for n, pair in enumerate(scores) if n < 3 or pair[1] == tool]
        for score, name in shown:
            common = sorted(set(tokens(request)) & set(documents[name]))
            lines.append(f"    {score:6.2f} {name.ljust(20)} {' '.join(common)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report())
