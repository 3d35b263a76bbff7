"""The use-cases: each reads, decides and commits, and is one row of the catalogue."""
