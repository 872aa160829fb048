"""Columns that an event's schema lists and of which neither its producer nor its SQL says where they come from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from whence.model.events import Dataset, JobEvent, RunEvent
from whence.model.lineage import Edge, Level, LineageSet, Origin, Parsed
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.lineage_sets import lineage_set

Outputs = Mapping[DatasetName, Parsed]
"""What the SQL of an event says of each of its outputs, as far as it was read."""


@dataclass(slots=True)
class Output:
    """An output, all its mentions together: edges into it, the columns that are named as outputs of lineage, and those
    that its schema lists.
    """

    edges: list[Edge] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)


def outputs_of(event: RunEvent | JobEvent, outputs: Iterable[Dataset]) -> dict[DatasetName, Output]:
    """Some of the outputs of an event, by name."""
    found: dict[DatasetName, Output] = {}
    for one in outputs:
        output = found.setdefault(one.name, Output())
        output.edges += one.edges
        output.named.update(one.named)
        output.listed.update(column.name for column in one.fields)
    if event.job.edges is not None:
        for column in event.job.named:
            if column.dataset in found:
                found[column.dataset].named.add(column.field)
    return found


def unreported_sets(
    job: JobName, sets: Iterable[LineageSet], outputs: Mapping[DatasetName, Output], parsed: Outputs
) -> Iterator[LineageSet]:
    """For each output of which some columns are known, those that are not (docs/state.md, "Unreported columns")."""
    reached: dict[DatasetName, list[Edge]] = {}
    for one in sets:
        if one.output is not None and one.level == Level.FIELD:
            reached.setdefault(one.output, []).extend(one.edges)
    for name, edges in reached.items():
        output = outputs.get(name)
        if output is None or any(edge.target == name and edge.type != "INDIRECT" for edge in edges):
            continue
        columns = _unreached(output, {edge.target.field for edge in edges if isinstance(edge.target, FieldName)})
        if name in parsed and parsed[name].is_whole:
            columns &= {edge.target.field for edge in parsed[name].edges if isinstance(edge.target, FieldName)}
        if columns:
            yield lineage_set(
                name, Level.FIELD, Origin.UNREPORTED, [Edge(source=job, target=FieldName(name, one)) for one in columns]
            )


def _unreached(output: Output, reached: set[str]) -> set[str]:
    """The listed columns that no edge reaches, nor one that is nested in them, nor one that they are nested in."""
    known = reached | output.named
    above = {parent for column in known for parent in _parents(column)}
    return {
        column
        for column in output.listed
        if column not in known and column not in above and known.isdisjoint(_parents(column))
    }


def _parents(column: str) -> list[str]:
    parts = column.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]
