"""The facets of an output whose column lineage a capture has read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from whence_client.events.columns import DIRECT, INDIRECT, ColumnEdge, column_facets
from whence_client.events.datasets import Column as EventColumn
from whence_client.events.facets import Facet
from whence_client.lineage.columns import NO_SOURCE, OPAQUE_FUNCTION, SAME, UNREAD, Column, Edge, Edges

_LONGEST_NAME = 200
_RESERVED = "all|and|as|asc|by|case|desc|end|from|group|in|is|not|null|on|or|order|set|to|using|when"
_PLAIN = re.compile(rf"(?!(?:{_RESERVED})$)[a-z_][a-z0-9_]*", re.IGNORECASE)
"""Names that SQL reads without quotes."""
_GUESSED = 0.5
"""The confidence in the sources of a column that a function hides: it has all of its arguments."""


def lineage_facets(columns: Mapping[str, Column], influences: Edges, *, method: str = "plan") -> dict[str, Facet]:
    """The facets `columnLineage` and `whence_columnEvidence`. A column that has no source is listed without any."""
    unexplained = {
        name: min(column.reasons, default=NO_SOURCE) for name, column in columns.items() if not column.direct
    }
    first = _first_names(columns)
    distinct = {name: column for name, column in columns.items() if first[name] == name}
    facets = column_facets(_edges(distinct, influences), method=method, unexplained=unexplained)
    listed = facets.get("columnLineage", {}).get("fields")
    if listed is not None:
        listed.update({name: listed[other] for name, other in first.items() if name != other and other in listed})
    return facets


def _first_names(columns: Mapping[str, Column]) -> dict[str, str]:
    """For each column the first that is the same object: a wide model has thousands of equal edges."""
    names: dict[int, str] = {}
    return {name: names.setdefault(id(one), name) if not one.reasons else name for name, one in columns.items()}


def _edges(columns: Mapping[str, Column], influences: Edges) -> Iterator[ColumnEdge]:
    for name, column in columns.items():
        reason = min(column.reasons, default="")
        for edge in sorted(column.direct):
            yield _edge(edge, name, DIRECT, reason)
        for edge in sorted(column.indirect):
            yield _edge(edge, name, INDIRECT, "")
    for edge in sorted(influences):
        yield _edge(edge, None, INDIRECT, "")


def _edge(edge: Edge, target: str | None, type_: str, reason: str) -> ColumnEdge:
    source = EventColumn(edge.source.dataset.namespace, edge.source.dataset.name, edge.source.field)
    confidence = _GUESSED if reason == OPAQUE_FUNCTION else 1.0
    return ColumnEdge(source, target, type_, edge.subtype, _describe(edge), edge.masking, confidence, reason)


def _describe(edge: Edge) -> str:
    """The functions on the way of a value, as SQL; empty if they are not known."""
    name = edge.source.field
    if not edge.how or edge.how == UNREAD or len(name) > _LONGEST_NAME:
        return ""
    return edge.how.replace(SAME, name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"')
