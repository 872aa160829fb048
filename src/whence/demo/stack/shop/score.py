"""Scores all customers with the champion, into a table that dashboards read."""

import duckdb
import mlflow

mlflow.set_experiment("churn")
model = mlflow.pyfunc.load_model("models:/churn@champion")
with duckdb.connect("shop.duckdb") as connection:
    customers = connection.sql("select * from main.customer_spend order by customer_id").df()
    with mlflow.start_run(run_name="score"):
        chances = model.predict(customers[["spend", "payments"]].astype("float64"))
        customers["churn_probability"] = chances[:, 1]
        scores = customers[["customer_id", "country", "churn_probability"]]
        connection.execute("create or replace table main.churn_scores as select * from scores")
