"""Runs that fail, are killed, nested, deleted or go on, hostile names, and data that has no file: states.py."""

import mlflow
import pandas as pd
from mlflow import MlflowClient

client = MlflowClient()
client.set_registered_model_alias("churn", "champion", "1")
client.set_model_version_tag("churn", "1", "validated by", "ada")
client.transition_model_version_stage("churn", "1", "Production")
client.copy_model_version("models:/churn/1", "prod.churn")
prod = mlflow.set_experiment("prod/churn").experiment_id
with mlflow.start_run(run_name="search"), mlflow.start_run(run_name="trial", nested=True):
    mlflow.log_metrics({"loss": float("nan"), "bound": float("inf")})
try:
    with mlflow.start_run(run_name="fails"):
        raise ValueError("password=hush-4711")
except ValueError:
    pass
client.set_terminated(client.create_run(prod, run_name="killed").info.run_id, "KILLED")
deleted = client.create_run(prod, run_name="deleted").info.run_id
client.set_terminated(deleted)
client.delete_run(deleted)
client.create_run(prod, run_name="goes on")
mlflow.set_experiment("dev/Ünï '\"; drop -- <b>")
frame = pd.DataFrame({"a": [1.0], "b'\"é": [2.0]})
with mlflow.start_run(run_name="hostile\u202ename"):
    mlflow.log_input(mlflow.data.from_pandas(frame, source="s3://lake//raw/events/"), context="validation")
    mlflow.log_input(mlflow.data.from_pandas(frame, source="https://ada:hush-4711@files.example/e.csv?sig=hush-4711"))
    mlflow.log_input(mlflow.data.from_pandas(frame, name="made here"))
    mlflow.set_tag("team", "growth")
