"""A user's job on any PySpark from 3.3: two tables joined into a third, of one FORMAT, with the listener of `attach`.
It prints a line of JSON about what it ran on.
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from whence_client.spark import attach

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
}
ORDERS = "values (1, 1, 10.0D), (2, 1, 20.0D), (3, 2, 5.0D) as t(order_id, customer_id, amount)"
CUSTOMERS = "values (1, 'Ada', 'EU'), (2, 'Bob', 'US') as t(customer_id, name, region)"
JOIN = """
    select o.order_id, c.name as customer, o.amount * 2 as doubled
    from orders o join customers c on o.customer_id = c.customer_id where c.region = 'EU'
"""


def session(base: Path, kind: str, package: str, url: str, key: str, namespace: str) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").appName("joining").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "1g")
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    if package:
        builder = builder.config("spark.jars.packages", package)
    for name, value in {"delta": DELTA, "iceberg": ICEBERG}.get(kind, {}).items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.catalog.lake.warehouse", str(base / "lake"))
    spark: SparkSession = attach(builder, url=url, namespace=namespace, api_key=key, jar=True).getOrCreate()
    return spark


def main(base: Path, kind: str, target: str, package: str, url: str, key: str, namespace: str) -> None:
    spark = session(base, kind, package, url, key, namespace)
    for name, values in (("orders", ORDERS), ("customers", CUSTOMERS)):
        spark.sql(f"select * from {values}").write.parquet(str(base / name))
        spark.read.parquet(str(base / name)).createOrReplaceTempView(name)
    joined = spark.sql(JOIN)
    if kind == "iceberg":
        joined.writeTo(f"lake.shop.{target}").create()
    else:
        joined.write.format(kind).save(str(base / target))
    jvm: Any = spark.sparkContext._jvm
    listeners = [
        one for one in spark.sparkContext.getConf().get("spark.jars.packages", "").split(",") if "openl" in one
    ]
    report = {
        "scala": jvm.scala.util.Properties.versionNumberString(),
        "java": jvm.java.lang.System.getProperty("java.specification.version"),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "listener": listeners[0] if listeners else "",
        "rows": joined.count(),
    }
    spark.stop()
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:8])
