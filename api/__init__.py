"""The HTTP front end: MCP, REST and the console over one catalogue of verbs."""
