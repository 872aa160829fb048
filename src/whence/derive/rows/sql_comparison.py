"""Differences between a producer's column lineage and the SQL beside it. Only values (DIRECT) are compared: influences
on rows are reported in too many ways.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.json.wire import Json

_SHOWN = 20

Pair = tuple[DatasetName, str, str]
"""Source dataset, its column, the output's column. Columns are in lower case, because producers differ in case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The comparison of one output: how many column edges both have, and the edges that only one of them has.

    If the SQL was not parsed completely, no edge counts as missing in it.
    """

    output: DatasetName
    agreed: int
    only_parsed: tuple[Pair, ...]
    only_reported: tuple[Pair, ...]
    is_complete: bool

    @property
    def missing_in_report(self) -> int:
        """The number of edges in the SQL that the producer does not report."""
        return len(self.only_parsed)

    @property
    def missing_in_parse(self) -> int:
        """The number of edges that the producer reports and the SQL does not have."""
        return len(self.only_reported)

    def document(self) -> Json:
        """As JSON, with the first of the edges."""
        return {
            "namespace": self.output.namespace,
            "name": self.output.name,
            "complete": self.is_complete,
            "agreed": self.agreed,
            "missingInReport": _edges(self.only_parsed),
            "missingInParse": _edges(self.only_reported),
        }


def compare_edges(
    output: DatasetName,
    reported: Iterable[Edge],
    parsed: Iterable[Edge],
    names: Mapping[DatasetName, DatasetName],
    *,
    is_complete: bool,
) -> Comparison:
    """Compare the edges into one output. `names`: the event's name for a dataset's other names.

    A reported edge of no known type agrees with a value as well as with an influence.
    """
    reported_edges, parsed_edges = list(reported), list(parsed)
    direct = _pairs((edge for edge in parsed_edges if edge.type == "DIRECT"), names)
    sources = {
        (names.get(field.dataset, field.dataset), field.field.lower())
        for field in _fields(edge.source for edge in parsed_edges)
    }
    reported_pairs = _pairs((edge for edge in reported_edges if edge.type != "INDIRECT"), names)
    direct_reported = _pairs((edge for edge in reported_edges if edge.type == "DIRECT"), names)
    only_reported = (
        {pair for pair in reported_pairs - direct if pair in direct_reported or pair[:2] not in sources}
        if is_complete
        else set()
    )
    return Comparison(
        output=output,
        agreed=len(direct & reported_pairs),
        only_parsed=tuple(sorted(direct - reported_pairs)),
        only_reported=tuple(sorted(only_reported)),
        is_complete=is_complete,
    )


def _pairs(edges: Iterable[Edge], names: Mapping[DatasetName, DatasetName]) -> set[Pair]:
    return {
        (names.get(edge.source.dataset, edge.source.dataset), edge.source.field.lower(), edge.target.field.lower())
        for edge in edges
        if isinstance(edge.source, FieldName) and isinstance(edge.target, FieldName)
    }


def _fields(nodes: Iterable[Node]) -> Iterable[FieldName]:
    return (node for node in nodes if isinstance(node, FieldName))


def _edges(pairs: Iterable[Pair]) -> list[Json]:
    first = list(pairs)[:_SHOWN]
    return [
        {"namespace": source.namespace, "name": source.name, "field": field, "output": column}
        for source, field, column in first
    ]
