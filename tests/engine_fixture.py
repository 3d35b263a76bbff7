"""The engine that tests stand on: one embedded server per worker, a space per test.

Import it into a conftest: `from tests.engine_fixture import engine`.
"""

from collections.abc import Iterator

import pytest

from store.engine.embedded import Embedded, ensure, stop


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """An embedded server, with its users and settings as in production, stopped at the end."""
    server = ensure(tmp_path_factory.mktemp("engine"))
    try:
        yield server
    finally:
        stop(server.home)
