"""Twenty DAGs, each with a task that starts a job over one column; `dags.json` says which.

The job is reported as one inside the task, as Spark reports its applications: its run is contained by that of the task.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from airflow.providers.openlineage.plugins import macros
from airflow.sdk import DAG, get_current_context, task

PRODUCER = "https://example.com/columns"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def _facet(**members: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": SCHEMA, **members}


def _report(row: dict[str, Any]) -> None:
    """Append the event of the job to the file of the OpenLineage provider's events."""
    ti = get_current_context()["ti"]
    parent = {
        "run": {"runId": macros.lineage_run_id(ti)},
        "job": {"namespace": macros.lineage_job_namespace(), "name": macros.lineage_job_name(ti)},
    }
    (source, column), (target, end) = (row[key].rsplit(".", 1) for key in ("source", "target"))
    change = {"type": row["kind"], "subtype": "IDENTITY" if row["kind"] == "DIRECT" else "FILTER"}
    sources = {
        end: {
            "inputFields": [{"namespace": "db", "name": source, "field": column, "transformations": [change]}],
        }
    }
    if row["kind"] == "INDIRECT":  # with another column, or it would be a filter of the rows
        same = {"type": "DIRECT", "subtype": "IDENTITY"}
        sources["id"] = {"inputFields": [{"namespace": "db", "name": source, "field": "id", "transformations": [same]}]}
    event = {
        "eventType": "COMPLETE",
        "eventTime": datetime.now(UTC).isoformat(),
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
        "run": {"runId": str(uuid4()), "facets": {"parent": _facet(**parent)}},
        "job": {"namespace": "spark", "name": f"{row['target']} job"},
        "inputs": [{"namespace": "db", "name": source}],
        "outputs": [{"namespace": "db", "name": target, "facets": {"columnLineage": _facet(fields=sources)}}],
    }
    with Path(os.environ["COLUMNS_EVENTS"]).open("a") as file:
        file.write(json.dumps(event) + "\n")


def make(row: dict[str, Any]) -> None:
    with DAG(dag_id=row["dag"], schedule=None, start_date=datetime(2026, 11, 1), catchup=False):

        @task
        def work() -> None:
            _report(row)

        work()


for one in json.loads(Path(__file__).with_name("dags.json").read_text("utf-8")):
    make(one)
