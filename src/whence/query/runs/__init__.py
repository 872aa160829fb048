"""Lineage of runs: what each read and wrote, and from which commit its code was."""
