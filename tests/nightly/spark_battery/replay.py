"""The events of recorded queries, without Spark: what the capture makes of records that it read from a JVM before."""

import dataclasses
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whence_client.events.runs import COMPLETE, RunRef
from whence_client.lineage.columns import Column
from whence_client.spark.capture.events import Application, Execution, query_events, stream_events
from whence_client.spark.capture.records import Query, read_document
from whence_client.spark.capture.streams import STREAM
from whence_client.spark.plan.lineage import known_columns
from whence_client.spark.plan.relations import Context

ROOT = "/root"
"""The directory in the names of recorded queries."""

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_RUN = RunRef("battery", "battery", "00000000-0000-4000-8000-000000000001")


def read_records(path: Path) -> list[Query]:
    """The records in a file of one JSON document a line, compressed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [read_document(json.loads(line)) for line in file]


def event_of(query: Query, plan: list[Any]) -> Iterator[dict[str, Any]]:
    """The events of a query with this plan, which refers to no plan before it."""
    application = Application(_RUN)
    if query.target:
        execution = Execution(RunRef("battery", application.job_name(query.target), _RUN.run_id), _AT, _AT)
        yield from query_events(dataclasses.replace(query, plan=plan), execution, application, Context(query.leaves))


def replay(records: list[Query]) -> Iterator[dict[str, Any]]:
    """The events of records, in their order."""
    application, known = Application(_RUN), dict[int, Column]()
    for query in records:
        if query.target is None or query.action == STREAM:
            known |= known_columns(query.plan, Context(query.leaves, known, query.expansions))
        if query.target is None:
            continue
        execution = Execution(RunRef("battery", application.job_name(query.target), _RUN.run_id), _AT, _AT)
        if query.action == STREAM:
            yield from stream_events(
                query, execution, application, COMPLETE, Context(query.leaves, {}, query.expansions)
            )
        else:
            context = Context(query.leaves, known, query.expansions)
            yield from query_events(query, execution, application, context)
