"""The plugin of Airflow 3: what a task does with pandas, polars, DuckDB or Spark is lineage below the task's run."""
