"""Hundreds of random stories over the real engine, each compared with the model step by step."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from store.engine.embedded import Embedded

from .machine import machine

COUNTS = [(8, 25), pytest.param((150, 40), marks=[pytest.mark.long, pytest.mark.timeout(1800)])]


@pytest.mark.parametrize("count", COUNTS, ids=["short", "long"])
def test_asks_and_items_by_chance(engine: Embedded, count: tuple[int, int]) -> None:
    """Asks and items end once, nothing is used without approval, and indexes follow, whatever is called when."""
    examples, steps = count
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # a story that fails is told as it is: making it shorter takes longer than reading it
    )
    run_state_machine_as_test(machine(engine), settings=how)
