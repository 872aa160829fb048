"""The lineage that one event asserts, as sets of edges."""
