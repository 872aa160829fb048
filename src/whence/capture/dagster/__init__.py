"""Runs, steps, assets and checks of a Dagster, polled over its GraphQL API."""
