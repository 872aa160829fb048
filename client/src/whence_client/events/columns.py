"""Column lineage: edges from columns to a column, or to all rows, of an output; and what is known of their certainty.

>>> orders = Column("file", "/orders", "amount")
>>> column_facets([ColumnEdge(orders, "total", "DIRECT", "AGGREGATION", "sum(amount)")])["columnLineage"]["fields"]
{'total': {'inputFields': [{'namespace': 'file', 'name': '/orders', 'field': 'amount', 'transformations': \
[{'type': 'DIRECT', 'subtype': 'AGGREGATION', 'description': 'sum(amount)', 'masking': False}]}]}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whence_client.events.datasets import Column
from whence_client.events.facets import Facet, facet, own_facet

DIRECT, INDIRECT = "DIRECT", "INDIRECT"

NO_SOURCE = "no_source"
"""The column is made of nothing: a literal, a sequence, the time."""
OPAQUE_FUNCTION = "opaque_function"
"""A function that cannot be read computes it; its arguments are given as sources, or none are known."""
LEFT_THE_ENGINE = "left_the_engine"
"""The value passed through something that keeps no lineage: numpy, a dict, the driver's memory."""
NOT_CAPTURED = "not_captured"
"""The capture does not support this operation yet."""
DECLARED = "declared"
"""A person wrote the edge down; nothing observed it."""


@dataclass(frozen=True)
class ColumnEdge:
    """One influence on `target`, a column of the output; None: on all of its rows, as a filter or a join key has.

    `subtype`: IDENTITY, TRANSFORMATION or AGGREGATION if DIRECT; JOIN, GROUP_BY, FILTER, SORT, WINDOW or CONDITIONAL if
    INDIRECT. `confidence` below 1 needs a `reason`.
    """

    source: Column
    target: str | None
    type: str = DIRECT
    subtype: str = "TRANSFORMATION"
    description: str = ""
    masking: bool = False
    confidence: float = 1.0
    reason: str = ""


def column_facets(
    edges: Iterable[ColumnEdge], *, method: str = "plan", unexplained: Mapping[str, str] | None = None
) -> dict[str, Facet]:
    """The facets `columnLineage` and `whence_columnEvidence` of an output; empty if there is nothing to report.

    `method` is how the edges are known: plan, tags, sql, declared. `unexplained` has a reason (NO_SOURCE …) for each
    column without edges; one that has no source is listed in `columnLineage` without any.
    """
    edges = tuple(edges)
    if not edges and not unexplained:
        return {}
    fields: dict[str, dict[Column, Facet]] = {}
    whole: dict[Column, Facet] = {}
    for edge in edges:
        _add(whole if edge.target is None else fields.setdefault(edge.target, {}), edge)
    for target, reason in (unexplained or {}).items():
        if reason == NO_SOURCE:
            fields.setdefault(target, {})
    members: dict[str, Any] = {
        "fields": {target: {"inputFields": list(sources.values())} for target, sources in fields.items()}
    }
    if whole:
        members["dataset"] = list(whole.values())
    lineage = {"columnLineage": facet("ColumnLineageDatasetFacet", **members)} if edges else {}
    return {**lineage, "whence_columnEvidence": _evidence(edges, method, unexplained or {})}


def _add(sources: dict[Column, Facet], edge: ColumnEdge) -> None:
    source = sources.setdefault(edge.source, {**_reference(edge.source), "transformations": []})
    transformation = {
        "type": edge.type,
        "subtype": edge.subtype,
        "description": edge.description,
        "masking": edge.masking,
    }
    if transformation not in source["transformations"]:
        source["transformations"].append(transformation)


def _evidence(edges: tuple[ColumnEdge, ...], method: str, unexplained: Mapping[str, str]) -> Facet:
    doubts = [
        {
            "field": edge.target,
            "namespace": edge.source.namespace,
            "name": edge.source.name,
            "inputField": edge.source.field,
            "confidence": edge.confidence,
            "reason": edge.reason,
        }
        for edge in edges
        if edge.confidence < 1 or edge.reason
    ]
    gaps = [{"field": name, "reason": reason} for name, reason in sorted(unexplained.items())]
    return own_facet("ColumnEvidenceDatasetFacet", method=method, doubts=doubts, unexplained=gaps)


def _reference(column: Column) -> dict[str, Any]:
    return {"namespace": column.namespace, "name": column.name, "field": column.field}
