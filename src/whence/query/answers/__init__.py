"""Questions and answers as values: nodes, edges, gaps, completeness, times. No queries belong here."""
