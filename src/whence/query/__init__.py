"""Questions about lineage, independent of the store: upstream, downstream, impact, paths, why, history, diff, runs,
search.
"""
