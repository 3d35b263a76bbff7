"""Schemathesis over our OpenAPI: whatever fits the schema, and much that does not, gets an answer that is declared."""

import asyncio
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.rest import DECISIONS, TOOLS
from store.engine.embedded import Embedded
from store.verbs.catalog import ROWS
from tests.world import found, opened

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 20  # of each path
PATHS = [*(f"{TOOLS}{verb}" for verb in ROWS), *DECISIONS]


async def _key(engine: Embedded) -> str:
    """A key in a space of its own."""
    store = opened(engine)
    try:
        return await (await found(engine, store)).agent("probe")
    finally:
        await store.close()


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_is_a_declared_one(server: str, engine: Embedded, path: str) -> None:
    """No call fails inside, and each answer has a status, type and shape that OpenAPI declares."""
    head = {"Authorization": f"Bearer {asyncio.run(_key(engine))}"}
    schema = schemathesis.openapi.from_url(f"{server}/openapi.json")
    quiet = list(HealthCheck)  # generating is slow at times, and costs are not what is asked here

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=quiet)
    @given(case=schema[path]["POST"].as_strategy())
    def probe(case: Any) -> None:
        case.call_and_validate(headers=head, checks=CHECKS, timeout=60)

    probe()
