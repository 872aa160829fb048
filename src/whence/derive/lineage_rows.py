"""What follows from an event's lineage, as rows: its sets with their packed content, and the nodes at their ends."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.derive.dataset_rows import CACHED_CHARACTERS, FacetRow, Flat, named, payload_of
from whence.derive.enrichment import speaks_sql
from whence.derive.memory import Memory
from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import hash64, node_id, version_id
from whence.model.lineage import Edge, LineageSet, Origin, digest
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.facets import ALIASES
from whence.openlineage.lifecycle import FACET as LIFECYCLE_FACET
from whence.openlineage.lineage import lineage_sets
from whence.store.packed import SetContent, pack_set

if TYPE_CHECKING:
    from whence.derive.sql_lineage import SqlLineage

# A job says the same of its lineage, event after event: what follows from it is computed once per distinct text.


@dataclass(frozen=True, slots=True)
class _Spoken:
    """An event, equal to every other event of which all that decides its lineage is equal."""

    decides: tuple[str, ...]
    event: Event = field(compare=False)
    owner: JobName | DatasetName = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Woven:
    """The rows that follow from an event's lineage."""

    version: int
    datasets: tuple[Flat, ...]
    jobs: tuple[Flat, ...]
    sets: tuple[Flat, ...]
    facets: tuple[FacetRow, ...] = ()
    """What the pipeline itself says of the job."""


def weave(event: Event, owner: JobName | DatasetName, *, reads_sql: bool) -> Woven:
    """The rows that follow from an event's lineage; `owner` is whose lineage it speaks of."""
    decides = _decides(event)
    if reads_sql and speaks_sql(event):
        return _weave_sql(_Spoken(decides, event, owner), event)
    once = _weave_once if sum(map(len, decides)) < CACHED_CHARACTERS else _weave
    return once(_Spoken(decides, event, owner))


def _weave_sql(spoken: _Spoken, event: RunEvent | JobEvent) -> Woven:
    from whence.derive.sql_lineage import read_sql, sql_of  # only where it is used: it costs memory

    sql = sql_of(event)
    if sql is None:
        return _weave(spoken)
    return _enriched.of((*spoken.decides, *sql.decides), lambda: _weave(spoken, read_sql(sql)))


def _decides(event: Event) -> tuple[str, ...]:
    match event:
        case DatasetEvent(dataset=dataset):
            return (*_texts(dataset.name), payload_of(dataset.facets, "lineage"), *_lifecycle_texts(dataset))
        case RunEvent() | JobEvent():
            said = [
                text
                for one in event.outputs
                for text in (
                    *_texts(one.name),
                    *(payload_of(one.facets, key) for key in ("columnLineage", "schema")),
                    *_lifecycle_texts(one),
                )
            ]
            inputs = [text for one in event.inputs for text in _texts(one.name)]
            kind = f"{type(event).__name__} {len(inputs)}"
            return (*_texts(event.job.name), payload_of(event.job.facets, "lineage"), kind, *inputs, *said)


def _lifecycle_texts(one: Dataset) -> tuple[str, ...]:
    """What decides the lifecycle sets of a dataset: most events report no change of one."""
    if one.lifecycle is None:
        return ("",)
    return tuple(payload_of(one.facets, key) for key in (LIFECYCLE_FACET, "schema", "symlinks", ALIASES))


def _texts(name: DatasetName | JobName) -> tuple[str, str]:
    return name.namespace, name.name


def _weave(spoken: _Spoken, read: "SqlLineage | None" = None) -> Woven:
    only_defines = read is not None and read.only_defines
    lineage = lineage_sets(spoken.event, read.outputs if read else None, only_defines=only_defines)
    nodes = {end for one in lineage for edge in one.edges for end in (edge.source, edge.target)}
    whole = {node.dataset if isinstance(node, FieldName) else node for node in nodes}
    sets = tuple(_set(spoken.owner, one) for one in lineage)
    return Woven(
        version=version_id(sorted(id_ for id_, *_ in sets)),
        datasets=tuple(named(node) for node in whole if isinstance(node, DatasetName)),
        jobs=tuple(named(node) for node in whole if isinstance(node, JobName)),
        sets=sets,
        facets=read.facets if read else (),
    )


_weave_once = lru_cache(maxsize=4_096)(_weave)


def _weight(woven: Woven) -> int:
    contents = sum(len(one[-1]) for one in woven.sets if isinstance(one[-1], bytes))
    return contents + sum(len(payload) for *_, payload in woven.facets)


_enriched = Memory(32 * 2**20, _weight)
"""Of events with SQL: bytes in each process that reads events."""


def _set(owner: JobName | DatasetName, one: LineageSet) -> tuple[int, *tuple[object, ...]]:
    address = digest(owner, one)
    set_id, output = hash64(address), node_id(one.output) if one.output else 0
    return set_id, address, node_id(owner), output, one.level.value, one.origin.value, pack_set(_content(set_id, one))


def _content(set_id: int, one: LineageSet) -> SetContent:
    fields = {end for edge in one.edges for end in (edge.source, edge.target) if isinstance(end, FieldName)}
    rows = [(node_id(name), node_id(name.dataset), name.field, 0) for name in fields]
    if one.origin is Origin.UNREPORTED:
        return SetContent([], rows, [(set_id, node_id(name), node_id(name.dataset)) for name in fields])
    return SetContent([(set_id, ordinal, *_edge(edge)) for ordinal, edge in enumerate(one.edges)], rows)


def _edge(edge: Edge) -> Flat:
    ends = (node_id(edge.source), node_id(edge.target), _dataset_id(edge.source), _dataset_id(edge.target))
    return (*ends, edge.type, edge.subtype, edge.masking, edge.description)


def _dataset_id(node: Node) -> int:
    match node:
        case FieldName(dataset, _):
            return node_id(dataset)
        case JobName():
            return 0
    return node_id(node)
