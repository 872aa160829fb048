"""The columns that dbt adds to a snapshot, and their sources (docs.getdbt.com, "Snapshot meta-fields")."""

from collections.abc import Iterator, Mapping

from whence.capture.dbt.artifacts.project import Node
from whence.capture.sql import RESULT, Column, Edge

META_COLUMNS: Mapping[str, str] = {
    "dbt_scd_id": "snapshot: dbt's key of the row",
    "dbt_valid_from": "snapshot: when dbt saw the row first",
    "dbt_valid_to": "snapshot: when dbt saw the row changed",
    "dbt_updated_at": "snapshot: when dbt saw the row",
    "dbt_is_deleted": "snapshot: whether dbt saw the row gone",
}
"""The reasons that they have no source, unless the strategy is `timestamp`."""

_TIMES = ("dbt_valid_from", "dbt_valid_to", "dbt_updated_at")


def snapshot_edges(node: Node, edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """The edges into dbt's own columns: from the unique key, and from `updated_at` if the strategy compares it."""
    keys = _texts(node.config.get("unique_key"))
    times = _texts(node.config.get("updated_at")) if node.config.get("strategy") == "timestamp" else ()
    meta_edges = [*_meta_edges("dbt_scd_id", (*keys, *times), edges, masking=True)]
    for name in _TIMES:
        meta_edges += _meta_edges(name, times, edges, masking=False)
    return tuple(meta_edges)


def _meta_edges(name: str, columns: tuple[str, ...], edges: tuple[Edge, ...], *, masking: bool) -> Iterator[Edge]:
    names = {column.lower() for column in columns}
    sources = {
        edge.source: None
        for edge in edges
        if edge.type == "DIRECT" and isinstance(edge.target, Column) and edge.target.name.lower() in names
    }
    for source in sources:
        yield Edge(source, Column(RESULT, name), "DIRECT", "TRANSFORMATION", masking, "snapshot of dbt")


def _texts(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    return tuple(text for text in texts if isinstance(text, str)) if isinstance(texts, list) else ()
