"""Publication of the demo's scores: customers to call are written to the CRM, first to staging.

Each environment of the CRM is an SQLite database. Scores that fail their checks stop in staging. A report over the CRM
in production is the dashboard at the end of the lineage.
"""

import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from whence.demo.checks import Check, Rows, check_scores, read_parquet, without_score
from whence.demo.declare import PRODUCER
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, own_facet, replace_producer, run_event

Json = dict[str, Any]

ENVIRONMENTS = ("crm-staging", "crm-prod")
CALLED_FROM = 0.5
"""Customers with at least this probability of churn are called."""

CALL_LIST_SQL = f"""create table main.call_list as
select customer_id, churn_probability
from main.predictions
where churn_probability >= {CALLED_FROM}
"""
"""What the CRM runs on the scores that it gets. `whence demo --gate` has it in a repository."""

CONTRACT_VERSION = "1.0.0"
"""Of the call list, whose columns the report reads."""

_CALL_LIST = {"customer_id": "INTEGER", "churn_probability": "REAL"}
_REPORT = {"customers_to_call": "INTEGER", "mean_probability": "REAL"}


class Sender(Protocol):
    """Sends an event to a collector."""

    def emit(self, event: Json) -> bool:
        """Returns whether the event is kept until it is sent."""


class ScoresRejectedError(Exception):
    """Scores did not pass a check whose severity is error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One run of a job: its inputs, and its output with the columns and their lineage."""

    run: RunName
    description: str
    reads: Sequence[Json]
    writes: DatasetName
    columns: dict[str, str]
    edges: Sequence[Edge]
    dataset_facets: Json

    def event(self, state: RunState, *, rows: int | None = None, run_facets: Json | None = None) -> Json:
        """An event of the run, now. `rows`: the number of rows written, if any."""
        fields = [{"name": name, "type": type_} for name, type_ in self.columns.items()]
        facets = {
            "schema": facet("SchemaDatasetFacet", fields=fields),
            "columnLineage": column_lineage(self.edges),
            **self.dataset_facets,
        }
        counted = {} if rows is None else {"outputFacets": {"outputStatistics": _row_count(rows)}}
        event = run_event(
            time.time_ns() // 1_000,
            state,
            self.run,
            run_facets=run_facets,
            job_facets=_job_facets(self.description),
            inputs=self.reads,
            outputs=[dataset(self.writes, facets=facets, **counted)],
        )
        return replace_producer(PRODUCER, event)


def publish_scores(data: Path, sender: Sender) -> str:
    """Write the call list to each environment, and then the report. Returns one line about the result."""
    predictions, customers = (read_parquet(data / path) for path in ("gold/predictions", "silver/customers"))
    checks = check_scores(predictions, customers)
    called = [row for row in predictions if row["churn_probability"] >= CALLED_FROM]
    try:
        for environment in ENVIRONMENTS:
            with _report_run(_loading(environment, data, checks), sender, len(called)):
                if not all(check.success for check in checks if check.severity == "error"):
                    missing = without_score(predictions, customers)
                    raise ScoresRejectedError(f"{missing} of {len(customers)} customers have no score")
                _load(data, environment, predictions)
    except ScoresRejectedError as error:
        return f"stopped in {environment}, {error}"
    with _report_run(_reporting(data), sender, 1):
        _write_report(data)
    return f"{len(called)} customers to call, in {' and '.join(ENVIRONMENTS)}"


def call_list(environment: str) -> DatasetName:
    """The table of customers to call in an environment of the CRM."""
    return DatasetName(f"sqlite://{environment}", "main.call_list")


def report(data: Path) -> DatasetName:
    """The page over the production call list."""
    return DatasetName("file", str(data / "reports/customers_to_call.html"))


@contextmanager
def _report_run(work: Work, sender: Sender, rows: int) -> Iterator[None]:
    """Emit START before the work, COMPLETE or FAIL after it."""
    sender.emit(work.event(RunState.START))
    try:
        yield
    except Exception as error:
        message = facet("ErrorMessageRunFacet", message=str(error), programmingLanguage="PYTHON")
        sender.emit(work.event(RunState.FAIL, run_facets={"errorMessage": message}))
        raise
    sender.emit(work.event(RunState.COMPLETE, rows=rows))


