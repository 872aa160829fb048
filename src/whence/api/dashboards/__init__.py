"""The routes of the dashboards: job health, stale nodes, failed checks, KPIs."""
