"""Snowflake: its views QUERY_HISTORY, ACCESS_HISTORY and OBJECT_DEPENDENCIES, over its SQL API."""
