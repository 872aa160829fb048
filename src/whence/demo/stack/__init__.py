"""`whence demo --stack`: real Airflow, pandas, dbt, MLflow and Superset, traced from a chart to a raw column."""
