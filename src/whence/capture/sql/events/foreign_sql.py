"""Whether a text can be the SQL of the job that reports it (docs/how-to/sql.md, "Texts of other jobs").

openlineage-spark 1.53 reports an earlier statement of the session as the SQL of a DataFrame job. A text is accepted
unless it contradicts the event: it writes another table, names no dataset of the event, or has other columns.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture.sql.events.datasets import EventDataset
from whence.capture.sql.lineage import RESULT, Column, Edge, Table
from whence.capture.sql.provenance.relations import STAR
from whence.model.names import DatasetName

_SEPARATORS = re.compile(r"[./]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The names in a text: the dataset of each table, None if the event has none, and the edges.

    `result`: the output that its only SELECT would fill. `has_whole_schemas`: the event lists every column of its
    outputs; otherwise it may list only those that somebody described.
    """

    sources: Mapping[Table, DatasetName | None]
    targets: Mapping[Table, DatasetName | None]
    edges: Collection[Edge]
    outputs: Collection[EventDataset]
    result: DatasetName | None
    has_whole_schemas: bool


def find_contradiction(claims: Claims) -> str | None:
    """The reason that the text cannot be of this job, or None."""
    written = [table for table in claims.targets if table != RESULT]
    known = [table for table in written if claims.targets[table] or _has_output_name(table, claims.outputs)]
    if written and not known:
        return f"it writes {_list_names(map(str, written))}, and this job does not"
    read = [table for table in claims.sources if table != RESULT]
    if read and not known and not any(claims.sources[table] for table in read) and not _is_result_whole(claims):
        return f"it reads {_list_names(map(str, read))}, and names nothing that this job reads or writes"
    return _unknown_columns(claims)


def _has_output_name(table: Table, outputs: Iterable[EventDataset]) -> bool:
    """Whether an output has the table's last name part: producers differ in the prefix of a name."""
    last_part = _SEPARATORS.split(table.parts[-1].rstrip("/"))[-1].lower()
    return any(
        _SEPARATORS.split(name.name.rstrip("/"))[-1].lower() == last_part for output in outputs for name in output.names
    )


def _is_result_whole(claims: Claims) -> bool:
    """Whether the SELECT returns exactly the columns of the output. It may read views, which the event does not
    report.
    """
    columns = _columns_of(claims, claims.result) if claims.result else frozenset()
    return bool(columns) and _columns_into(claims.edges, RESULT) == columns


def _unknown_columns(claims: Claims) -> str | None:
    misfits: list[str] = []
    for table, output in claims.targets.items():
        if output is None:
            continue
        columns, known = _columns_into(claims.edges, table), _columns_of(claims, output)
        others = {column for column in columns if known.isdisjoint(_with_parents(column))}
        is_strict = table == RESULT and claims.has_whole_schemas
        if not known or not others or (others != columns and not is_strict):
            return None
        misfits += sorted(others)
    return f"it gives the columns {_list_names(misfits)}, which this job's output does not have" if misfits else None


def _with_parents(column: str) -> Iterator[str]:
    parts = column.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _columns_into(edges: Iterable[Edge], table: Table) -> frozenset[str]:
    """The columns of a table that a text assigns, in lower case."""
    ends = (edge.target for edge in edges)
    return frozenset(
        end.name.lower() for end in ends if isinstance(end, Column) and end.table == table and end.name != STAR
    )


def _columns_of(claims: Claims, output: DatasetName | None) -> frozenset[str]:
    fields = next((column.fields for column in claims.outputs if column.name == output), ())
    return frozenset(field.lower() for field in fields)


def _list_names(names: Iterable[str]) -> str:
    first = list(dict.fromkeys(names))
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")
