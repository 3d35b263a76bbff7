"""MCP as others test it: the conformance suite, the Inspector, and clients in TypeScript, over our own transport."""
