"""Questions and answers as values: nodes, edges, gaps, completeness, times. Nothing is asked here."""
