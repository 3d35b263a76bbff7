"""`python -m tests.telegram.chaos`: a run by hand, with as many asks as one likes, and at Telegram's own limits."""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from tests.telegram.chaos.load import Load
from tests.telegram.chaos.run import chaos

FASTER = 20  # times Telegram's own limits


def main() -> None:
    """Run it, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.telegram.chaos", description=__doc__)
    parser.add_argument("--asks", type=int, default=300)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--agents", type=int, default=0, help="default: one for 40 asks, 10 at least")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--real", action="store_true", help="Telegram's own limits, in bot and emulator alike")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for what is left at the end")
    parser.add_argument("--keep", type=Path, help="keep the logs of all processes in this folder")
    options = parser.parse_args()
    load = Load(
        asks=options.asks,
        agents=options.agents or max(10, options.asks // 40),
        people=options.people,
        seed=options.seed,
        times=1 if options.real else FASTER,
        patience=options.patience,
    )
    with tempfile.TemporaryDirectory(prefix="logmem-chaos-") as folder:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
        figures = asyncio.run(chaos(load, options.keep or Path(folder)))
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
