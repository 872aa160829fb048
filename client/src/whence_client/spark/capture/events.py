"""The events of an application and of its queries: pure, from records and times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence_client.events.datasets import Dataset as EventDataset
from whence_client.events.datasets import Field
from whence_client.events.facets import facet
from whence_client.events.runs import COMPLETE, FAIL, RUNNING, START, RunRef, error_facet, job_type_facet, run_event
from whence_client.lineage.columns import Dataset
from whence_client.lineage.facets import lineage_facets
from whence_client.spark.plan.lineage import Lineage, read_lineage, read_row_changes
from whence_client.spark.plan.trees import expression_id, nodes_of, trees_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from whence_client.events.facets import Event, Facet
    from whence_client.spark.capture.records import Query, Target
    from whence_client.spark.plan.relations import Context

REWRITTEN = frozenset(("ReplaceData", "WriteDelta"))
"""Commands whose plan has all rows of the target, with columns of its own."""


@dataclass(frozen=True)
class Application:
    """The Spark application that queries run in: its run, its parent, and what all its events carry."""

    run: RunRef
    parent: RunRef | None = None
    run_facets: Mapping[str, Facet] = field(default_factory=dict)
    job_facets: Mapping[str, Facet] = field(default_factory=dict)

    def job_name(self, target: Target) -> str:
        """The name of the job that writes a target: `app.silver.orders`, or `app.drop.shop.orders`."""
        change = f"{target.change.lower()}." if target.change in _TABLE_CHANGES else ""
        return f"{self.run.job}.{change}{short_name(target)}"


@dataclass(frozen=True)
class Failure:
    """The error of a query, and its stack."""

    message: str
    stack: str = ""


@dataclass(frozen=True)
class Execution:
    """When a query ran, as which run, and how it ended."""

    run: RunRef
    began: datetime
    ended: datetime
    failure: Failure | None = None


_TABLE_CHANGES = frozenset(("CREATE", "DROP", "RENAME", "TRUNCATE", "ALTER"))


def short_name(target: Target) -> str:
    """The last two parts of what is written: of its name in the catalog, else of its path."""
    if target.table:
        return target.table
    named = target.symlink or target.dataset
    parts = [part for part in named.name.split("/") if part]
    return parts[-1] if target.symlink else ".".join(parts[-2:])


def application_events(application: Application, state: str, at: datetime, failure: Failure | None = None) -> Event:
    """The event of the application's own run."""
    facets = {**application.run_facets, **({"errorMessage": _error(failure)} if failure else {})}
    return run_event(
        state,
        application.run,
        at,
        parent=application.parent,
        run_facets=facets,
        job_facets={**application.job_facets, "jobType": job_type_facet("APPLICATION", "SPARK")},
    )


def query_events(query: Query, execution: Execution, application: Application, context: Context) -> Iterator[Event]:
    """The START of a query that writes, and its end with what it read and wrote."""
    target = query.target
    if target is None:
        return
    sql = {"sql": facet("SQLJobFacet", query=query.sql, dialect="spark")} if query.sql else {}
    job_facets = {**application.job_facets, **sql, "jobType": job_type_facet(_job_type(target), "SPARK")}
    yield run_event(START, execution.run, execution.began, parent=application.run, job_facets=job_facets)
    failure, lineage = execution.failure, _lineage(query, target, context) if query.plan else None
    yield run_event(
        FAIL if failure else COMPLETE,
        execution.run,
        execution.ended,
        parent=application.run,
        run_facets={**application.run_facets, **({"errorMessage": _error(failure)} if failure else {})},
        job_facets=job_facets,
        inputs=_inputs(query, lineage, context),
        outputs=[output_dataset(query, target, lineage)],
    )


def stream_events(
    query: Query, execution: Execution, application: Application, state: str, context: Context
) -> Iterator[Event]:
    """The event of a stream, whose lineage is known from its beginning; with its START if it is RUNNING now."""
    target = query.target
    if target is None:
        return
    job_facets = {**application.job_facets, "jobType": job_type_facet("QUERY", "SPARK", "STREAMING")}
    if state == RUNNING:
        yield run_event(START, execution.run, execution.began, parent=application.run, job_facets=job_facets)
    failure, lineage = execution.failure, _lineage(query, target, context) if query.plan else None
    yield run_event(
        state,
        execution.run,
        execution.ended,
        parent=application.run,
        run_facets={**application.run_facets, **({"errorMessage": _error(failure)} if failure else {})},
        job_facets=job_facets,
        inputs=_inputs(query, lineage, context),
        outputs=[output_dataset(query, target, lineage)],
    )


def _job_type(target: Target) -> str:
    return "COMMAND" if target.change in _TABLE_CHANGES else "QUERY"


def _error(failure: Failure) -> Facet:
    return error_facet(failure.message, failure.stack, "JAVA")


def input_datasets(query: Query) -> Iterator[EventDataset]:
    """The datasets that the plan reads, each once, with the columns that the plan sees of them."""
    symlinks = dict(query.symlinks)
    seen: set[Dataset] = set()
    for node in nodes_of(query.plan):
        number = _first_id(node)
        leaf = query.leaves.get(number) if number is not None and not node["num-children"] else None
        for dataset in leaf if isinstance(leaf, tuple) else ():
            if dataset not in seen:
                seen.add(dataset)
                yield _dataset(dataset, _fields(node.get("output")), symlinks.get(dataset))


