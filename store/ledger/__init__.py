"""The write-once ledger of a space: records, links, and how they are verified."""
