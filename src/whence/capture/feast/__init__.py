"""Feature stores of Feast, read from the JSON of a registry: the columns that features are made of."""
