"""The explicit lineage facet as edges (OpenLineage proposal "explicit lineage facet"; state.md, case 1)."""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.errors import EventError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.facets.column_lineage import UNKNOWN_FLOW, make_edge, read_transformations
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.json.wire import Json, members_of, objects_in, pointer_step
from whence.openlineage.names.entity_names import read_dataset_name, read_job_name
from whence.openlineage.names.naming import NO_NUL


@dataclass(frozen=True, slots=True)
class _Reading:
    """The context of an entry: the event's own job (None on a dataset event), and the warnings."""

    own: JobName | None
    notes: Notes


def read_job_edges(facet: Json, own: JobName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """All edges of a job's lineage facet. `at` is the facet's JSON pointer."""
    return tuple(_read_entries(facet, at, _Reading(own, notes)))


def list_reported_fields(facet: Json, own: JobName) -> tuple[FieldName, ...]:
    """The columns that a job's lineage facet mentions, with or without sources."""
    reading = _Reading(own, Notes())  # `read_job_edges` reports the facet's errors
    entries = [(_read_node(entry, "", reading), entry) for _, entry in objects_in(facet.get("entries"))]
    return tuple(
        FieldName(target, name)
        for target, entry in entries
        if isinstance(target, DatasetName)
        for name, field in members_of(entry.get("fields"))
        if type(field) is dict
    )


def read_dataset_edges(facet: Json, dataset: DatasetName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """All edges of a dataset event's lineage facet: its own inputs and fields, and its entries."""
    reading = _Reading(None, notes)
    return (*_read_dataset_entry(facet, dataset, at, reading), *_read_entries(facet, at, reading))


def _read_entries(facet: Json, at: str, reading: _Reading) -> Iterator[Edge]:
    for index, entry in objects_in(facet.get("entries")):
        here = f"{at}/entries/{index}"
        match _read_node(entry, here, reading):
            case DatasetName() as target:
                yield from _read_dataset_entry(entry, target, here, reading)
            case JobName() as target:
                yield from _read_inputs(entry, target, here, reading)


def _read_dataset_entry(entry: Json, target: DatasetName, at: str, reading: _Reading) -> Iterator[Edge]:
    yield from _read_inputs(entry, target, at, reading)
    for name, field in members_of(entry.get("fields")):
        here = f"{at}/fields{pointer_step(name)}"
        if "\0" in name:
            raise EventError(here, NO_NUL)
        if type(field) is dict:
            yield from _read_inputs(field, FieldName(target, name), here, reading)
        else:
            reading.notes.add(here, "is not an object; ignored")


def _read_inputs(entry: Json, target: Node, at: str, reading: _Reading) -> Iterator[Edge]:
    for index, value in objects_in(entry.get("inputs")):
        if source := _read_source(value, target, f"{at}/inputs/{index}", reading):
            for flow in read_transformations(value) or (UNKNOWN_FLOW,):
                yield make_edge(source, flow, target)


def _read_source(value: Json, target: Node, at: str, reading: _Reading) -> Node | None:
    source = _read_node(value, at, reading)
    field = value.get("field")
    if not isinstance(source, DatasetName) or type(field) is not str or not field:
        return source
    if "\0" in field:
        raise EventError(f"{at}/field", NO_NUL)
    return source if isinstance(target, JobName) else FieldName(source, field)


def _read_node(value: Json, at: str, reading: _Reading) -> DatasetName | JobName | None:
    match value.get("type", "DATASET"):
        case "DATASET":
            if name := read_dataset_name(value, at):
                return name
            reading.notes.add(at, "a dataset needs a namespace and a name; ignored")
        case "JOB":
            return _read_job(value, at, reading)
        case _:
            reading.notes.add(f"{at}/type", "is neither DATASET nor JOB; ignored")
    return None


def _read_job(value: Json, at: str, reading: _Reading) -> JobName | None:
    if value.get("namespace") is None and value.get("name") is None:
        if reading.own is None:
            reading.notes.add(at, "a dataset event has no job of its own; ignored")
        return reading.own
    if not (name := read_job_name(value, at)):
        reading.notes.add(at, "a job needs both a namespace and a name, or neither; ignored")
    return name