def output_dataset(query: Query, target: Target, lineage: Lineage | None) -> EventDataset:
    """The dataset that a query writes, with its column lineage."""
    facets: dict[str, Facet] = {}
    if target.kind:
        facets["datasetType"] = facet("DatasetTypeDatasetFacet", datasetType=target.kind)
    if target.change:
        facets["lifecycleStateChange"] = _lifecycle(target)
    fields: tuple[Field, ...] = ()
    if lineage is not None:
        facets.update(lineage_facets(lineage.columns, lineage.influences.edges))
        fields = _output_fields(query, target, lineage)
    made = _dataset(target.dataset, fields, target.symlink)
    return EventDataset(
        made.namespace, made.name, fields, {**made.facets, **facets}, run_facets=_statistics(query.rows, query.size)
    )


def _inputs(query: Query, lineage: Lineage | None, context: Context) -> list[EventDataset]:
    """What the plan reads, and the saved models that computed columns of the output."""
    read = list(input_datasets(query))
    numbers = {number for node in _attributes(query.plan) if (number := expression_id(node)) is not None}
    computed = [found for number in sorted(numbers) if (found := context.find_computed(number))]
    models = {edge.source.dataset for one in computed for edge in one.model.direct}
    used = {edge.source.dataset for column in lineage.columns.values() for edge in column.direct} if lineage else set()
    others = models & used - {Dataset(one.namespace, one.name) for one in read}
    return [*read, *(EventDataset(*one) for one in sorted(others))]


def _lineage(query: Query, target: Target, context: Context) -> Lineage:
    if query.command in REWRITTEN:
        return read_row_changes(query.plan, target.columns, target.dataset, context)
    return read_lineage(query.plan, target.columns, context)


def _lifecycle(target: Target) -> Facet:
    members: dict[str, Any] = {"lifecycleStateChange": target.change}
    if target.previous:
        members["previousIdentifier"] = {"name": target.previous.name, "namespace": target.previous.namespace}
    return facet("LifecycleStateChangeDatasetFacet", **members)


def _statistics(rows: int, size: int) -> dict[str, Facet]:
    counts = (("rowCount", rows), ("size", size))
    members: dict[str, Any] = {key: value for key, value in counts if value >= 0}
    return {"outputStatistics": facet("OutputStatisticsOutputDatasetFacet", **members)} if members else {}


def _dataset(dataset: Dataset, fields: tuple[Field, ...], symlink: Dataset | None) -> EventDataset:
    facets: dict[str, Facet] = {}
    if symlink:
        identifier = {"namespace": symlink.namespace, "name": symlink.name, "type": "TABLE"}
        facets["symlinks"] = facet("SymlinksDatasetFacet", identifiers=[identifier])
    return EventDataset(dataset.namespace, dataset.name, fields, facets)


def _output_fields(query: Query, target: Target, lineage: Lineage) -> tuple[Field, ...]:
    types = {**_types(query.plan), **_written_types(query, target)}
    return tuple(Field(name, *_type_of(types.get(name))) for name in lineage.columns) if types else ()


def _written_types(query: Query, target: Target) -> dict[str, Any]:
    """The types of the query's columns, by the names of those that they are written into."""
    names = target.columns if query.command not in REWRITTEN else ()
    pairs = enumerate(query.schema)
    return {names[index] if index < len(names) else name: type_ for index, (name, type_) in pairs}


def _types(plan: Any) -> dict[str, Any]:
    return {str(node["name"]): node.get("dataType") for node in _attributes(plan)}


def _attributes(plan: Any) -> Iterator[Any]:
    for node in plan:
        for value in node.values():
            for tree in trees_in(value):
                yield from (one for one in tree if "name" in one and "dataType" in one)


def _fields(output: Any) -> tuple[Field, ...]:
    nodes = [tree[0] for tree in trees_in(output)]
    return tuple(Field(str(node["name"]), *_type_of(node.get("dataType"))) for node in nodes if _is_data(node))


def _is_data(node: Any) -> bool:
    return "name" in node and node["name"] != "_metadata"


def _type_of(type_: Any) -> tuple[str, str, tuple[Field, ...]]:
    """The type's name, no description, and the fields of a struct."""
    if not isinstance(type_, dict):
        return str(type_ or ""), "", ()
    kind = str(type_.get("type", ""))
    if kind == "struct":
        return kind, "", tuple(Field(str(one["name"]), *_type_of(one.get("type"))) for one in type_.get("fields", ()))
    if kind == "array":
        element, _, fields = _type_of(type_.get("elementType"))
        return f"array<{element}>", "", fields
    if kind == "map":
        return f"map<{_type_of(type_.get('keyType'))[0]},{_type_of(type_.get('valueType'))[0]}>", "", ()
    return kind, "", ()


def _first_id(node: Any) -> int | None:
    first = next(trees_in(node.get("output")), None)
    found = first[0].get("exprId") if first else None
    return int(found["id"]) if isinstance(found, dict) else None
