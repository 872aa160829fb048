"""The lineage that Databricks itself reports, of statements and of what ran without one."""

from typing import Any

from whence.capture.sql_log.query import Flow, Parts, Query, Reported
from whence.capture.sql_log.rows import Row, text, value_of
from whence.capture.sql_log.times import moment
from whence.openlineage.json.wire import objects_in, text_of

_JOBS = {"NOTEBOOK": "notebook", "JOB": "job", "PIPELINE": "pipeline", "DASHBOARD_V3": "dashboard"}
_JOBS |= {"DBSQL_DASHBOARD": "dashboard", "DBSQL_QUERY": "query"}


def read_flows(row: Row) -> Reported:
    """What the lineage in a row says was read and written."""
    flows = [flow for _, flow in objects_in(value_of(row, "flows"))]
    columns = sorted({flow for one in flows if (flow := _column_flow(one))}, key=repr)
    return Reported(
        inputs=tuple(sorted({parts for one in flows if (parts := _parts(one, "source"))})),
        outputs=tuple(sorted({parts for one in flows if (parts := _parts(one, "target"))})),
        flows=tuple(columns),
    )


def read_other(row: Row) -> Query:
    """A run of a notebook, a job or a pipeline that has lineage and no statement."""
    entity, run = text(row, "entity_id"), text(row, "entity_run_id")
    kind = _JOBS.get(text(row, "entity_type"), text(row, "entity_type").lower())
    return Query(
        text="",
        place="table_lineage",
        ended=moment(text(row, "end_time")),
        user=text(row, "created_by"),
        query_id=run,
        execution=(kind, entity, run) if run else (kind, entity, text(row, "end_time")),
        job=f"{kind}.{entity}" if kind and entity else "",
        reported=read_flows(row),
    )


def _column_flow(flow: dict[str, Any]) -> Flow | None:
    source, target = _parts(flow, "source"), _parts(flow, "target")
    columns = text_of(flow.get("source_column")), text_of(flow.get("target_column"))
    return Flow(source, columns[0], target, columns[1]) if source and target and all(columns) else None


def _parts(flow: dict[str, Any], end: str) -> Parts:
    """A table by its name in three parts, or a path."""
    name, path = text_of(flow.get(end)), text_of(flow.get(f"{end}_path"))
    return tuple(name.split(".", 2)) if name else (path,) if path else ()
