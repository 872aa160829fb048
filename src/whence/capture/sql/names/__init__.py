"""Names in SQL: their comparison, the catalog of tables, pseudo-columns, columns without alias."""
