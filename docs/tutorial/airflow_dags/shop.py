"""A DAG of two tasks whose inlets and outlets are the lineage that Airflow reports."""

from datetime import datetime

from airflow.sdk import DAG, Asset, task

orders = Asset("file:///data/orders.csv")
loaded = Asset("file:///warehouse/orders")
revenue = Asset("file:///warehouse/revenue")

with DAG(dag_id="shop", schedule=None, start_date=datetime(2026, 1, 1)):

    @task(inlets=[orders], outlets=[loaded])
    def load() -> None:
        """Load the orders (nothing, in this tutorial)."""

    @task(inlets=[loaded], outlets=[revenue])
    def sum_up() -> None:
        """Sum them up (likewise)."""

    load() >> sum_up()
