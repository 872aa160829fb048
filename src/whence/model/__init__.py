"""The nouns of lineage: names, events, lineage. Frozen, standard library only."""
