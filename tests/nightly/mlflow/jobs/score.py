"""Scores new.parquet with a registered model: score.py EXPERIMENT MODEL ALIAS."""

import sys

import mlflow
import pandas as pd

experiment, registered, alias = sys.argv[1:]
mlflow.set_experiment(experiment)
model = mlflow.pyfunc.load_model(f"models:/{registered}@{alias}")
new = pd.read_parquet("new.parquet")
new["spend"] = new["amount"] * 12
with mlflow.start_run(run_name="score"):
    mlflow.log_input(mlflow.data.from_pandas(pd.read_parquet("new.parquet"), source="new.parquet"), context="scoring")
    new["p"] = model.predict(new[["age", "spend"]])
    new[["id", "p"]].to_parquet("scores.parquet")
