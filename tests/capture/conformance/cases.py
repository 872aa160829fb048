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

    `package` is the distribution that is observed, empty for the Python API.
    """

    capture: str
    package: str
    job: str
    edges: frozenset[str]
    lost: str
    """What the capture does not see, for the support matrix."""
    unknown: frozenset[str] = frozenset()

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
        "spark",
        "pyspark",
        """
from pyspark.sql import SparkSession
from whence_client.spark import attach
builder = SparkSession.builder.master("local[1]").appName("totals").config("spark.ui.enabled", "false")
spark = attach(builder.config("spark.driver.host", "127.0.0.1"), namespace="prod").getOrCreate()
orders = spark.read.csv("orders.csv", header=True, inferSchema=True)
orders.where("id > 1").selectExpr("customer AS who", "amount * 1.2 AS gross").write.parquet("out.csv")
spark.stop()
""",
        frozenset(("orders.customer -> out.who", "orders.amount -> out.gross")),
        "rows that pass through the driver, Spark Connect, jobs in Scala",
    ),
)
"""Captures whose system takes long to start: `--long`."""
