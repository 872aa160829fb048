"""Payments of a shop: cleaned with pandas, modelled by dbt on DuckDB, and scored with a model of MLflow."""

import os
from datetime import datetime

import pandas as pd
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task

SHOP = os.environ.get("SHOP", "")
BUILD = 'dbt build && "$WHENCE_PYTHON" -m whence.cli capture dbt target --strict'
TRACE = "python -m whence_client.trace"

with DAG(dag_id="shop", schedule=None, start_date=datetime(2026, 11, 1), catchup=False):

    @task
    def clean() -> None:
        """Raw files to typed ones."""
        payments = pd.read_csv(f"{SHOP}/raw/payments.csv")
        payments["amount"] = payments["cents"] / 100
        payments[["customer_id", "paid_on", "amount"]].to_parquet(f"{SHOP}/lake/payments.parquet")
        customers = pd.read_csv(f"{SHOP}/raw/customers.csv")
        customers["churned"] = customers["status"] == "left"
        customers[["customer_id", "country", "churned"]].to_parquet(f"{SHOP}/lake/customers.parquet")

    build = BashOperator(task_id="build", cwd=f"{SHOP}/dbt", bash_command=BUILD)
    train = BashOperator(task_id="train", cwd=SHOP, bash_command=f"{TRACE} train.py")
    score = BashOperator(task_id="score", cwd=SHOP, bash_command=f"{TRACE} score.py")
    clean() >> build >> train >> score
