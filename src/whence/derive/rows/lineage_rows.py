"""Rows of an event's lineage: its sets with their packed content, and the nodes at their ends."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.derive.rows.bounded_cache import BoundedCache
from whence.derive.rows.dataset_rows import CACHED_CHARACTERS, FacetRow, Flat, find_payload, make_name_row
from whence.derive.rows.sql_selection import has_sql
from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import hash64, node_id, version_id
from whence.model.lineage import GAPS, Edge, LineageSet, hash_lineage_set
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.facets.facet_keys import ALIASES
from whence.openlineage.lineage_sets.column_evidence import COLUMN_EVIDENCE
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.lineage_sets.lifecycle import FACET as LIFECYCLE_FACET
from whence.store.schema.packed import SetContent, pack_set

if TYPE_CHECKING:
    from whence.derive.rows.sql_lineage import SqlLineage

# A job asserts the same lineage in event after event, so its rows are computed once per distinct text.


SetRow = tuple[int, str, int, int, str, str, bytes]
"""Id, digest, owner, output (0: none), level, origin, packed content."""


@dataclass(frozen=True, slots=True)
class _EventKey:
    """A cache key: equal for all events that agree in everything that decides their lineage."""

    decides: tuple[str, ...]
    event: Event = field(compare=False)
    owner: JobName | DatasetName = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageRows:
    """The rows of an event's lineage."""

    version: int
    datasets: tuple[Flat, ...]
    jobs: tuple[Flat, ...]
    sets: tuple[SetRow, ...]
    facets: tuple[FacetRow, ...] = ()
    """The facets that the pipeline itself writes about the job."""


def make_lineage_rows(event: Event, owner: JobName | DatasetName, *, reads_sql: bool) -> LineageRows:
    """Make the rows of an event's lineage, which `owner` asserts."""
    decides = _deciding_texts(event)
    if reads_sql and has_sql(event):
        return _make_sql_rows(_EventKey(decides, event, owner), event)
    once = _make_rows_cached if sum(map(len, decides)) < CACHED_CHARACTERS else _make_rows
    return once(_EventKey(decides, event, owner))


def _make_sql_rows(key: _EventKey, event: RunEvent | JobEvent) -> LineageRows:
    from whence.derive.rows.sql_lineage import find_sql, read_sql  # imported only if used: it costs memory

    sql = find_sql(event)
    if sql is None:
        return _make_rows(key)
    return _sql_rows.get_or_make((*key.decides, *sql.decides), lambda: _make_rows(key, read_sql(sql)))


def _deciding_texts(event: Event) -> tuple[str, ...]:
    match event:
        case DatasetEvent(dataset=dataset):
            payloads = (find_payload(dataset.facets, key) for key in ("lineage", COLUMN_EVIDENCE))
            return (*_name_texts(dataset.name), *payloads, *_lifecycle_texts(dataset))
        case RunEvent() | JobEvent():
            output_texts = [
                text
                for dataset in event.outputs
                for text in (
                    *_name_texts(dataset.name),
                    *(find_payload(dataset.facets, key) for key in ("columnLineage", COLUMN_EVIDENCE, "schema")),
                    *_lifecycle_texts(dataset),
                )
            ]
            inputs = [text for dataset in event.inputs for text in _name_texts(dataset.name)]
            is_partial = isinstance(event, RunEvent) and event.run.partial
            kind = f"{type(event).__name__} {len(inputs)} {is_partial}"
            return (
                *_name_texts(event.job.name),
                find_payload(event.job.facets, "lineage"),
                kind,
                *inputs,
                *output_texts,
            )


def _lifecycle_texts(dataset: Dataset) -> tuple[str, ...]:
    """The texts that decide the lifecycle sets of a dataset; most events report no change of one."""
    if dataset.lifecycle is None:
        return ("",)
    return tuple(find_payload(dataset.facets, key) for key in (LIFECYCLE_FACET, "schema", "symlinks", ALIASES))


def _name_texts(name: DatasetName | JobName) -> tuple[str, str]:
    return name.namespace, name.name


def _make_rows(key: _EventKey, sql: "SqlLineage | None" = None) -> LineageRows:
    only_defines = sql is not None and sql.only_defines
    lineage = derive_lineage_sets(key.event, sql.outputs if sql else None, only_defines=only_defines)
    nodes = {end for lineage_set in lineage for edge in lineage_set.edges for end in (edge.source, edge.target)}
    named_nodes = {node.dataset if isinstance(node, FieldName) else node for node in nodes}
    sets = tuple(_set_row(key.owner, lineage_set) for lineage_set in lineage)
    return LineageRows(
        version=version_id(sorted(id_ for id_, *_ in sets)),
        datasets=tuple(make_name_row(node) for node in named_nodes if isinstance(node, DatasetName)),
        jobs=tuple(make_name_row(node) for node in named_nodes if isinstance(node, JobName)),
        sets=sets,
        facets=sql.facets if sql else (),
    )


_make_rows_cached = lru_cache(maxsize=4_096)(_make_rows)


def _weigh(key: tuple[str, ...], rows: LineageRows) -> int:
    contents = sum(len(content) for *_, content in rows.sets)
    return sum(map(len, key)) + contents + sum(len(payload) for *_, payload in rows.facets)


_sql_rows: BoundedCache[tuple[str, ...], LineageRows] = BoundedCache(32 * 2**20, _weigh)
"""The cached rows of events with SQL: bytes per process that reads events."""


def _set_row(owner: JobName | DatasetName, lineage_set: LineageSet) -> SetRow:
    address = hash_lineage_set(owner, lineage_set)
    set_id, output = hash64(address), node_id(lineage_set.output) if lineage_set.output else 0
    return (
        set_id,
        address,
        node_id(owner),
        output,
        lineage_set.level.value,
        lineage_set.origin.value,
        pack_set(_set_content(set_id, lineage_set)),
    )


def _set_content(set_id: int, lineage_set: LineageSet) -> SetContent:
    fields = {end for edge in lineage_set.edges for end in (edge.source, edge.target) if isinstance(end, FieldName)}
    rows = [(node_id(name), node_id(name.dataset), name.field, 0) for name in fields]
    if lineage_set.origin in GAPS:
        targets = [edge.target for edge in lineage_set.edges]
        return SetContent([], rows, [(set_id, node_id(target), _dataset_id(target)) for target in targets])
    return SetContent([(set_id, ordinal, *_edge_row(edge)) for ordinal, edge in enumerate(lineage_set.edges)], rows)


def _edge_row(edge: Edge) -> Flat:
    ends = (node_id(edge.source), node_id(edge.target), _dataset_id(edge.source), _dataset_id(edge.target))
    return (*ends, edge.type, edge.subtype, edge.masking, edge.description)


def _dataset_id(node: Node) -> int:
    match node:
        case FieldName(dataset, _):
            return node_id(dataset)
        case JobName():
            return 0
    return node_id(node)
