"""What one event says of lineage, as sets of edges (docs/state.md, "Lineage sets"; reference rules 39-45)."""

from collections.abc import Iterator, Mapping

from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.lineage import Edge, Level, LineageSet, Origin, Parsed
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.lifecycle import lifecycle_sets, written_outputs
from whence.openlineage.lineage_sets import lineage_set, set_levels
from whence.openlineage.unreported import Output, Outputs, outputs_of, unreported_sets


def lineage_sets(event: Event, parsed: Outputs | None = None, *, only_defines: bool = False) -> tuple[LineageSet, ...]:
    """The event's lineage sets: at most one per output, level and origin, each with its edges sorted and distinct.

    `only_defines`: the event's SQL is DDL, so without inputs and column lineage it writes nothing.
    """
    match event:
        case DatasetEvent(dataset=dataset):
            return (*_explicit(dataset.edges), *lifecycle_sets([dataset]))
        case RunEvent(outputs=outputs):
            return (*_written_sets(event, parsed or {}, only_defines), *lifecycle_sets(outputs))
        case JobEvent():
            return tuple(_written_sets(event, parsed or {}, only_defines))


def _written_sets(event: RunEvent | JobEvent, parsed: Outputs, only_defines: bool) -> Iterator[LineageSet]:
    written = written_outputs(event.inputs, event.outputs)
    if only_defines and not event.inputs:
        written = tuple(one for one in written if one.edges)
    yield from _boundary(event, written)
    yield from _stated(event, outputs_of(event, written), parsed)


def _stated(event: RunEvent | JobEvent, outputs: Mapping[DatasetName, Output], parsed: Outputs) -> Iterator[LineageSet]:
    """What the event reports of its outputs, what its SQL adds, and the columns of which neither says anything."""
    inputs = {one.name for one in event.inputs}
    found: list[LineageSet] = []
    if event.job.edges is not None:
        found += _explicit(event.job.edges)
    else:
        for name, output in outputs.items():
            found += _of_output(name, output, inputs, parsed.get(name))
    yield from found
    if inputs:
        yield from unreported_sets(event.job.name, found, outputs, parsed)


def _of_output(
    name: DatasetName, output: Output, inputs: set[DatasetName], parsed: Parsed | None
) -> Iterator[LineageSet]:
    if not output.edges:
        yield from _unreported(name, inputs, parsed)
        return
    yield from set_levels(name, Origin.COLUMN, output.edges)
    if parsed:
        yield from set_levels(name, Origin.PARSED, parsed.completing)


def _unreported(output: DatasetName, inputs: set[DatasetName], parsed: Parsed | None) -> Iterator[LineageSet]:
    """An output of whose columns the producer says nothing: what its SQL says, and inputs × output for the rest."""
    if parsed:
        yield from set_levels(output, Origin.PARSED, parsed.edges)
    if unexplained := inputs - (parsed.explained if parsed else frozenset()):
        inferred = [Edge(source=source, target=output) for source in unexplained]
        yield lineage_set(output, Level.DATASET, Origin.INFERRED, inferred)


def _boundary(event: RunEvent | JobEvent, outputs: tuple[Dataset, ...]) -> Iterator[LineageSet]:
    job = event.job.name
    if event.inputs:
        yield lineage_set(
            None, Level.DATASET, Origin.BOUNDARY, [Edge(source=one.name, target=job) for one in event.inputs]
        )
    for output in {one.name: None for one in outputs}:
        yield lineage_set(output, Level.DATASET, Origin.BOUNDARY, [Edge(source=job, target=output)])


def _explicit(edges: tuple[Edge, ...]) -> Iterator[LineageSet]:
    by_output: dict[DatasetName | None, list[Edge]] = {}
    for edge in edges:
        by_output.setdefault(_output(edge.target), []).append(edge)
    for output, some in by_output.items():
        if output is None:
            yield lineage_set(None, Level.DATASET, Origin.EXPLICIT, some)
        else:
            yield from set_levels(output, Origin.EXPLICIT, some)


def _output(target: Node) -> DatasetName | None:
    match target:
        case JobName():
            return None
        case FieldName(dataset, _):
            return dataset
    return target
