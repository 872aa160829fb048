"""Superset: charts and dashboards of a server, by its REST API."""
