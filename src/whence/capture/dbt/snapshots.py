"""The columns that dbt adds to a snapshot, and what it makes them of (docs.getdbt.com, "Snapshot meta-fields")."""

from collections.abc import Iterator, Mapping

from whence.capture.dbt.project import Node
from whence.capture.sql import RESULT, Column, Edge

META_COLUMNS: Mapping[str, str] = {
    "dbt_scd_id": "snapshot: dbt's key of the row",
    "dbt_valid_from": "snapshot: when dbt saw the row first",
    "dbt_valid_to": "snapshot: when dbt saw the row changed",
    "dbt_updated_at": "snapshot: when dbt saw the row",
    "dbt_is_deleted": "snapshot: whether dbt saw the row gone",
}
"""Why they have no source, where the strategy is not `timestamp`."""

_TIMES = ("dbt_valid_from", "dbt_valid_to", "dbt_updated_at")


def snapshot_edges(node: Node, edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """The edges into dbt's own columns: of the unique key, and of `updated_at` where the strategy compares it."""
    keys = _texts(node.config.get("unique_key"))
    times = _texts(node.config.get("updated_at")) if node.config.get("strategy") == "timestamp" else ()
    found = [*_into("dbt_scd_id", (*keys, *times), edges, masking=True)]
    for name in _TIMES:
        found += _into(name, times, edges, masking=False)
    return tuple(found)


def _into(name: str, of: tuple[str, ...], edges: tuple[Edge, ...], *, masking: bool) -> Iterator[Edge]:
    wanted = {one.lower() for one in of}
    sources = {
        edge.source: None
        for edge in edges
        if edge.type == "DIRECT" and isinstance(edge.target, Column) and edge.target.name.lower() in wanted
    }
    for source in sources:
        yield Edge(source, Column(RESULT, name), "DIRECT", "TRANSFORMATION", masking, "snapshot of dbt")


def _texts(value: object) -> tuple[str, ...]:
    some = [value] if isinstance(value, str) else value
    return tuple(one for one in some if isinstance(one, str)) if isinstance(some, list) else ()
