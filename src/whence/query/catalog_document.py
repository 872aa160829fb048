"""What is known of things as JSON: the shape of `/api/v2`. Nodes are node ids, times ISO 8601 UTC."""

from collections.abc import Mapping
from typing import Any

from whence.model.catalog import EventEntry
from whence.model.names import DatasetName, RunName
from whence.openlineage.error_messages import error_message
from whence.openlineage.facets import CERTIFICATIONS, SQL_COMPARISON, SQL_LINEAGE
from whence.query.described import DescribedDataset, DescribedJob, DescribedRun
from whence.query.instants import iso

Json = dict[str, Any]


def dataset_document(one: DescribedDataset) -> Json:
    """A dataset."""
    write = one.write
    return {
        "node": str(one.name),
        "namespace": one.name.namespace,
        "name": one.name.name,
        **_said_of(one),
        "contract_version": _member(one.facets, "whence_contract", "version"),
        "aliases": [str(name) for name in one.aliases],
        "fields": [{"name": field.name, "type": field.type, "description": field.description} for field in one.fields],
        "last_write": write and {"run": str(write.run.name), "job": str(write.run.name.job), "time": iso(write.time)},
        "facets": dict(one.facets),
    }


def job_document(one: DescribedJob) -> Json:
    """A job with its latest runs."""
    return {
        "node": str(one.name),
        "namespace": one.name.namespace,
        "name": one.name.name,
        **_said_of(one),
        "inputs": [str(name) for name in one.inputs],
        "outputs": [str(name) for name in one.outputs],
        "latest_runs": [run_document(run) for run in one.runs],
        "sql": _sql(one.facets),
        "facets": dict(one.facets),
    }


def _sql(facets: Mapping[str, Any]) -> Json | None:
    """How a job's SQL was read, and on how many column edges it and the producer agree or not (null: not compared)."""
    if SQL_LINEAGE not in facets:
        return None
    read = {key: _member(facets, SQL_LINEAGE, key) for key in ("reader", "dialect", "status", "problems", "unmatched")}
    words = {"agreed": "agreed", "missing_in_report": "missingInReport", "missing_in_parse": "missingInParse"}
    return read | {word: _member(facets, SQL_COMPARISON, key) for word, key in words.items()}


def run_document(one: DescribedRun) -> Json:
    """A run."""
    entry = one.entry
    return {
        "run": str(entry.name),
        "job": str(entry.name.job),
        "state": entry.state.name,
        "started_at": _iso(entry.started_at),
        "ended_at": _iso(entry.ended_at),
        "first_seen": _iso(entry.seen_from),
        "last_seen": _iso(entry.seen_to),
        "parent": None if one.parent is None else {"run": str(one.parent), "job": str(one.parent.job)},
        "inputs": [_end(one, "input", name) for name in one.inputs],
        "outputs": [_end(one, "output", name) for name in one.outputs],
        "error": error_message(one.facets),
        "facets": dict(one.facets),
    }


def event_document(one: EventEntry) -> Json:
    """An event, without what it says."""
    return {
        "event": one.key,
        "time": iso(one.time),
        "kind": one.kind.name.lower(),
        "state": one.state.name if one.kind == 0 else None,
        "producer": one.producer,
        "subject": None if one.subject is None else str(one.subject),
        "job": str(one.subject.job) if isinstance(one.subject, RunName) else None,
    }


def facts_document(one: DescribedDataset | DescribedJob) -> Json:
    """What people say of a thing, alone."""
    if isinstance(one, DescribedJob):
        return {"node": str(one.name), **_said_of(one)}
    contract = _member(one.facets, "whence_contract", "version")
    aliases = [str(name) for name in one.aliases]
    return {"node": str(one.name), **_said_of(one), "contract_version": contract, "aliases": aliases}


def _said_of(one: DescribedDataset | DescribedJob) -> Json:
    tags = [{"key": tag.key, "value": tag.value, "field": tag.field, "source": tag.source} for tag in one.tags]
    vouched = {tag.key for tag in one.tags if tag.value == "true" and not tag.field}
    return {
        "first_seen": iso(one.entry.first_seen),
        "last_seen": iso(one.entry.last_seen),
        "deleted": one.deleted,
        "description": _member(one.facets, "documentation", "description"),
        "owners": _owners(one.facets),
        "tags": tags,
        "certification": [level for level in CERTIFICATIONS if level in vouched],
        "tier": _member(one.facets, "whence_tier", "tier"),
    }


def _owners(facets: Mapping[str, Any]) -> list[Json]:
    owners = facets.get("ownership", {}).get("owners")
    some = [one for one in owners if isinstance(one, dict)] if isinstance(owners, list) else []
    return [{"name": one.get("name"), "role": one.get("type") or ""} for one in some]


def _end(one: DescribedRun, role: str, name: DatasetName) -> Json:
    return {"dataset": str(name), "facets": dict(one.apart.get((role, name), {}))}


def _member(facets: Mapping[str, Any], facet: str, key: str) -> Any:
    return facets.get(facet, {}).get(key)


def _iso(time: int | None) -> str | None:
    return None if time is None else iso(time)
