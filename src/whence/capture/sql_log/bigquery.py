"""BigQuery's jobs, from INFORMATION_SCHEMA.JOBS* and Cloud Audit logs (cloud.google.com/bigquery/docs/reference).

BigQuery reports which tables a job read and wrote. The report is used where the text is missing: JOBS_BY_ORGANIZATION
has none, and the audit log truncates long ones.
"""

import json
from typing import Any

from whence.capture.sql_log.query import Parts, Query, Reported
from whence.capture.sql_log.rows import Row, at, number, text, value_of
from whence.capture.sql_log.times import moment
from whence.model.events import RunState
from whence.openlineage.json.wire import objects_in, text_of

_CHANGED = ("inserted_row_count", "updated_row_count", "deleted_row_count")


def bigquery_job(row: Row, place: str) -> Query | None:
    """Read a row of INFORMATION_SCHEMA.JOBS*. Returns None for an unfinished job."""
    if text(row, "state").upper() in ("PENDING", "RUNNING"):
        return None
    error, destination = value_of(row, "error_result"), _table(value_of(row, "destination_table"), "_id")
    return Query(
        text=text(row, "query"),
        place=place,
        started=moment(text(row, "start_time", "creation_time")),
        ended=moment(text(row, "end_time", "start_time", "creation_time")),
        state=RunState.FAIL if error else RunState.COMPLETE,
        error=text_of(at(error, "message")),
        user=text(row, "user_email"),
        database=text(row, "project_id"),
        session=text_of(at(value_of(row, "session_info"), "session_id")) or text(row, "parent_job_id"),
        query_id=text(row, "job_id"),
        execution=_execution(text(row, "project_id"), text(row, "job_id")),
        rows=_changed_rows(value_of(row, "dml_statistics")),
        destination=destination,
        reported=_reported(
            [_table(table, "_id") for _, table in objects_in(value_of(row, "referenced_tables"))], destination
        ),
    )


def bigquery_audit(row: Row, place: str) -> Query | None:
    """Read a Cloud Audit log entry of BigQuery, in the current form (BigQueryAuditMetadata) or the older one
    (AuditData).

    The entry is as Cloud Logging writes it, or as a sink to BigQuery does: with `protopayload_auditlog` and
    `metadataJson`.
    """
    payload = row.get("protopayload") or value_of(row, "protopayload_auditlog")
    if not isinstance(payload, dict):
        return None
    user = text_of(at(payload, "authenticationInfo", "principalEmail"))
    if job := at(_metadata(payload), "jobChange", "job"):
        return _audited_job(job, user, place)
    older = payload.get("serviceData") or payload.get("servicedata_v1_bigquery")
    if job := at(older, "jobCompletedEvent", "job"):
        return _older_audited_job(job, user, place)
    return None


def _metadata(payload: dict[str, Any]) -> Any:
    metadata = payload.get("metadata")
    return metadata if metadata is not None else json.loads(text_of(payload.get("metadataJson")) or "null")


def _audited_job(job: Any, user: str, place: str) -> Query | None:
    query, error = at(job, "jobConfig", "queryConfig"), at(job, "jobStatus", "errorResult", "message")
    if not query or at(job, "jobStatus", "jobState") not in ("DONE", None):
        return None
    name, destination = (
        text_of(at(job, "jobName")).split("/"),
        _without_result_tables(_path(at(query, "destinationTable"))),
    )
    read = at(job, "jobStats", "queryStats", "referencedTables")
    return Query(
        text="" if at(query, "queryTruncated") else text_of(at(query, "query")),
        place=place,
        started=moment(at(job, "jobStats", "startTime")),
        ended=moment(at(job, "jobStats", "endTime")),
        state=RunState.FAIL if error else RunState.COMPLETE,
        error=text_of(error),
        user=user,
        database=name[1] if len(name) > 1 else "",
        schema=(*_path(at(query, "defaultDataset")), "", "")[1],
        session=text_of(at(job, "jobStats", "parentJobName")),
        query_id=name[-1],
        execution=_execution(name[1] if len(name) > 1 else "", name[-1]),
        destination=destination,
        reported=_reported([_path(table) for table in read] if isinstance(read, list) else [], destination),
    )


def _older_audited_job(job: Any, user: str, place: str) -> Query | None:
    error, query = text_of(at(job, "jobStatus", "error", "message")), at(job, "jobConfiguration", "query")
    destination = _table(at(query, "destinationTable"), "Id")
    return Query(
        text=text_of(at(query, "query")),
        place=place,
        started=moment(at(job, "jobStatistics", "startTime")),
        ended=moment(at(job, "jobStatistics", "endTime")),
        state=RunState.FAIL if error else RunState.COMPLETE,
        error=error,
        user=user,
        database=text_of(at(job, "jobName", "projectId")),
        schema=text_of(at(query, "defaultDataset", "datasetId")),
        query_id=text_of(at(job, "jobName", "jobId")),
        execution=_execution(text_of(at(job, "jobName", "projectId")), text_of(at(job, "jobName", "jobId"))),
        destination=destination,
        reported=_reported(
            [_table(table, "Id") for _, table in objects_in(at(job, "jobStatistics", "referencedTables"))], destination
        ),
    )


def _execution(project: str, job: str) -> tuple[str, ...]:
    """The ids of a job: they are unique in a project only."""
    return (project, job) if job else ()


def _reported(inputs: list[Parts], output: Parts) -> Reported:
    return Reported(inputs=tuple(dataset for dataset in inputs if dataset), outputs=(output,) if output else ())


def _changed_rows(statistics: Any) -> int | None:
    return sum(number(statistics, key) or 0 for key in _CHANGED) if isinstance(statistics, dict) else None


def _path(name: Any) -> Parts:
    """The parts of `projects/p/datasets/d/tables/t`."""
    return tuple(text_of(name).split("/")[1::2])


def _table(value: Any, end: str) -> Parts:
    if not isinstance(value, dict):
        return ()
    return _without_result_tables(tuple(text_of(value.get(f"{part}{end}")) for part in ("project", "dataset", "table")))


def _without_result_tables(parts: Parts) -> Parts:
    """The table, or empty for the tables in which BigQuery keeps results for a day."""
    return parts if len(parts) == 3 and all(parts) and not parts[1].startswith("_") else ()
