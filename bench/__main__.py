"""`./run bench`: the budgets, each a ratio within this run with its bar and the raw figures beside it."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

import uvloop

from bench import console, recall, scheduler, settle, store, telegram, wire
from bench.measure import Row
from store.engine.embedded import Embedded, ensure, stop

Bench = Callable[..., Coroutine[None, None, list[Row]]]
BENCHES: dict[str, Bench] = {
    "wire": wire.calls,
    "store": store.kernel,
    "brief": store.brief,
    "settle": settle.contention,
    "recall": recall.recall,
    "console": console.console,
    "scheduler": scheduler.sweeps,
    "telegram": telegram.telegram,
}


def main() -> int:
    """Run the benchmarks that were named, or all; 1 when a bar is not held."""
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all when none is named")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds and smaller data: for a look, not for figures"
    )
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(BENCHES):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    held = True
    for name in asked.names or BENCHES:
        with tempfile.TemporaryDirectory(prefix="logmem-bench-") as folder:
            engine = ensure(Path(folder))
            try:
                held &= _run(BENCHES[name], engine, quick=asked.quick)
            finally:
                stop(engine.home)
    return 0 if held else 1


def _run(bench: Bench, engine: Embedded, *, quick: bool) -> bool:
    started = time.monotonic()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(bench(engine, quick=quick))
    for row in rows:
        print(row.line(), flush=True)
    print(f"     ({time.monotonic() - started:.0f} s)", file=sys.stderr, flush=True)
    return all(row.holds for row in rows)


if __name__ == "__main__":
    sys.exit(main())
