"""The migrations of a store's tables to the current schema (`store/schema/tables.py`)."""
