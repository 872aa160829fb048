"""Runs the statements over Spark Connect with the capture on, in an environment of its own: `connect_run.py ROOT`.

The server is a local one that PySpark starts beside the client. Below ROOT it writes `events.jsonl`, what the capture
sent, and `records.jsonl`, what the server explained. It prints a JSON object: versions, and the statements that
raised.
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from whence_client.spark import attach
from whence_client.spark.connect import capture

sys.path.insert(0, str(Path(__file__).parents[2]))
from nightly.spark_battery import statements

REPLACED = ("read_explanation", "query_events")
FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.system.home="


def session(root: Path) -> SparkSession:
    builder = SparkSession.builder.remote("local[1]").config("spark.sql.warehouse.dir", str(root / "wh"))
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.memory", "1g")
    builder = builder.config("spark.driver.extraJavaOptions", f"{FAST}{root}")
    spark: SparkSession = attach(
        builder, namespace="battery", app_name="battery", events_file=str(root / "events.jsonl")
    ).getOrCreate()
    return spark


def record(root: Path) -> None:
    """Keep every query that is reported with the explanation that it was read from."""
    file = (root / "records.jsonl").open("w", encoding="utf-8")
    read, make = (getattr(capture, name) for name in REPLACED)
    texts: list[tuple[Any, str]] = []

    def reading(text: str) -> Any:
        explained = read(text)
        texts.append((explained.plan, text))
        return explained

    def making(query: Any, *rest: Any) -> Any:
        text = next((text for plan, text in texts if plan is query.plan), "")
        document = {**query.document(), "plan": [], "text": text}
        file.write(json.dumps(document, ensure_ascii=False).replace(str(root), "/root") + "\n")
        file.flush()
        return make(query, *rest)

    for name, replacement in zip(REPLACED, (reading, making), strict=True):
        setattr(capture, name, replacement)


def main(root: Path) -> None:
    record(root)
    spark = session(root)
    io = statements.IO(spark, str(root))
    statements.make_inputs(spark, io)
    raised = {}
    for one in statements.STATEMENTS:
        if one.needs:
            continue
        try:
            one.run(spark, io)
        except Exception as error:
            raised[one.name] = str(error)[:300]
    version = spark.version
    spark.stop()
    sys.stdout.write(json.dumps({"spark": version, "python": platform.python_version(), "raised": raised}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
