"""One small job for each capture, and its lineage as the code says it. The folder of a job has orders.csv."""

from dataclasses import dataclass

ORDERS = "id,customer,amount\n1,7,2.5\n2,8,3.5\n3,7,4.5\n"
SECRET = "hush-4711"

ENDING = f"""
print("done", flush=True)
mode = sys.argv[1]
if mode == "fail":
    raise ValueError("no connection: password={SECRET}")
if mode == "kill":
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""What each job does after its last write, by its argument."""


@dataclass(frozen=True)
class Case:
    """A capture and a job of its system. `edges` are DIRECT; `unknown` are outputs whose sources must be announced.

    `package` is the distribution that is observed, empty for the Python API. `checks` are assertions about data, each
    with its severity and result. `environment` is a lock file of tests/nightly: that of the job's Python, if not ours.
    `topics` are one with the orders and one to write, of a broker whose address is in KAFKA_SERVERS.
    """

    capture: str
    package: str
    job: str
    edges: frozenset[str]
    lost: str
    """What the capture does not see, for the support matrix."""
    unknown: frozenset[str] = frozenset()
    checks: frozenset[str] = frozenset()
    environment: str = ""
    topics: tuple[str, ...] = ()

    @property
    def facts(self) -> frozenset[str]:
        """All that the job's lineage must be."""
        return self.edges | self.checks | ({" -> ".join(self.topics)} if self.topics else frozenset())

    @property
    def script(self) -> str:
        """The program."""
        return f"import sys\n{self.job}{ENDING}"


CASES = (
    Case(
        "pandas",
        "pandas",
        """
import pandas as pd
orders = pd.read_csv("orders.csv")
orders["gross"] = orders["amount"] * 1.2
orders["lost"] = list(orders["id"])
orders[orders["id"] > 1].rename(columns={"customer": "who"})[["who", "gross", "lost"]].to_csv("out.csv", index=False)
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "values that became lists or numbers, functions of Python, SQL text of `read_sql`",
        frozenset(("lost",)),
    ),
    Case(
        "polars",
        "polars",
        """
import polars as pl
orders = pl.scan_csv("orders.csv").filter(pl.col("id") > 1)
totals = orders.group_by(who="customer").agg(gross=pl.col("amount").sum()).collect()
totals.with_columns(lost=pl.Series([1, 2])).write_csv("out.csv")
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "values from Python, functions of Python",
        frozenset(("lost",)),
    ),
    Case(
        "duckdb",
        "duckdb",
        """
import duckdb
totals = "SELECT customer AS who, sum(amount) AS gross FROM 'orders.csv' WHERE id > 1 GROUP BY ALL"
duckdb.sql(f"COPY ({totals}) TO 'out.csv'")
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "`UPDATE`, `DELETE`, `MERGE`, the appender, Arrow tables",
    ),
    Case(
        "pyarrow.csv",
        "pyarrow",
        """
import pyarrow as pa, pyarrow.compute as pc
from pyarrow import csv
orders = csv.read_csv("orders.csv")
kept = orders.drop_columns(["id"]).append_column("lost", pc.multiply(orders["amount"], 2))
csv.write_csv(kept, "out.csv")
""",
        frozenset(("orders.customer -> out.customer", "orders.amount -> out.amount")),
        "what methods of tables and datasets compute, choose, filter or rename",
        frozenset(("lost",)),
    ),
    Case(
        "sklearn",
        "scikit-learn",
        """
import joblib, pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
orders = pd.read_csv("orders.csv")
model = make_pipeline(StandardScaler(), LinearRegression()).fit(orders[["id", "customer"]], orders["amount"])
joblib.dump(model, "model.joblib")
orders.assign(guess=model.predict(orders[["id", "customer"]]))[["guess"]].to_csv("out.csv", index=False)
""",
        frozenset(("orders.id -> model.id", "orders.customer -> model.customer", "orders.amount -> model.target"))
        | frozenset(("model.id -> out.guess", "model.customer -> out.guess", "model.target -> out.guess"))
        | frozenset(("orders.id -> out.guess", "orders.customer -> out.guess")),
        "transformers of your own, predictions that numpy changes, `cross_val_predict`",
    ),
    Case(
        "python",
        "",
        """
import whence_client as whence
with whence.run("declared") as run:
    orders = run.reads("orders.csv", schema=["id", "customer", "amount"])
    open("out.csv", "w").write("who,gross\\n")
    run.writes("out.csv", columns={"who": orders["customer"], "gross": "amount * 1.2", "lost": None})
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "what is not declared",
    ),
)

