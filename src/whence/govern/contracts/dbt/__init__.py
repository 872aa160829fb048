"""Contracts that dbt enforces, out of the YAML files of a project: checking and reading them. Pure functions."""
