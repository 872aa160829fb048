"""Trains a model of customers.parquet in an experiment, and registers it: train.py EXPERIMENT MODEL."""

import sys

import mlflow
import pandas as pd
from mlflow.models import infer_signature
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

experiment, registered = sys.argv[1:]
mlflow.set_experiment(experiment)
customers = pd.read_parquet("customers.parquet")
customers["spend"] = customers["amount"] * 12
features = customers[["age", "spend"]]
with mlflow.start_run(run_name="train"):
    data = mlflow.data.from_pandas(pd.read_parquet("customers.parquet"), source="customers.parquet", targets="churned")
    mlflow.log_input(data, context="training")
    mlflow.log_params({"C": 1.0, "db_password": "hush-4711", "source": "postgres://ada:hush-4711@db/shop"})
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, customers["churned"])
    mlflow.log_metric("accuracy", model.score(features, customers["churned"]))
    signature = infer_signature(features, model.predict(features))
    mlflow.sklearn.log_model(model, name="model", signature=signature, registered_model_name=registered)
