"""Runs the statements with the capture on any PySpark, in an environment of its own: `run.py ROOT NEEDS`.

`NEEDS` is a JSON object: the package of each table format. Below ROOT it writes `events.jsonl`, what the capture sent,
and `records.jsonl`, what it read from the JVM. It prints a JSON object: versions, and the statements that raised.
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from whence_client.spark import attach
from whence_client.spark.capture import capture
from whence_client.spark.capture.reading import read_queries
from whence_client.spark.capture.records import Query
from whence_client.spark.capture.streams import read_stream

sys.path.insert(0, str(Path(__file__).parents[2]))
from nightly.spark_battery import statements

CONF = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
    },
}
FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.system.home="


def session(root: Path, events: str, needs: dict[str, str]) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").appName("battery").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.sql.warehouse.dir", str(root / "wh")).config("spark.driver.memory", "1g")
    builder = builder.config("spark.driver.extraJavaOptions", f"{FAST}{root}")
    builder = builder.config("spark.sql.catalog.lake.warehouse", str(root / "lake"))
    merged: dict[str, str] = {}
    for need in needs:
        for name, value in CONF[need].items():
            merged[name] = f"{merged[name]},{value}" if name in merged else value
    if needs:
        merged["spark.jars.packages"] = ",".join(needs.values())
    for name, value in merged.items():
        builder = builder.config(name, value)
    spark: SparkSession = attach(builder, namespace="battery", events_file=events).getOrCreate()
    return spark


def record(root: Path) -> None:
    """Keep every record that the capture reads, without what lineage does not need."""
    file = (root / "records.jsonl").open("w", encoding="utf-8")

    def keep(query: Query) -> Query:
        file.write(json.dumps(slim(query.document()), ensure_ascii=False).replace(str(root), "/root") + "\n")
        file.flush()
        return query

    vars(capture).update(
        read_queries=lambda action, execution: map(keep, read_queries(action, execution)),
        read_stream=lambda stream: keep(read_stream(stream)),
    )


NOISE = frozenset(
    {
        "metadata", "nullable", "qualifier", "jvmId", "nonInheritableMetadataKeys", "explicitMetadata", "desc",
        "options", "catalogTable", "timeZoneId", "evalMode", "branches", "elseValue", "ifPartitionNotExists",
    }
)  # fmt: skip


def slim(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: slim(one) for key, one in value.items() if key not in NOISE}
    return [slim(one) for one in value] if isinstance(value, (list, tuple)) else value


def main(root: Path, needs: dict[str, str]) -> None:
    record(root)
    spark = session(root, str(root / "events.jsonl"), needs)
    spark.sparkContext.setLogLevel("OFF")
    io = statements.IO(spark, str(root))
    statements.make_inputs(spark, io)
    raised = {}
    for one in statements.STATEMENTS:
        if one.needs - set(needs):
            continue
        try:
            one.run(spark, io)
        except Exception as error:
            raised[one.name] = str(error)[:300]
    spark.stop()
    sys.stdout.write(json.dumps({"spark": spark.version, "python": platform.python_version(), "raised": raised}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
