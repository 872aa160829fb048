"""A user's job on any PySpark: WHEN is `before` (as documented), `during` (a session runs already) or `after` (one was
stopped in this process). It prints what it computed.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from whence_client.spark import attach


def builder() -> SparkSession.Builder:
    made = SparkSession.builder.master("local[1]").appName("job").config("spark.ui.enabled", "false")
    made = made.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "1g")
    return made.config("spark.sql.shuffle.partitions", "1")


def job(spark: SparkSession, base: Path) -> int:
    """Read, join, aggregate, write: in three ways."""
    sold = [(1, 1, 10.0), (2, 1, 20.0), (3, 2, 5.0)]
    spark.createDataFrame(sold, "order_id int, customer_id int, amount double").write.parquet(str(base / "orders"))
    orders = spark.read.parquet(str(base / "orders"))
    orders.createOrReplaceTempView("orders")
    totals = spark.sql("select customer_id, sum(amount) as total from orders where amount > 1 group by customer_id")
    totals.write.parquet(str(base / "totals"))
    orders.select((F.col("amount") * 2).alias("twice")).write.json(str(base / "twice"))
    shout = F.udf(lambda number: f"{number}!")
    orders.select("order_id", shout("amount").alias("loud")).write.orc(str(base / "loud"))
    return spark.read.parquet(str(base / "totals")).count()


def main(when: str, base: Path, url: str, key: str, namespace: str) -> None:
    if when in ("during", "after"):
        first = builder().getOrCreate()
        if when == "after":
            first.stop()
    spark = attach(builder(), url=url, namespace=namespace, api_key=key, jar=True).getOrCreate()
    count = job(spark, base)
    spark.stop()
    sys.stdout.write(f"{spark.version} counted {count}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:6])
