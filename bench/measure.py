"""Measuring: rounds of the candidates taken in turn, so that a ratio compares what ran at the same time."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Sample:
    """One round of one candidate: median and 95th percentile in µs, calls per second."""

    p50: float
    p95: float
    rate: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what, the measured ratio, its bar, whether it may be above, and the raw figures."""

    what: str
    ratio: float
    bar: float
    raw: str
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the bar is held."""
        return self.ratio >= self.bar if self.at_least else self.ratio <= self.bar

    def line(self) -> str:
        """The row as text."""
        sign, mark = ("≥" if self.at_least else "≤"), ("ok  " if self.holds else "OVER")
        return f"{mark} {self.what:58} {self.ratio:6.2f}×  bar {sign} {self.bar:.2f}×  {self.raw}"


async def sample(work: Work, *, calls: int, width: int = 1) -> Sample:
    """`calls` calls, `width` of them at a time."""
    took: list[float] = []

    async def lane() -> None:
        for _ in range(calls // width):
            start = time.perf_counter()
            await work()
            took.append((time.perf_counter() - start) * 1e6)

    start = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(width)))
    rate = len(took) / (time.perf_counter() - start)
    took.sort()
    return Sample(statistics.median(took), took[int(len(took) * 0.95)], rate)


async def rounds(works: Mapping[str, Work], *, count: int, calls: int, width: int = 1) -> dict[str, list[Sample]]:
    """`count` rounds of every candidate in turn, after one that does not count."""
    found: dict[str, list[Sample]] = {name: [] for name in works}
    for n in range(count + 1):
        for name, work in works.items():
            got = await sample(work, calls=calls, width=width)
            if n:
                found[name].append(got)
    return found


def p50_ratio(mine: list[Sample], base: list[Sample]) -> float:
    """Median over the rounds of the ratio of the medians."""
    return statistics.median(m.p50 / b.p50 for m, b in zip(mine, base, strict=True))


def rate_ratio(mine: list[Sample], base: list[Sample]) -> float:
    """Median over the rounds of the ratio of the rates."""
    return statistics.median(m.rate / b.rate for m, b in zip(mine, base, strict=True))


def p50(samples: list[Sample]) -> float:
    """Median of the medians, in µs."""
    return statistics.median(s.p50 for s in samples)


def p95(samples: list[Sample]) -> float:
    """Median of the 95th percentiles, in µs."""
    return statistics.median(s.p95 for s in samples)


def rate(samples: list[Sample]) -> float:
    """Median of the rates, per second."""
    return statistics.median(s.rate for s in samples)
