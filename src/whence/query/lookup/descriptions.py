"""Datasets, jobs and runs with all their details, read for many at once. Times are microseconds UTC."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from whence.model.catalog import Entry, FacetRecord, RunDatasets, RunEntry, RunFacet, SchemaRecord, Write
from whence.model.events import SchemaField
from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.facets.schema_fields import parse_schema_fields
from whence.query.answers.transformations import Transformation
from whence.query.lookup.contracts import without_versions
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.traversal.component import touched_by

Json = Mapping[str, Any]
Ends = Mapping[int, tuple[DatasetName, ...]]
"""Datasets by the id of the job that reads or writes them, sorted."""

MOST_EDGES = 200_000
"""The most column edges to read for one page of datasets."""

_BY_NAME = attrgetter("namespace", "name")
"""The order of dataset names. Their own comparison is written in Python, and takes three times as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag of a dataset or job, or of one of a dataset's fields."""

    key: str
    value: str
    field: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A source field of another field, and the transformation."""

    field: FieldName
    transformation: Transformation


class DescribedDataset(NamedTuple):
    """A dataset. `facets` are decoded; `records` has the report time of each. `inputs`: by field, of its
    current lineage.
    """

    entry: Entry
    name: DatasetName
    facets: Mapping[str, Json]
    records: Mapping[str, FacetRecord]
    fields: tuple[SchemaField, ...]
    tags: tuple[Tag, ...]
    deleted: bool
    write: Write | None
    write_time: int | None
    schema: SchemaRecord | None
    inputs: Mapping[str, tuple[Input, ...]]
    aliases: tuple[DatasetName, ...] = ()
    """Its other names."""


class DescribedRun(NamedTuple):
    """A run. `facets` are its own; those of its inputs and outputs are in `apart`, by role and dataset."""

    entry: RunEntry
    version: int
    inputs: tuple[DatasetName, ...]
    outputs: tuple[DatasetName, ...]
    facets: Mapping[str, Json]
    apart: Mapping[tuple[str, DatasetName], Mapping[str, Json]]
    parent: RunName | None


class DescribedJob(NamedTuple):
    """A job. `inputs` and `outputs` are those of its current lineage; `runs` its latest ones, newest first."""

    entry: Entry
    name: JobName
    facets: Mapping[str, Json]
    records: Mapping[str, FacetRecord]
    tags: tuple[Tag, ...]
    deleted: bool
    inputs: tuple[DatasetName, ...]
    outputs: tuple[DatasetName, ...]
    runs: tuple[DescribedRun, ...]


def describe_datasets(
    catalog: Catalog, graph: Graph, entries: Sequence[Entry], *, columns: bool = True, versions: bool = True
) -> tuple[DescribedDataset, ...]:
    """The datasets of these entries, in their order.

    Without `columns`, their `inputs` are not read; without `versions`, neither their `schema`, nor their `aliases`, nor
    whether they are `deleted`, and of their last `write` only the time.
    """
    ids = [one.id for one in entries]
    records = {id_: without_versions(some) for id_, some in catalog.facets(ids).items()}
    deleted = catalog.deleted(ids) if versions else frozenset[int]()
    writes, schemas = (catalog.last_writes(ids), catalog.schemas(ids)) if versions else ({}, {})
    times = {} if versions else catalog.last_write_times(ids)
    inputs, groups = _inputs(graph, ids) if columns else {}, graph.groups(ids) if versions else {}
    facets = {id_: decoded(some) for id_, some in records.items()}
    return tuple(
        DescribedDataset(
            entry=one,
            name=_dataset(one),
            facets=facets.get(one.id, {}),
            records=records.get(one.id, {}),
            fields=fields_of(records.get(one.id, {})),
            tags=tags_of(facets.get(one.id, {})),
            deleted=one.id in deleted,
            write=writes.get(one.id),
            write_time=writes[one.id].time if one.id in writes else times.get(one.id),
            schema=next(iter(schemas.get(one.id, ())), None),
            inputs=inputs.get(one.id, {}),
            aliases=tuple(name for name in groups.get(one.id, ()) if name != one.name),
        )
        for one in entries
    )


def describe_jobs(
    catalog: Catalog, graph: Graph, entries: Sequence[Entry], *, runs: int = 10, ends: tuple[Ends, Ends] | None = None
) -> tuple[DescribedJob, ...]:
    """The jobs of these entries, in their order, with their latest runs.

    `ends` are the inputs and the outputs of each job's current lineage; they are read if not given.
    """
    ids = [one.id for one in entries]
    records, deleted = catalog.facets(ids), catalog.deleted(ids)
    latest = catalog.latest_runs(ids, runs) if runs else {}
    described = {
        one.entry.id: one for one in describe_runs(catalog, graph, [r for some in latest.values() for r in some])
    }
    inputs, outputs = ends or (_ends(graph, ids, Direction.UPSTREAM), _ends(graph, ids, Direction.DOWNSTREAM))
    facets = {id_: decoded(some) for id_, some in records.items()}
    return tuple(
        DescribedJob(
            entry=one,
            name=_job(one),
            facets=facets.get(one.id, {}),
            records=records.get(one.id, {}),
            tags=tags_of(facets.get(one.id, {})),
            deleted=one.id in deleted,
            inputs=inputs.get(one.id, ()),
            outputs=outputs.get(one.id, ()),
            runs=tuple(described[run.id] for run in latest.get(one.id, ())),
        )
        for one in entries
    )


def describe_runs(catalog: Catalog, graph: Graph, entries: Sequence[RunEntry]) -> tuple[DescribedRun, ...]:
    """The runs of these entries, in their order."""
    ids = [one.id for one in entries]
    touched, facets, parents = catalog.touched(ids), catalog.run_facets(ids), catalog.containers(ids)
    spoken = {one.dataset_id for some in facets.values() for one in some if one.role}
    datasets = {one for some in touched.values() for one in (*some.inputs, *some.outputs)}
    names = {id_: name for id_, name in graph.nodes(spoken | datasets).items() if isinstance(name, DatasetName)}
    untouched = RunDatasets(0, (), ())
    return tuple(
        _described_run(one, touched.get(one.id, untouched), facets.get(one.id, ()), names, parents.get(one.id))
        for one in entries
    )


def decoded(facets: Mapping[str, FacetRecord]) -> Mapping[str, Json]:
    """The decoded payloads of facets."""
    return {name: json.loads(record.payload) for name, record in facets.items()}


def fields_of(facets: Mapping[str, FacetRecord]) -> tuple[SchemaField, ...]:
    """The fields of the schema facet; nested fields are dotted."""
    return parse_schema_fields(facets["schema"].payload) if "schema" in facets else ()


def tags_of(facets: Mapping[str, Json]) -> tuple[Tag, ...]:
    """The entries of the tags facet."""
    entries = facets.get("tags", {}).get("tags")
    some = entries if isinstance(entries, list) else []
    return tuple(
        Tag(key=one["key"], value=_text(one, "value"), field=_text(one, "field"), source=_text(one, "source"))
        for one in some
        if isinstance(one, dict) and isinstance(one.get("key"), str) and one["key"]
    )


def _text(one: Json, key: str) -> str:
    value = one.get(key)
    return value if isinstance(value, str) else ""


def _described_run(
    entry: RunEntry,
    touched: RunDatasets,
    facets: Iterable[RunFacet],
    names: Mapping[int, DatasetName],
    parent: RunName | None,
) -> DescribedRun:
    own: dict[str, Json] = {}
    apart: dict[tuple[str, DatasetName], dict[str, Json]] = {}
    for one in facets:
        if not one.role:
            own[one.key] = json.loads(one.payload)
        elif one.dataset_id in names:
            apart.setdefault((one.role, names[one.dataset_id]), {})[one.key] = json.loads(one.payload)
    return DescribedRun(
        entry=entry,
        version=touched.version,
        inputs=_named(names, touched.inputs),
        outputs=_named(names, touched.outputs),
        facets=own,
        apart=apart,
        parent=parent,
    )


def _named(names: Mapping[int, DatasetName], ids: Iterable[int]) -> tuple[DatasetName, ...]:
    return tuple(sorted([names[one] for one in ids if one in names], key=_BY_NAME))


def _ends(graph: Graph, jobs: Sequence[int], way: Direction) -> Ends:
    """The datasets at the other ends of the jobs' own edges."""
    ends = touched_by(graph, jobs, way, MOST_EDGES)
    names = graph.nodes({dataset for _, dataset in ends})
    found: dict[int, set[DatasetName]] = {}
    for job, dataset in ends:
        name = names.get(dataset)
        if isinstance(name, DatasetName):
            found.setdefault(job, set()).add(name)
    return {job: tuple(sorted(some, key=_BY_NAME)) for job, some in found.items()}


