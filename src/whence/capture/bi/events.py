"""Charts and dashboards as events: each is declared on itself, and one run says what a reading could not read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from whence.capture.bi.reports import Doubt, Lineage, Report
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset_lineage
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import COMPLETE, extraction_error_facet, iso, job_type_facet, run_event
from whence_client.events.runs import dataset_event as declare


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A report as it is from `at` on."""

    report: Report
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A report that the tool no longer has."""

    name: DatasetName
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """That a tool was read, and what could not be. `digest` names what was found."""

    tool: str
    at: datetime
    digest: str
    reports: int
    gaps: Mapping[str, str]


Record = Declared | Gone | Reading


def record_events(record: Record, naming: Naming) -> Iterator[Json]:
    """The events of a record."""
    match record:
        case Declared():
            yield declare(_dataset(record.report), record.at)
        case Gone():
            yield declare(_ended(record.name), record.at)
        case Reading():
            yield _reading(record, naming)


def _dataset(report: Report) -> Dataset:
    facets: dict[str, Facet] = {
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType=report.kind),
        "lineage": dataset_lineage(report.lineage.edges),
        "schema": facet("SchemaDatasetFacet", fields=[{"name": one} for one in report.lineage.fields]),
        "whence_report": own_facet("ReportDatasetFacet", **_known(report)),
        **_evidence(report.lineage),
    }
    if report.owners:
        owners = [{"name": one, "type": "OWNER"} for one in report.owners]
        facets["ownership"] = facet("OwnershipDatasetFacet", owners=owners)
    if report.description:
        facets["documentation"] = facet("DocumentationDatasetFacet", description=report.description)
    if report.url:
        facets["dataSource"] = facet("DatasourceDatasetFacet", name=report.title, uri=report.url)
    return Dataset(report.name.namespace, report.name.name, facets={**facets, **report.facets})


def _known(report: Report) -> Json:
    members: Json = {"title": report.title, "url": report.url, "hidden": report.is_hidden or None}
    members |= {"lastViewed": iso(report.viewed) if report.viewed else None, "views": report.views}
    return {key: value for key, value in members.items() if value not in (None, "")}


def _evidence(lineage: Lineage) -> dict[str, Facet]:
    if not lineage.doubts and not lineage.unexplained:
        return {}
    doubts = [_doubt(one) for one in lineage.doubts]
    gaps = [{"field": name, "reason": reason} for name, reason in sorted(lineage.unexplained.items())]
    return {
        "whence_columnEvidence": own_facet("ColumnEvidenceDatasetFacet", method="sql", doubts=doubts, unexplained=gaps)
    }


def _doubt(doubt: Doubt) -> Json:
    source, target = doubt.edge.source, doubt.edge.target
    assert isinstance(source, FieldName)
    members: Json = {
        "field": target.field if isinstance(target, FieldName) else None,
        "namespace": source.dataset.namespace,
        "name": source.dataset.name,
        "inputField": source.field,
    }
    return {**members, "confidence": doubt.confidence, "reason": doubt.reason}


def _ended(name: DatasetName) -> Dataset:
    """What vanished: its lineage ends, also where others still read it, and it counts as dropped."""
    drop = facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange="DROP")
    return Dataset(*_parts(name), facets={"lineage": dataset_lineage(()), "lifecycleStateChange": drop})


def _parts(name: DatasetName) -> tuple[str, str]:
    return name.namespace, name.name


def _reading(record: Reading, naming: Naming) -> Json:
    job = f"{record.tool}.{naming.instance}"
    facets: dict[str, Facet] = {"whence_reading": own_facet("ReadingRunFacet", reports=record.reports)}
    if record.gaps:
        errors = {place: f"{place}: {reason}" for place, reason in record.gaps.items()}
        facets["extractionError"] = extraction_error_facet(errors, record.reports + len(errors))
    return run_event(
        COMPLETE,
        naming.run(job, record.tool, record.digest, record.at.isoformat()),
        record.at,
        parent=naming.parent,
        run_facets=facets,
        job_facets={"jobType": job_type_facet("READING", record.tool.upper())},
    )
