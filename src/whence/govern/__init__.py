"""Governance: access, keys, assertions by people, retention, stale jobs, backup, lost records."""
