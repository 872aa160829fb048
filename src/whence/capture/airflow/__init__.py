"""DAG runs, tries of tasks, and assets of an Airflow, polled over its REST API."""
