"""Objectives for other systems: the names of their series in `/metrics`, rules of Prometheus, a dashboard, OpenSLO."""
