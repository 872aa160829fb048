"""Columns in an event's schema for which neither its producer nor its SQL reports sources."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from whence.model.events import Dataset, JobEvent, RunEvent
from whence.model.lineage import Edge, Level, LineageSet, Origin, Parsed
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.lineage_sets.sets import make_lineage_set

Outputs = Mapping[DatasetName, Parsed]
"""The parsed lineage of each of an event's outputs, as far as its SQL could be read."""


@dataclass(slots=True)
class Output:
    """An output, combined from all its mentions: edges into it, columns that lineage mentions as outputs, the columns
    in its schema, and those that the producer reports as incomplete.
    """

    edges: list[Edge] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    incomplete: set[str] = field(default_factory=set)


def collect_outputs(event: RunEvent | JobEvent, outputs: Iterable[Dataset]) -> dict[DatasetName, Output]:
    """Combine the given outputs of an event, by name."""
    by_name: dict[DatasetName, Output] = {}
    for dataset in outputs:
        output = by_name.setdefault(dataset.name, Output())
        output.edges += dataset.edges
        output.named.update(dataset.reported_columns)
        output.listed.update(column.name for column in dataset.fields)
        output.incomplete.update(dataset.incomplete_columns)
    if event.job.edges is not None:
        for column in event.job.reported_fields:
            if column.dataset in by_name:
                by_name[column.dataset].named.add(column.field)
    return by_name


def find_unreported_sets(
    job: JobName, sets: Iterable[LineageSet], outputs: Mapping[DatasetName, Output], parsed: Outputs
) -> Iterator[LineageSet]:
    """For each output with some known columns, the set of its unknown ones (state.md, "Unreported columns")."""
    reached: dict[DatasetName, list[Edge]] = {}
    for lineage_set in sets:
        if lineage_set.output is not None and lineage_set.level == Level.FIELD:
            reached.setdefault(lineage_set.output, []).extend(lineage_set.edges)
    for name, edges in reached.items():
        output = outputs.get(name)
        if output is None or any(edge.target == name and edge.type != "INDIRECT" for edge in edges):
            continue
        columns = _unreached_columns(
            output, {edge.target.field for edge in edges if isinstance(edge.target, FieldName)}
        )
        if name in parsed and parsed[name].is_whole:
            columns &= {edge.target.field for edge in parsed[name].edges if isinstance(edge.target, FieldName)}
        if columns:
            yield make_lineage_set(
                name,
                Level.FIELD,
                Origin.UNREPORTED,
                [Edge(source=job, target=FieldName(name, lineage_set)) for lineage_set in columns],
            )


def _unreached_columns(output: Output, reached: set[str]) -> set[str]:
    """The listed columns that no edge reaches, directly, through a nested column, or through a parent column, and that
    are not among the incomplete ones.
    """
    known = reached | output.named | output.incomplete
    parents = {parent for column in known for parent in _parent_columns(column)}
    return {
        column
        for column in output.listed
        if column not in known and column not in parents and known.isdisjoint(_parent_columns(column))
    }


def _parent_columns(column: str) -> list[str]:
    parts = column.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]
