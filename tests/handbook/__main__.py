"""Make docs/tools.md and docs/examples.json anew: python -m tests.handbook."""

import asyncio
import json
import tempfile
from pathlib import Path

import httpx

from store.engine.embedded import ensure, stop
from tests.handbook.page import EXAMPLES, PAGE, page
from tests.handbook.record import Recorded, record
from tests.surfaces.server import PATIENCE, Serving
from tests.world import opened


def main() -> None:
    """Live through the day of the examples on an engine of its own, and write both files."""
    with tempfile.TemporaryDirectory() as folder:
        engine = ensure(Path(folder))
        serving = Serving(engine)
        try:
            serving.wait()
            recorded = asyncio.run(_recorded(serving))
        finally:
            serving.stop()
            stop(engine.home)
    text = json.dumps(recorded.as_json, ensure_ascii=False, indent=1)
    EXAMPLES.write_text(f"{text}\n", encoding="utf-8")
    PAGE.write_text(page(recorded.as_json), encoding="utf-8")


async def _recorded(serving: Serving) -> Recorded:
    store = opened(serving.engine)
    try:
        async with httpx.AsyncClient(base_url=serving.url, timeout=PATIENCE, trust_env=False) as http:
            return await record(serving.engine, store, http)
    finally:
        await store.close()


if __name__ == "__main__":
    main()
