"""The lineage sets of one event (state.md, "Lineage sets"; reference rules 39-45)."""

from collections.abc import Iterator, Mapping

from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.lineage import Edge, Level, LineageSet, Origin, Parsed
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.lineage_sets.incomplete_lineage import find_incomplete_sets, incomplete_columns_set
from whence.openlineage.lineage_sets.lifecycle import lifecycle_sets, written_outputs
from whence.openlineage.lineage_sets.sets import make_lineage_set, split_levels
from whence.openlineage.lineage_sets.unreported_columns import Output, Outputs, collect_outputs, find_unreported_sets


def derive_lineage_sets(
    event: Event, parsed: Outputs | None = None, *, only_defines: bool = False
) -> tuple[LineageSet, ...]:
    """The event's lineage sets: at most one per output, level and origin, each with its edges sorted and distinct.

    `only_defines`: the event's SQL is DDL, so without inputs and column lineage it writes nothing.
    """
    match event:
        case DatasetEvent(dataset=dataset):
            return (
                *_explicit_sets(dataset.edges),
                *incomplete_columns_set(dataset.name, dataset.name, dataset.incomplete_columns),
                *lifecycle_sets([dataset]),
            )
        case RunEvent(outputs=outputs):
            return (*_written_sets(event, parsed or {}, only_defines), *lifecycle_sets(outputs))
        case JobEvent():
            return tuple(_written_sets(event, parsed or {}, only_defines))


def _written_sets(event: RunEvent | JobEvent, parsed: Outputs, only_defines: bool) -> Iterator[LineageSet]:
    written = written_outputs(event.inputs, event.outputs)
    if only_defines and not event.inputs:
        written = tuple(output for output in written if output.edges)
    yield from _boundary_sets(event, written)
    yield from _output_sets(event, collect_outputs(event, written), parsed)


def _output_sets(
    event: RunEvent | JobEvent, outputs: Mapping[DatasetName, Output], parsed: Outputs
) -> Iterator[LineageSet]:
    """The reported lineage of an event's outputs, the lineage its SQL adds, and what neither explains."""
    inputs = {dataset.name for dataset in event.inputs}
    reported_sets: list[LineageSet] = []
    if event.job.edges is not None:
        reported_sets += _explicit_sets(event.job.edges)
    else:
        for name, output in outputs.items():
            reported_sets += _sets_of_output(name, output, inputs, parsed.get(name))
    yield from reported_sets
    if inputs:
        yield from find_unreported_sets(event.job.name, reported_sets, outputs, parsed)
    is_partial = isinstance(event, RunEvent) and event.run.partial
    yield from find_incomplete_sets(event.job.name, outputs, is_partial=is_partial)


def _sets_of_output(
    name: DatasetName, output: Output, inputs: set[DatasetName], parsed: Parsed | None
) -> Iterator[LineageSet]:
    if not output.edges:
        yield from _sets_without_report(name, inputs, parsed)
        return
    yield from split_levels(name, Origin.COLUMN, output.edges)
    if parsed:
        yield from split_levels(name, Origin.PARSED, parsed.completing)


def _sets_without_report(output: DatasetName, inputs: set[DatasetName], parsed: Parsed | None) -> Iterator[LineageSet]:
    """The sets of an output without reported columns: its parsed lineage, and inputs × output for the other inputs."""
    if parsed:
        yield from split_levels(output, Origin.PARSED, parsed.edges)
    if unexplained := inputs - (parsed.explained if parsed else frozenset()):
        inferred = [Edge(source=source, target=output) for source in unexplained]
        yield make_lineage_set(output, Level.DATASET, Origin.INFERRED, inferred)


def _boundary_sets(event: RunEvent | JobEvent, outputs: tuple[Dataset, ...]) -> Iterator[LineageSet]:
    job = event.job.name
    if event.inputs:
        yield make_lineage_set(
            None, Level.DATASET, Origin.BOUNDARY, [Edge(source=dataset.name, target=job) for dataset in event.inputs]
        )
    for output in {dataset.name: None for dataset in outputs}:
        yield make_lineage_set(output, Level.DATASET, Origin.BOUNDARY, [Edge(source=job, target=output)])


def _explicit_sets(edges: tuple[Edge, ...]) -> Iterator[LineageSet]:
    by_output: dict[DatasetName | None, list[Edge]] = {}
    for edge in edges:
        by_output.setdefault(_output_of(edge.target), []).append(edge)
    for output, output_edges in by_output.items():
        if output is None:
            yield make_lineage_set(None, Level.DATASET, Origin.EXPLICIT, output_edges)
        else:
            yield from split_levels(output, Origin.EXPLICIT, output_edges)


def _output_of(target: Node) -> DatasetName | None:
    match target:
        case JobName():
            return None
        case FieldName(dataset, _):
            return dataset
    return target
