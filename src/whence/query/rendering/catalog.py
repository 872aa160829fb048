"""Catalog entries as JSON, in the shape of `/api/v2`. Nodes are node ids, times ISO 8601 UTC."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from whence.model.catalog import EventEntry, Write
from whence.model.events import EventKind, RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.facets.error_messages import find_error_message
from whence.openlineage.facets.facet_keys import SQL_COMPARISON, SQL_LINEAGE
from whence.openlineage.facets.steward_tags import CERTIFICATIONS
from whence.query.answers.instants import iso
from whence.query.lookup.contracts import contract_version
from whence.query.lookup.descriptions import (
    DescribedDataset,
    DescribedJob,
    DescribedRun,
    describe_datasets,
    describe_jobs,
)
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.rendering import catalog_documents as documents

_STATES: Mapping[RunState, documents.StateName] = {
    RunState.START: "START",
    RunState.RUNNING: "RUNNING",
    RunState.COMPLETE: "COMPLETE",
    RunState.FAIL: "FAIL",
    RunState.ABORT: "ABORT",
    RunState.OTHER: "OTHER",
}
_KINDS: Mapping[EventKind, Literal["run", "dataset", "job"]] = {
    EventKind.RUN: "run",
    EventKind.JOB: "job",
    EventKind.DATASET: "dataset",
}


def dataset_document(one: DescribedDataset) -> documents.Dataset:
    """A dataset."""
    write = one.write
    return {
        "node": str(one.name),
        "namespace": one.name.namespace,
        "name": one.name.name,
        **_assertions(one),
        "contract_version": contract_version(one.facets),
        "aliases": [str(name) for name in one.aliases],
        "fields": [{"name": field.name, "type": field.type, "description": field.description} for field in one.fields],
        "lineage_columns": [],
        "last_write": None if write is None else _last_write(write),
        "facets": dict(one.facets),
    }


def job_document(one: DescribedJob) -> documents.Job:
    """A job with its latest runs."""
    return {
        "node": str(one.name),
        "namespace": one.name.namespace,
        "name": one.name.name,
        **_assertions(one),
        "inputs": [str(name) for name in one.inputs],
        "outputs": [str(name) for name in one.outputs],
        "latest_runs": [run_document(run) for run in one.runs],
        "sql": _sql(one.facets),
        "facets": dict(one.facets),
    }


def _sql(facets: Mapping[str, Any]) -> documents.SqlOfJob | None:
    """How a job's SQL was parsed, and on how many column edges parser and producer agree (null: not compared)."""
    if SQL_LINEAGE not in facets:
        return None
    return {
        "reader": _member(facets, SQL_LINEAGE, "reader"),
        "dialect": _member(facets, SQL_LINEAGE, "dialect"),
        "status": _member(facets, SQL_LINEAGE, "status"),
        "problems": _member(facets, SQL_LINEAGE, "problems"),
        "unmatched": _member(facets, SQL_LINEAGE, "unmatched"),
        "agreed": _member(facets, SQL_COMPARISON, "agreed"),
        "missing_in_report": _member(facets, SQL_COMPARISON, "missingInReport"),
        "missing_in_parse": _member(facets, SQL_COMPARISON, "missingInParse"),
    }


def run_document(one: DescribedRun) -> documents.Run:
    """A run."""
    entry = one.entry
    return {
        "run": str(entry.name),
        "job": str(entry.name.job),
        "state": _STATES[entry.state],
        "started_at": _iso(entry.started_at),
        "ended_at": _iso(entry.ended_at),
        "first_seen": _iso(entry.seen_from),
        "last_seen": _iso(entry.seen_to),
        "parent": None if one.parent is None else {"run": str(one.parent), "job": str(one.parent.job)},
        "inputs": [_end(one, "input", name) for name in one.inputs],
        "outputs": [_end(one, "output", name) for name in one.outputs],
        "error": find_error_message(one.facets),
        "facets": dict(one.facets),
    }


