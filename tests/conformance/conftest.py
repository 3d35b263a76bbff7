"""What the tests of MCP by others share: Node, and a real server of the product."""

from tests.conformance.node import node
from tests.surfaces.server import http, server, serving

__all__ = ["http", "node", "server", "serving"]
