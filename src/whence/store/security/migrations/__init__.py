"""The migrations of the security tables to the current schema (`store/security/tables.py`)."""