def event_document(one: EventEntry) -> documents.Event:
    """An event without its payload."""
    return {
        "event": one.key,
        "time": iso(one.time),
        "kind": _KINDS[one.kind],
        "state": _STATES[one.state] if one.kind == 0 else None,
        "producer": one.producer,
        "subject": None if one.subject is None else str(one.subject),
        "job": str(one.subject.job) if isinstance(one.subject, RunName) else None,
    }


def facts_document(one: DescribedDataset | DescribedJob) -> documents.Facts:
    """The facts that people assert about a dataset or job."""
    if isinstance(one, DescribedJob):
        return {"node": str(one.name), "types": _types(one.facets, "jobType"), **_assertions(one)}
    types = _types(one.facets, "datasetType")
    contract = contract_version(one.facets)
    aliases = [str(name) for name in one.aliases]
    return {"node": str(one.name), "types": types, **_assertions(one), "contract_version": contract, "aliases": aliases}


def facts_documents(
    catalog: Catalog,
    graph: Graph,
    names: Iterable[DatasetName | JobName],
    certified: Mapping[DatasetName, str] | None = None,
) -> list[documents.Facts]:
    """The assertions of people about several datasets and jobs, in their order. Unknown ones are left out. `certified`:
    what rules of certification say of datasets that have one.
    """
    names = tuple(dict.fromkeys(names))
    entries = catalog.entries([node_id(one) for one in names]).values()
    datasets = [one for one in entries if isinstance(one.name, DatasetName)]
    jobs = [one for one in entries if isinstance(one.name, JobName)]
    described: Sequence[DescribedDataset | DescribedJob] = (
        *describe_datasets(catalog, graph, datasets, columns=False),
        *describe_jobs(catalog, graph, jobs, runs=0),
    )
    found = {one["node"]: one for one in map(facts_document, described)}
    for name, status in (certified or {}).items():
        if str(name) in found:
            found[str(name)]["certification_status"] = status
    return [found[str(one)] for one in names if str(one) in found]


def _assertions(one: DescribedDataset | DescribedJob) -> documents.Asserted:
    tags: list[documents.Tag] = [
        {"key": tag.key, "value": tag.value, "field": tag.field, "source": tag.source} for tag in one.tags
    ]
    vouched = {tag.key for tag in one.tags if tag.value == "true" and not tag.field}
    return {
        "first_seen": iso(one.entry.first_seen),
        "last_seen": iso(one.entry.last_seen),
        "deleted": one.deleted,
        "description": _text(one.facets, "documentation", "description"),
        "owners": _owners(one.facets),
        "tags": tags,
        "certification": [level for level in CERTIFICATIONS if level in vouched],
        "tier": _number(one.facets, "whence_tier", "tier"),
    }


def _types(facets: Mapping[str, Any], facet: str) -> list[str]:
    type_ = _text(facets, facet, facet)
    return [type_.upper()] if type_ else []


def _owners(facets: Mapping[str, Any]) -> list[documents.Owner]:
    owners = facets.get("ownership", {}).get("owners")
    some = [one for one in owners if isinstance(one, dict)] if isinstance(owners, list) else []
    named = [(one["name"], one.get("type")) for one in some if isinstance(one.get("name"), str)]
    return [{"name": name, "role": role if isinstance(role, str) else ""} for name, role in named]


def _end(one: DescribedRun, role: str, name: DatasetName) -> documents.DatasetOfRun:
    return {"dataset": str(name), "facets": dict(one.apart.get((role, name), {}))}


def _last_write(write: Write) -> documents.LastWrite:
    return {"run": str(write.run.name), "job": str(write.run.name.job), "time": iso(write.time)}


def _text(facets: Mapping[str, Any], facet: str, key: str) -> str | None:
    """A text of a producer's facet; None if it has another type, which OpenLineage forbids."""
    value = _member(facets, facet, key)
    return value if isinstance(value, str) else None


def _number(facets: Mapping[str, Any], facet: str, key: str) -> int | None:
    value = _member(facets, facet, key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _member(facets: Mapping[str, Any], facet: str, key: str) -> Any:
    return facets.get(facet, {}).get(key)


def _iso(time: int | None) -> str | None:
    return None if time is None else iso(time)