SLOW = (
    Case(
        "ibis",
        "ibis-framework",
        """
import ibis
from ibis import _
orders = ibis.duckdb.connect().read_csv("orders.csv")
orders.filter(_.id > 1).group_by(who=_.customer).agg(gross=_.amount.sum()).to_csv("out.csv")
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "SQL text (`con.sql`), tables of other databases than DuckDB, polars and SQLite",
        environment="frames/ibis.lock",
    ),
    Case(
        "spark",
        "pyspark",
        """
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").appName("totals").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
orders = spark.read.csv("orders.csv", header=True, inferSchema=True)
orders.where("id > 1").selectExpr("customer AS who", "amount * 1.2 AS gross").write.parquet("out.csv")
spark.stop()
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "rows that pass through the driver, jobs in Scala",
    ),
    Case(
        "spark_connect",
        "pyspark",
        """
from pyspark.sql import SparkSession
from whence_client.spark import attach
builder = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false")
spark = attach(builder.config("spark.driver.host", "127.0.0.1"), namespace="prod", app_name="totals").getOrCreate()
orders = spark.read.csv("orders.csv", header=True, inferSchema=True)
orders.where("id > 1").selectExpr("customer AS who", "amount * 1.2 AS gross").write.parquet("out.csv")
spark.stop()
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "columns of MERGE, UPDATE and DELETE, functions of `foreachBatch`, rows that pass through the client",
        environment="spark_battery/connect43.lock",
    ),
    Case(
        "mlflow",
        "mlflow",
        """
import mlflow, pandas as pd
from mlflow.models import infer_signature
from sklearn.linear_model import LinearRegression
mlflow.set_tracking_uri("sqlite:///mlflow.db")
orders = pd.read_csv("orders.csv")
features = orders[["id", "customer"]].astype(float)
model = LinearRegression().fit(features, orders["amount"])
with mlflow.start_run():
    logged = mlflow.sklearn.log_model(model, name="model", signature=infer_signature(features, orders["amount"]))
loaded = mlflow.pyfunc.load_model(logged.model_uri)
orders.assign(guess=loaded.predict(features))[["guess"]].to_csv("out.csv", index=False)
""",
        frozenset(("orders.id -> model.id", "orders.customer -> model.customer", "orders.amount -> model.target"))
        | frozenset(("model.id -> out.guess", "model.customer -> out.guess", "model.target -> out.guess"))
        | frozenset(("orders.id -> out.guess", "orders.customer -> out.guess")),
        "`mlflow.sklearn.load_model` of an alias, what a model reads by itself",
        environment="mlflow/mlflow.lock",
    ),
    Case(
        "great_expectations",
        "great-expectations",
        """
import great_expectations as gx, pandas as pd
context = gx.get_context(mode="ephemeral")
suite = gx.ExpectationSuite("sound")
suite.add_expectation(gx.expectations.ExpectColumnValuesToNotBeNull(column="amount"))
suite.add_expectation(gx.expectations.ExpectColumnMaxToBeBetween(column="amount", max_value=4, severity="warning"))
def check(name, data, **given):
    context.validation_definitions.add(gx.ValidationDefinition(name=name, data=data, suite=suite)).run(**given)
suite = context.suites.add(suite)
lake = context.data_sources.add_pandas_filesystem("lake", base_directory=".")
check("file", lake.add_csv_asset("orders").add_batch_definition_path("all", path="orders.csv"))
orders = pd.read_csv("orders.csv")
kept = orders[orders["id"] > 2].rename(columns={"customer": "who"})
frames = context.data_sources.add_pandas("frames")
data = frames.add_dataframe_asset("kept").add_batch_definition_whole_dataframe("all")
check("frame", data, batch_parameters={"dataframe": kept})
kept[["who"]].to_csv("out.csv", index=False)
""",
        frozenset(("orders.id -> kept.id", "orders.customer -> kept.who", "orders.amount -> kept.amount"))
        | frozenset(("orders.customer -> out.who",)),
        "`Batch.validate`, checks of queries and of Spark's frames",
        checks=frozenset(
            f"{dataset}.amount {rule}: {result}"
            for dataset in ("orders", "kept")
            for rule, result in (
                ("expect_column_values_to_not_be_null, error", "held"),
                ("expect_column_max_to_be_between, warn", "violated"),
            )
        ),
        environment="quality/great_expectations.lock",
    ),
    Case(
        "soda",
        "soda-core",
        """
import duckdb
from soda_core.contracts import verify_contract_locally
with duckdb.connect("shop.duckdb") as shop:
    shop.execute("CREATE TABLE sold AS FROM 'orders.csv'")
open("shop.yml", "w").write("type: duckdb\\nname: shop\\nconnection: {database: shop.duckdb}\\n")
open("sold.yml", "w").write('''dataset: shop/main/sold
columns:
  - name: amount
    checks:
      - missing:
      - aggregate: {function: max, threshold: {level: warn, must_be_less_than: 4}}
''')
verify_contract_locally(data_source_file_path="shop.yml", contract_file_path="sold.yml")
with duckdb.connect("shop.duckdb") as shop:
    shop.execute("COPY (SELECT customer AS who FROM sold) TO 'out.csv'")
""",
        frozenset(f"orders.{column} -> sold.{column}" for column in ("id", "customer", "amount"))
        | frozenset(("sold.customer -> out.who",)),
        "`soda contract test`, checks that only Soda Cloud runs",
        checks=frozenset(("sold.amount missing, error: held", "sold.amount aggregate, warn: violated")),
        environment="quality/soda.lock",
    ),
    Case(
        "confluent_kafka",
        "confluent-kafka",
        """
import os
from confluent_kafka import Consumer, Producer
servers = {"bootstrap.servers": os.environ["KAFKA_SERVERS"]}
producer = Producer(servers)
consumer = Consumer({**servers, "group.id": "clean", "auto.offset.reset": "earliest"})
consumer.subscribe(["raw"])
for message in consumer.consume(4, 60):
    producer.produce("clean", message.value().strip())
producer.flush(60)
consumer.close()
""",
        frozenset(),
        "columns, which of several topics a message came from, `ShareConsumer`, `confluent_kafka.aio`",
        topics=("raw", "clean"),
    ),
)
"""Captures whose system takes long to start: `--long`."""
