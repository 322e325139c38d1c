"""Claims, one a file; each module has ``ORDER`` (its place in the ledger) and ``CLAIM``."""
