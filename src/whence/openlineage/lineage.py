"""What one event says of lineage, as sets of edges (docs/state.md, "Lineage sets"; reference rules 39-45)."""

from collections.abc import Iterable, Iterator

from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent
from whence.model.lineage import Edge, Level, LineageSet, Origin, Parsed
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.unreported import Output, Outputs, lineage_set, outputs_of, unreported_sets


def lineage_sets(event: Event, parsed: Outputs | None = None) -> tuple[LineageSet, ...]:
    """The event's lineage sets: at most one per output, level and origin, each with its edges sorted and distinct."""
    match event:
        case DatasetEvent(dataset=dataset):
            return tuple(_explicit(dataset.edges))
        case RunEvent() | JobEvent():
            return (*_boundary(event), *_stated(event, parsed or {}))


def _stated(event: RunEvent | JobEvent, parsed: Outputs) -> Iterator[LineageSet]:
    """What the event reports of its outputs, what its SQL adds, and the columns of which neither says anything."""
    inputs = {one.name for one in event.inputs}
    outputs = outputs_of(event)
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
    yield from _levels(name, Origin.COLUMN, output.edges)
    if parsed:
        yield from _levels(name, Origin.PARSED, parsed.completing)


def _unreported(output: DatasetName, inputs: set[DatasetName], parsed: Parsed | None) -> Iterator[LineageSet]:
    """An output of whose columns the producer says nothing: what its SQL says, and inputs × output for the rest."""
    if parsed:
        yield from _levels(output, Origin.PARSED, parsed.edges)
    if unexplained := inputs - (parsed.explained if parsed else frozenset()):
        inferred = [Edge(source=source, target=output) for source in unexplained]
        yield lineage_set(output, Level.DATASET, Origin.INFERRED, inferred)


def _boundary(event: RunEvent | JobEvent) -> Iterator[LineageSet]:
    job = event.job.name
    if event.inputs:
        yield lineage_set(
            None, Level.DATASET, Origin.BOUNDARY, [Edge(source=one.name, target=job) for one in event.inputs]
        )
    for output in {one.name: None for one in event.outputs}:
        yield lineage_set(output, Level.DATASET, Origin.BOUNDARY, [Edge(source=job, target=output)])


def _explicit(edges: tuple[Edge, ...]) -> Iterator[LineageSet]:
    by_output: dict[DatasetName | None, list[Edge]] = {}
    for edge in edges:
        by_output.setdefault(_output(edge.target), []).append(edge)
    for output, some in by_output.items():
        if output is None:
            yield lineage_set(None, Level.DATASET, Origin.EXPLICIT, some)
        else:
            yield from _levels(output, Origin.EXPLICIT, some)


def _levels(output: DatasetName, origin: Origin, edges: Iterable[Edge]) -> Iterator[LineageSet]:
    """The edges that name a field; and those that name none, joined by what follows from the former."""
    fine: list[Edge] = []
    coarse: list[Edge] = []
    for edge in edges:
        names_field = type(edge.source) is FieldName or type(edge.target) is FieldName
        (fine if names_field else coarse).append(edge)
    follow = {(_whole(edge.source), edge.type) for edge in fine}
    coarse += [Edge(source=source, target=output, type=kind) for source, kind in follow]
    if fine:
        yield lineage_set(output, Level.FIELD, origin, fine)
    if coarse:
        yield lineage_set(output, Level.DATASET, origin, coarse)


def _output(target: Node) -> DatasetName | None:
    match target:
        case JobName():
            return None
        case FieldName(dataset, _):
            return dataset
    return target


def _whole(node: Node) -> Node:
    return node.dataset if isinstance(node, FieldName) else node
