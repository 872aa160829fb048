"""Flow runs, task runs and assets of a Prefect 3, polled over its REST API."""
