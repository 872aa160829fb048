"""Orchestrators behind one port: Airflow, Dagster, Prefect, Kubernetes, and a signed webhook for everything else."""
