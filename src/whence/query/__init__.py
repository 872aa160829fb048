"""Questions, pure over a store: upstream, downstream, impact, paths, why, history, what changed, runs, names."""
