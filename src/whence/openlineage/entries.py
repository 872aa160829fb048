"""The explicit lineage facet as edges (OpenLineage proposal "explicit lineage facet"; docs/state.md, case 1)."""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.errors import EventError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.columns import UNSAID, edge, transformations
from whence.openlineage.facets import dataset_name, job_named
from whence.openlineage.naming import NO_NUL
from whence.openlineage.notes import Notes
from whence.openlineage.wire import Json, members_of, objects_in, step


@dataclass(frozen=True, slots=True)
class _Reading:
    """What an entry is read with: the event's own job (None on a dataset event), and where warnings go."""

    own: JobName | None
    notes: Notes


def job_edges(facet: Json, own: JobName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """All edges of a job's lineage facet. `at` is the facet's JSON pointer."""
    return tuple(_entries(facet, at, _Reading(own, notes)))


def named_fields(facet: Json, own: JobName) -> tuple[FieldName, ...]:
    """The columns that a job's lineage facet names, with sources or without any."""
    reading = _Reading(own, Notes())  # what is wrong with the facet, `job_edges` says
    entries = [(_node(entry, "", reading), entry) for _, entry in objects_in(facet.get("entries"))]
    return tuple(
        FieldName(target, name)
        for target, entry in entries
        if isinstance(target, DatasetName)
        for name, one in members_of(entry.get("fields"))
        if type(one) is dict
    )


def dataset_edges(facet: Json, dataset: DatasetName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """All edges of a dataset event's lineage facet: its own inputs and fields, and its entries."""
    reading = _Reading(None, notes)
    return (*_into_dataset(facet, dataset, at, reading), *_entries(facet, at, reading))


def _entries(facet: Json, at: str, reading: _Reading) -> Iterator[Edge]:
    for index, entry in objects_in(facet.get("entries")):
        here = f"{at}/entries/{index}"
        match _node(entry, here, reading):
            case DatasetName() as target:
                yield from _into_dataset(entry, target, here, reading)
            case JobName() as target:
                yield from _into(entry, target, here, reading)


def _into_dataset(entry: Json, target: DatasetName, at: str, reading: _Reading) -> Iterator[Edge]:
    yield from _into(entry, target, at, reading)
    for name, one in members_of(entry.get("fields")):
        here = f"{at}/fields{step(name)}"
        if "\0" in name:
            raise EventError(here, NO_NUL)
        if type(one) is dict:
            yield from _into(one, FieldName(target, name), here, reading)
        else:
            reading.notes.add(here, "is not an object; ignored")


def _into(entry: Json, target: Node, at: str, reading: _Reading) -> Iterator[Edge]:
    for index, one in objects_in(entry.get("inputs")):
        if source := _source(one, target, f"{at}/inputs/{index}", reading):
            for how in transformations(one) or (UNSAID,):
                yield edge(source, how, target)


def _source(one: Json, target: Node, at: str, reading: _Reading) -> Node | None:
    source = _node(one, at, reading)
    field = one.get("field")
    if not isinstance(source, DatasetName) or type(field) is not str or not field:
        return source
    if "\0" in field:
        raise EventError(f"{at}/field", NO_NUL)
    return source if isinstance(target, JobName) else FieldName(source, field)


def _node(one: Json, at: str, reading: _Reading) -> DatasetName | JobName | None:
    match one.get("type", "DATASET"):
        case "DATASET":
            if name := dataset_name(one, at):
                return name
            reading.notes.add(at, "a dataset needs a namespace and a name; ignored")
        case "JOB":
            return _job(one, at, reading)
        case _:
            reading.notes.add(f"{at}/type", "is neither DATASET nor JOB; ignored")
    return None


def _job(one: Json, at: str, reading: _Reading) -> JobName | None:
    if one.get("namespace") is None and one.get("name") is None:
        if reading.own is None:
            reading.notes.add(at, "a dataset event has no job of its own; ignored")
        return reading.own
    if not (name := job_named(one, at)):
        reading.notes.add(at, "a job needs both a namespace and a name, or neither; ignored")
    return name
