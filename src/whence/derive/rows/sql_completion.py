"""Completion of reported column lineage with the job's SQL (docs/how-to/sql.md, "Completing a report")."""

from collections.abc import Iterable, Mapping

from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.lineage_sets.unreported_columns import Output

_Ends = tuple[Node, str, str]
"""Source dataset, its column, the output's column: empty for a whole dataset, in lower case."""


def find_completing_edges(
    reported: Output, parsed: Iterable[Edge], names: Mapping[DatasetName, DatasetName]
) -> tuple[Edge, ...]:
    """The parsed edges that add to the report without contradicting it. `names`: the event's name for each dataset.

    These are edges that the report has without a type, influences that it lacks, and values of columns that it does not
    mention. A value from a source other than the reported one contradicts the report, which wins.
    """
    types: dict[_Ends, set[str]] = {}
    for edge in reported.edges:
        types.setdefault(_ends(edge, names), set()).add(edge.type)
    mentioned = {column.lower() for column in reported.named} | {column for _, _, column in types if column}
    return tuple(edge for edge in parsed if _completes(edge, types.get(_ends(edge, names), set()), mentioned))


def _completes(edge: Edge, reported: set[str], mentioned: set[str]) -> bool:
    if edge.type == "INDIRECT":
        return "INDIRECT" not in reported
    is_new = isinstance(edge.target, FieldName) and edge.target.field.lower() not in mentioned
    return reported == {"UNKNOWN"} or is_new


def _ends(edge: Edge, names: Mapping[DatasetName, DatasetName]) -> _Ends:
    source, column = (
        (edge.source.dataset, edge.source.field) if isinstance(edge.source, FieldName) else (edge.source, "")
    )
    target = edge.target.field if isinstance(edge.target, FieldName) else ""
    return names.get(source, source) if isinstance(source, DatasetName) else source, column.lower(), target.lower()
