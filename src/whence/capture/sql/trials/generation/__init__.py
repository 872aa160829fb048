"""Generated databases, made of the values that matter to the queries that read them."""
