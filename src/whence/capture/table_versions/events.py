"""A record of a table's history as an event.

A version whose commit names its run is an event of that run, which wrote it; the state of the run is not changed. Any
other version is declared of the dataset: which job made it is not known, and no job is made up.
"""

from dataclasses import replace

from whence.capture.table_versions.records import Record, TableColumns, TableVersion
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset_lineage
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import OTHER, dataset_event, run_event


def record_event(record: Record) -> Json:
    """The event of a record."""
    match record:
        case TableVersion():
            return _version_event(record)
        case TableColumns():
            return _columns_event(record)


def _version_event(record: TableVersion) -> Json:
    facets: dict[str, Facet] = {
        "version": facet("DatasetVersionDatasetFacet", datasetVersion=record.version),
        "whence_tableVersion": own_facet("TableVersionDatasetFacet", **_members(record)),
    }
    table = replace(record.table, facets=facets)
    if record.run is None or not record.has_new_data:
        return dataset_event(table, record.at)
    if record.rows is not None:
        table = replace(
            table, run_facets={"outputStatistics": facet("OutputStatisticsOutputDatasetFacet", rowCount=record.rows)}
        )
    return run_event(OTHER, record.run, record.at, outputs=[table])


def _members(record: TableVersion) -> Json:
    members: Json = {
        "version": record.version,
        "before": record.before,
        "operation": record.operation,
        "hasNewData": record.has_new_data,
        "user": record.user,
        "engine": record.engine,
        "rows": record.rows,
        "runId": record.run.run_id if record.run else "",
        "lostVersions": record.lost or None,
    }
    return {key: value for key, value in members.items() if value not in ("", None)}


def _columns_event(record: TableColumns) -> Json:
    table = DatasetName(record.table.namespace, record.table.name)
    edges = [
        Edge(
            source=FieldName(table, old),
            target=FieldName(table, new),
            type="DIRECT",
            subtype="IDENTITY",
            description="renamed",
        )
        for old, new in record.renames
    ]
    facets: dict[str, Facet] = {"lineage": dataset_lineage(edges)}
    if record.replaced:
        facets["whence_replacedColumns"] = own_facet("ReplacedColumnsDatasetFacet", columns=list(record.replaced))
    return dataset_event(replace(record.table, schema_fields=record.fields, facets=facets), record.at)
