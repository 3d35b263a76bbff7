"""Everything at once, and everything going wrong: see tests/telegram/chaos."""

import os
from pathlib import Path

import pytest

from tests.telegram.chaos.load import Load
from tests.telegram.chaos.run import chaos

SEED = int(os.environ.get("LOGMEM_TEST_SEED", "5"))
FASTER = 20  # times Telegram's own limits, in the emulator and in the bot's setting alike


@pytest.mark.timeout(180)
async def test_short(tmp_path: Path) -> None:
    """Sixty asks to twelve people; bot, store and API are each killed once."""
    load = Load(
        asks=60, agents=15, people=12, seed=SEED, times=FASTER, think=0.4, kill_every=(1.0, 1.5), once=True
    )  # fmt: skip
    figures = await chaos(load, tmp_path)
    assert min(figures["deaths"].values()) >= 1, figures


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_long(tmp_path: Path) -> None:
    """Two thousand asks of fifty agents to forty people, while processes are killed from first to last."""
    load = Load(asks=2000, agents=50, people=40, seed=SEED, times=FASTER)
    figures = await chaos(load, tmp_path)
    assert min(figures["deaths"].values()) >= 3, figures
