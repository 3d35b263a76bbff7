"""The engine for these tests."""

from tests.engine_fixture import engine

__all__ = ["engine"]
