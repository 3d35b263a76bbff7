"""The engine: its server, its users, its connections."""
