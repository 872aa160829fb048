"""Lineage of runs: the datasets that each read and wrote, and the commit of its code."""
