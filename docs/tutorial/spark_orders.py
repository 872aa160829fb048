"""A Spark job that reports its lineage: paid orders per day, from a CSV file to Parquet."""

import os
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from whence_client.spark import attach

data = Path("connect-data").absolute()
data.mkdir(exist_ok=True)
data.joinpath("orders.csv").write_text("id,day,amount,status\n1,2026-01-05,10,paid\n2,2026-01-05,5,open\n")

builder = SparkSession.builder.master("local[1]").appName("orders")
spark = attach(
    builder, url="http://127.0.0.1:8080", namespace="tutorial", api_key=os.environ["WHENCE_API_KEY"]
).getOrCreate()
orders = spark.read.csv(str(data / "orders.csv"), header=True, inferSchema=True)
paid = orders.where(F.col("status") == "paid").groupBy("day").agg(F.sum("amount").alias("total"))
paid.write.mode("overwrite").parquet(str(data / "paid"))
spark.stop()