def _inputs(graph: Graph, datasets: Sequence[int]) -> Mapping[int, Mapping[str, tuple[Input, ...]]]:
    fields = {row.id: row for row in graph.fields(datasets)}
    rows = graph.edges(list(fields), Hop(Direction.UPSTREAM, Grain.FIELD), MOST_EDGES)
    names = graph.nodes({row.far_id for row in rows if kind_of(row.far_id) is Kind.FIELD})
    found: dict[int, dict[str, set[tuple[FieldName, Transformation]]]] = {}
    for row in rows:
        source, field = names.get(row.far_id), fields[row.near_id]
        if isinstance(source, FieldName):
            how = Transformation(type=row.type, subtype=row.subtype, masking=row.masking, description=row.description)
            found.setdefault(field.dataset_id, {}).setdefault(field.name, set()).add((source, how))
    return {
        dataset: {
            name: tuple(Input(field=one, transformation=how) for one, how in sorted(some))
            for name, some in sorted(by.items())
        }
        for dataset, by in found.items()
    }


def _dataset(entry: Entry) -> DatasetName:
    assert isinstance(entry.name, DatasetName)
    return entry.name


def _job(entry: Entry) -> JobName:
    assert isinstance(entry.name, JobName)
    return entry.name


def entry_of(catalog: Catalog, name: DatasetName | JobName) -> Entry | None:
    """The entry of a name, or None."""
    return catalog.entries([node_id(name)]).get(node_id(name))
