"""What the tests of the surfaces share: a real server and a client of it."""

from tests.surfaces.server import http, server, serving

__all__ = ["http", "server", "serving"]
