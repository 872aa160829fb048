"""Twins: datasets whose columns come from the same sources by the same formulas, so that there are two truths."""
