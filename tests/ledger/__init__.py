"""The ledger: its chain, and how it is verified."""
