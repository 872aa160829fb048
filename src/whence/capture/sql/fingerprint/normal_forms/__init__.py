"""One normal form for what SQL writes in several ways.

From syntax to meaning: `spellings` reads the syntax tree, `statements` sees statements that change rows as queries,
`sources` has joins and subqueries, `aggregates`, `values` and `conditions` have formulas, `terms` what is known of a
single value.
"""
