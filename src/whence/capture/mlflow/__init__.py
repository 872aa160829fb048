"""Runs, logged models and registered model versions of an MLflow tracking server, polled over its REST API."""
