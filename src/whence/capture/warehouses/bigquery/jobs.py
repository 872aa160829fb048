"""BigQuery's jobs as its API lists them: queries, loads, copies and extracts."""

from datetime import datetime
from typing import Any

from whence.capture.sql_log.query import Parts, Query, Reported
from whence.capture.sql_log.rows import at
from whence.capture.sql_log.times import moment
from whence.capture.warehouses.statements import MARK, moment_at
from whence.model.events import RunState
from whence.openlineage.json.wire import Json, objects_in, text_of

_STOPPED = "stopped"
"""The reason of a job that somebody canceled."""


def read_job(job: Json) -> Query | None:
    """A job that is done. None for a script, whose statements are jobs, and for queries of a poll."""
    statistics, configuration = job.get("statistics"), job.get("configuration")
    text = text_of(at(configuration, "query", "query"))
    if at(statistics, "query", "statementType") == "SCRIPT" or text.endswith(MARK):
        return None
    error = at(job, "status", "errorResult")
    reference = job.get("jobReference")
    project, name = text_of(at(reference, "projectId")), text_of(at(reference, "jobId"))
    query = at(configuration, "query")
    destination = _table(at(query, "destinationTable"))
    return Query(
        text=text,
        place="jobs",
        started=moment(at(statistics, "startTime") or at(statistics, "creationTime")),
        ended=moment(at(statistics, "endTime") or at(statistics, "creationTime")),
        state=_state(error),
        error=text_of(at(error, "message")),
        user=text_of(job.get("user_email")),
        database=text_of(at(query, "defaultDataset", "projectId")) or project,
        schema=text_of(at(query, "defaultDataset", "datasetId")),
        session=text_of(at(statistics, "sessionInfo", "sessionId")) or text_of(at(statistics, "parentJobId")),
        query_id=name,
        execution=(project, name),
        rows=_rows(statistics),
        destination=destination,
        reported=_reported(configuration, statistics, destination),
    )


def creation_time(job: Json) -> datetime:
    """When a job was created."""
    return moment_at(moment(at(job, "statistics", "creationTime")))


def _reported(configuration: Any, statistics: Any, destination: Parts) -> Reported:
    """What was read and written, by the kind of job."""
    if load := at(configuration, "load"):
        return _moved([(text_of(one),) for one in load.get("sourceUris") or ()], [_table(at(load, "destinationTable"))])
    if copy := at(configuration, "copy"):
        sources = [copy.get("sourceTable"), *(copy.get("sourceTables") or ())]
        return _moved(map(_table, sources), [_table(at(copy, "destinationTable"))])
    if extract := at(configuration, "extract"):
        files = extract.get("destinationUris") or [extract.get("destinationUri")]
        return _moved([_table(extract.get("sourceTable"))], [(text_of(one),) for one in files])
    read = [_table(one) for _, one in objects_in(at(statistics, "query", "referencedTables"))]
    return _moved(read, [destination])


def _moved(inputs: Any, outputs: Any) -> Reported:
    return Reported(
        inputs=tuple(dict.fromkeys(one for one in inputs if one and one[0])),
        outputs=tuple(dict.fromkeys(one for one in outputs if one and one[0])),
    )


def _state(error: Any) -> RunState:
    if not error:
        return RunState.COMPLETE
    return RunState.ABORT if at(error, "reason") == _STOPPED else RunState.FAIL


def _rows(statistics: Any) -> int | None:
    changed = at(statistics, "query", "numDmlAffectedRows") or at(statistics, "load", "outputRows")
    return int(changed) if changed is not None and str(changed).isdecimal() else None


def _table(value: Any) -> Parts:
    """A table, or empty for the tables in which BigQuery keeps results for a day."""
    parts = tuple(text_of(at(value, one)) for one in ("projectId", "datasetId", "tableId"))
    return parts if all(parts) and not parts[1].startswith("_") else ()
