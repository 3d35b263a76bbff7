"""The kernel that every front end shares: documents, rules, verbs, engine and ledger."""
