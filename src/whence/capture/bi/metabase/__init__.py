"""Metabase: questions, models and dashboards of a server, by its REST API."""
