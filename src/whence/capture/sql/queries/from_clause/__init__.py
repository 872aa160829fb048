"""The FROM clause: tables, joins, subqueries and table functions, each a source of the scope."""
