"""A DAG whose Python tasks use pandas. `airflow_frames.py` has, written from this text, what lineage it has."""

import os
from datetime import datetime, timedelta

import pandas as pd
from airflow.sdk import DAG, get_current_context, task

LAKE = os.environ.get("LAKE", "")

with DAG(dag_id="frames", schedule=None, start_date=datetime(2026, 11, 1), catchup=False):

    @task
    def clean() -> None:
        raw = pd.read_csv(f"{LAKE}/raw ü.csv")
        raw["gross"] = raw["amount"] * 1.2
        raw[raw["id"] > 1][["id", "gross"]].to_csv(f"{LAKE}/clean.csv", index=False)

    @task(retries=1, retry_delay=timedelta(0))
    def report() -> None:
        orders = pd.read_csv(f"{LAKE}/clean.csv")
        orders.groupby("id", as_index=False)["gross"].sum().to_csv(f"{LAKE}/report.csv", index=False)
        if get_current_context()["ti"].try_number == 1:
            raise ConnectionError("no connection: password=hush-4711")

    @task
    def nothing() -> None:
        """No frame is read."""

    clean() >> report() >> nothing()
