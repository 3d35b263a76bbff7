"""The derived index: a disposable file per space in which the words of its entries are found. Knows no Redis."""
