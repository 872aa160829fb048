"""Trains a model on the table of dbt, and registers it in MLflow as the champion."""

import duckdb
import mlflow
from mlflow.models import infer_signature
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mlflow.set_experiment("churn")
with duckdb.connect("shop.duckdb", read_only=True) as connection:
    customers = connection.sql("select * from main.customer_spend order by customer_id").df()
features = customers[["spend", "payments"]].astype("float64")
with mlflow.start_run(run_name="train"):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, customers["churned"])
    mlflow.log_metric("accuracy", model.score(features, customers["churned"]))
    signature = infer_signature(features, model.predict_proba(features))
    logged = mlflow.sklearn.log_model(
        model, name="model", signature=signature, pyfunc_predict_fn="predict_proba", registered_model_name="churn"
    )
mlflow.MlflowClient().set_registered_model_alias("churn", "champion", logged.registered_model_version)