def _loading(environment: str, data: Path, checks: Sequence[Check]) -> Work:
    source, target = DatasetName("file", str(data / "gold/predictions")), call_list(environment)
    assertions = facet("DataQualityAssertionsDatasetFacet", assertions=[check.document for check in checks])
    return Work(
        run=_new_run(environment, "publish_call_list"),
        description="Writes the customers who are likely to leave to the CRM, if each customer has a score.",
        reads=[dataset(source, inputFacets={"dataQualityAssertions": assertions})],
        writes=target,
        columns=_CALL_LIST,
        edges=[
            *(_direct(FieldName(source, name), FieldName(target, name), "IDENTITY") for name in _CALL_LIST),
            _filter(FieldName(source, "churn_probability"), target, f"churn_probability >= {CALLED_FROM}"),
        ],
        dataset_facets={
            **_facts("team:crm", "Customers to call, because they are likely to leave."),
            "whence_contract": own_facet("ContractFacet", version=CONTRACT_VERSION),
        },
    )


def _reporting(data: Path) -> Work:
    source, target = call_list("crm-prod"), report(data)
    counted = _direct(
        FieldName(source, "customer_id"), FieldName(target, "customers_to_call"), "AGGREGATION", "count(customer_id)"
    )
    mean = _direct(
        FieldName(source, "churn_probability"),
        FieldName(target, "mean_probability"),
        "AGGREGATION",
        "avg(churn_probability)",
    )
    kind = facet("DatasetTypeDatasetFacet", datasetType="DASHBOARD")
    facts = _facts("team:success", "How many customers to call today, and how likely they are to leave.")
    return Work(
        run=_new_run("crm-prod", "report_call_list"),
        description="Renders the report over the call list.",
        reads=[dataset(source)],
        writes=target,
        columns=_REPORT,
        edges=[counted, mean],
        dataset_facets={**facts, "datasetType": kind, "whence_tier": own_facet("TierFacet", tier=1)},
    )


def _load(data: Path, environment: str, predictions: Rows) -> None:
    with closing(_database(data, environment)) as database, database:
        columns = ", ".join(f"{name} {type_}" for name, type_ in _CALL_LIST.items())
        database.execute(f"CREATE TABLE predictions ({columns})")
        rows = [tuple(row[name] for name in _CALL_LIST) for row in predictions]
        database.executemany("INSERT INTO predictions VALUES (?, ?)", rows)
        database.execute("DROP TABLE IF EXISTS call_list")
        database.execute(CALL_LIST_SQL)
        database.execute("DROP TABLE predictions")


def _write_report(data: Path) -> None:
    with closing(_database(data, "crm-prod")) as database:
        count, mean = database.execute("SELECT count(customer_id), avg(churn_probability) FROM call_list").fetchone()
    path = Path(report(data).name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<h1>{count} customers to call</h1><p>On average {mean or 0:.0%} likely to leave.</p>\n")


def _database(data: Path, environment: str) -> sqlite3.Connection:
    directory = data / "crm"
    directory.mkdir(parents=True, exist_ok=True)
    return sqlite3.connect(directory / f"{environment}.db")


def _new_run(namespace: str, job: str) -> RunName:
    return RunName(str(uuid.uuid4()), JobName(namespace, job))


def _direct(source: FieldName, target: FieldName, subtype: str, description: str = "") -> Edge:
    return Edge(source=source, target=target, type="DIRECT", subtype=subtype, description=description)


def _filter(source: FieldName, target: DatasetName, description: str) -> Edge:
    return Edge(source=source, target=target, type="INDIRECT", subtype="FILTER", description=description)


def _facts(owner: str, description: str) -> Json:
    return {
        "ownership": facet("OwnershipDatasetFacet", owners=[{"name": owner, "type": "OWNER"}]),
        "documentation": facet("DocumentationDatasetFacet", description=description),
    }


def _job_facets(description: str) -> Json:
    kind = {"processingType": "BATCH", "integration": "PYTHON", "jobType": "JOB"}
    return {
        "jobType": facet("JobTypeJobFacet", **kind),
        "documentation": facet("DocumentationJobFacet", description=description),
        "ownership": facet("OwnershipJobFacet", owners=[{"name": "team:crm", "type": "OWNER"}]),
    }


def _row_count(rows: int) -> Json:
    return facet("OutputStatisticsOutputDatasetFacet", rowCount=rows)
