"""Redis: its keys, reads, one atomic commit, and the supervised embedded engine."""
