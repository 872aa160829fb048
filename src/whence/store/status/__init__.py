"""Counts for operators and dashboards: the ledger, job health, stale nodes, coverage, failed checks."""
