"""Asks and items by chance: whatever is called in whatever order, the model and the store agree."""
