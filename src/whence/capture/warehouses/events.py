"""A record of a warehouse as events: a query is a run, a view is a job that is declared."""

import re
from dataclasses import replace

from whence.capture.sql import read_script
from whence.capture.sql.events.events import SqlFacts, sql_facts
from whence.capture.sql.events.naming import Naming as TableNaming
from whence.capture.sql_log.events import Settings, query_events
from whence.capture.sql_log.reported import combine_facts, reported_facts
from whence.capture.warehouses.records import Dialect, RanQuery, Record, View
from whence.model.names import JobName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset, facet, job_event
from whence_client.captures import Naming

_STATEMENT = re.compile(r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*create\b", re.IGNORECASE | re.DOTALL)


def record_events(record: Record, dialect: Dialect, namespace: str, naming: Naming) -> list[Json]:
    """The events of a record. `namespace` is that of the warehouse's tables. Raises DialectError."""
    match record:
        case RanQuery():
            return _query_events(record, dialect, namespace, naming)
        case View():
            return [_view_event(record, dialect, namespace, naming)]


def _query_events(record: RanQuery, dialect: Dialect, namespace: str, naming: Naming) -> list[Json]:
    settings = Settings(
        dialect=dialect.name, namespace=namespace, jobs=naming.namespace, time=0, catalog=record.catalog
    )
    events = query_events(record.query, settings)
    if not events or not record.refused:
        return events
    start, end = events
    return [start, {**end, "run": {**end["run"], "facets": _with_refusals(end["run"]["facets"], record.refused)}}]


def _with_refusals(facets: Json, refused: tuple[str, ...]) -> Json:
    known = facets.get("extractionError") or facet("ExtractionErrorRunFacet", totalTasks=1, failedTasks=0, errors=[])
    errors = [*known["errors"], *({"errorMessage": one} for one in refused)]
    return {**facets, "extractionError": {**known, "failedTasks": max(1, known["failedTasks"]), "errors": errors}}


def _view_event(view: View, dialect: Dialect, namespace: str, naming: Naming) -> Json:
    facts = _view_facts(view, dialect, namespace)
    kind = facet("JobTypeJobFacet", processingType="BATCH", integration=dialect.name.upper(), jobType="VIEW")
    errors = {f"whence_{key}": value for key, value in facts.run_facets.items()}  # a job event has no run
    return job_event(
        view.changed,
        JobName(naming.namespace, f"view.{'.'.join(view.parts)}"),
        facets={"jobType": kind, **facts.job_facets, **errors, **_description(view)},
        inputs=[dataset(name) for name in facts.inputs],
        outputs=[dataset(name, facets={**_type(), **facets}) for name, facets in facts.outputs.items()],
    )


def _view_facts(view: View, dialect: Dialect, namespace: str) -> SqlFacts:
    defaults = view.parts[:-1]
    tables = TableNaming(namespace=namespace, defaults=defaults)
    reported = reported_facts(view.reported, tables)
    assert reported is not None  # it has an output
    if not view.definition:
        return reported
    text = _statement(view, dialect)
    catalog = replace(view.catalog, defaults=(defaults,))
    facts = sql_facts(text, dialect.name, read_script(text, dialect.name, catalog), tables)
    return combine_facts(facts, reported)


def _statement(view: View, dialect: Dialect) -> str:
    if _STATEMENT.match(view.definition):
        return view.definition
    return f"CREATE VIEW {dialect.quoted(view.parts)} AS {view.definition}"


def _description(view: View) -> Json:
    owners = {"ownership": facet("OwnershipJobFacet", owners=[{"name": view.owner, "type": "OWNER"}])}
    text = {"documentation": facet("DocumentationJobFacet", description=view.description)}
    return {**(owners if view.owner else {}), **(text if view.description else {})}


def _type() -> Json:
    return {"datasetType": facet("DatasetTypeDatasetFacet", datasetType="VIEW")}
