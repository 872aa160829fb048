"""Logs a Parquet file as the training data of a run: read.py FILE."""

import sys

import mlflow
import pandas as pd

mlflow.set_experiment("prod/rendezvous")
with mlflow.start_run():
    data = mlflow.data.from_pandas(pd.read_parquet(sys.argv[1]), source=sys.argv[1])
    mlflow.log_input(data, context="training")
