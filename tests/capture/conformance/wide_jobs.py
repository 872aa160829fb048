"""A job for each capture that reads wide.csv and writes 300 columns or more: for what a capture costs (check 9)."""

COLUMNS = 300
WIDE = "\n".join(
    (",".join(f"c{n}" for n in range(COLUMNS)), *(",".join("1234"[row] * COLUMNS) for row in range(4)), "")
)
"""The text of wide.csv: four rows."""

MEASURE = """
import atexit, json, threading
from whence_client.captures.guard import Guard
times, note_time = {"start": [], "calls": []}, Guard.note_time
def keep_time(guard, what, seconds):
    if threading.current_thread() is threading.main_thread() and what != "install":
        times["start" if guard.capture == "imports" else "calls"].append(seconds)
    note_time(guard, what, seconds)
Guard.note_time = keep_time
atexit.register(lambda: open("times.json", "w").write(json.dumps(times)))
"""
"""Comes before a job: the seconds that the captures take in the main thread go to times.json. The installation of one
is part of the import of its package.
"""

WIDE_JOBS = {
    "pandas": """
import pandas as pd
(pd.read_csv("wide.csv") * 2).to_csv("out.csv", index=False)
""",
    "polars": """
import polars as pl
pl.scan_csv("wide.csv").select(pl.all() * 2).collect().write_csv("out.csv")
""",
    "duckdb": """
import duckdb
duckdb.sql("COPY (SELECT * FROM 'wide.csv') TO 'out.csv'")
""",
    "pyarrow.csv": """
from pyarrow import csv
csv.write_csv(csv.read_csv("wide.csv"), "out.csv")
""",
    "ibis": """
import ibis
wide = ibis.duckdb.connect().read_csv("wide.csv")
wide.select(**{f"c{n}": wide[f"c{n}"] * 2 for n in range(300)}).to_csv("out.csv")
""",
    "sklearn": """
import joblib, pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
wide = pd.read_csv("wide.csv")
features = wide.iloc[:, 1:]
model = make_pipeline(StandardScaler(), LinearRegression()).fit(features, wide["c0"])
joblib.dump(model, "model.joblib")
wide.assign(guess=model.predict(features)).to_csv("out.csv", index=False)
""",
    "python": """
import whence_client as whence
with whence.run("declared") as run:
    wide = run.reads("wide.csv", schema=[f"c{n}" for n in range(300)])
    run.writes("out.csv", columns={f"c{n}": f"c{n} * 2" for n in range(300)})
""",
    "spark": """
from pyspark.sql import SparkSession
from whence_client.spark import attach
builder = SparkSession.builder.master("local[1]").appName("wide").config("spark.ui.enabled", "false")
spark = attach(builder.config("spark.driver.host", "127.0.0.1"), namespace="prod").getOrCreate()
wide = spark.read.csv("wide.csv", header=True, inferSchema=True)
wide.selectExpr(*(f"c{n} * 2 AS c{n}" for n in range(300))).write.parquet("out.csv")
spark.stop()
""",
    "spark_connect": """
from pyspark.sql import SparkSession
from whence_client.spark import attach
builder = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false")
spark = attach(builder.config("spark.driver.host", "127.0.0.1"), namespace="prod", app_name="wide").getOrCreate()
wide = spark.read.csv("wide.csv", header=True, inferSchema=True)
wide.selectExpr(*(f"c{n} * 2 AS c{n}" for n in range(300))).write.parquet("out.csv")
spark.stop()
""",
    "mlflow": """
import mlflow, pandas as pd
from mlflow.models import infer_signature
from sklearn.linear_model import LinearRegression
mlflow.set_tracking_uri("sqlite:///mlflow.db")
wide = pd.read_csv("wide.csv").astype(float)
features = wide.iloc[:, 1:]
model = LinearRegression().fit(features, wide["c0"])
with mlflow.start_run():
    logged = mlflow.sklearn.log_model(model, name="model", signature=infer_signature(features, wide["c0"]))
wide.assign(guess=mlflow.pyfunc.load_model(logged.model_uri).predict(features)).to_csv("out.csv", index=False)
""",
    "great_expectations": """
import great_expectations as gx
context = gx.get_context(mode="ephemeral")
suite = gx.ExpectationSuite("sound")
for n in range(300):
    suite.add_expectation(gx.expectations.ExpectColumnValuesToNotBeNull(column=f"c{n}"))
suite = context.suites.add(suite)
lake = context.data_sources.add_pandas_filesystem("lake", base_directory=".")
data = lake.add_csv_asset("wide").add_batch_definition_path("all", path="wide.csv")
context.validation_definitions.add(gx.ValidationDefinition(name="file", data=data, suite=suite)).run()
""",
    "soda": """
import duckdb
from soda_core.contracts import verify_contract_locally
with duckdb.connect("shop.duckdb") as shop:
    shop.execute("CREATE TABLE wide AS FROM 'wide.csv'")
open("shop.yml", "w").write("type: duckdb\\nname: shop\\nconnection: {database: shop.duckdb}\\n")
columns = "".join(f"  - name: c{n}\\n    checks:\\n      - missing:\\n" for n in range(300))
open("wide.yml", "w").write(f"dataset: shop/main/wide\\ncolumns:\\n{columns}")
verify_contract_locally(data_source_file_path="shop.yml", contract_file_path="wide.yml")
""",
    "confluent_kafka": """
import os
from confluent_kafka import Producer
producer = Producer({"bootstrap.servers": os.environ["KAFKA_SERVERS"]})
for row in open("wide.csv"):
    producer.produce("clean", row)
producer.flush(60)
""",
}
