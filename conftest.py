"""The option --long: what takes long is skipped without it, with that reason shown."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --long."""
    parser.addoption("--long", action="store_true", help="run the tests marked `long` too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests marked `long`, unless asked for."""
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="takes long: ./run test --long runs it")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)
