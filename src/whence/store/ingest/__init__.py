"""Writing: facts are merged, and their consequences (validity intervals, current edges, alias groups, search index) are
recomputed.
"""
