"""Whether a text can be the SQL of the job that reports it (docs/sql.md, "Texts of other jobs").

openlineage-spark 1.53 reports an earlier statement of the session as the SQL of a DataFrame job. A text is believed
unless it contradicts the event: it writes another table, names no dataset of the event, or has other columns.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture.sql.datasets import EventDataset
from whence.capture.sql.lineage import RESULT, Column, Edge, Table
from whence.capture.sql.relations import STAR
from whence.model.names import DatasetName

_SEPARATORS = re.compile(r"[./]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a text names: the dataset that each table is, None if it is none of the event's, and the edges it has.

    `result`: the output that its one SELECT would fill. `has_whole_schemas`: the event lists every column of its
    outputs; else it may list only those that somebody described.
    """

    sources: Mapping[Table, DatasetName | None]
    targets: Mapping[Table, DatasetName | None]
    edges: Collection[Edge]
    outputs: Collection[EventDataset]
    result: DatasetName | None
    has_whole_schemas: bool


def contradiction(claims: Claims) -> str | None:
    """Why the text cannot be of this job; None if it can."""
    written = [table for table in claims.targets if table != RESULT]
    known = [table for table in written if claims.targets[table] or _resembles(table, claims.outputs)]
    if written and not known:
        return f"it writes {_listed(map(str, written))}, and this job does not"
    read = [table for table in claims.sources if table != RESULT]
    if read and not known and not any(claims.sources[table] for table in read) and not _is_result_whole(claims):
        return f"it reads {_listed(map(str, read))}, and names nothing that this job reads or writes"
    return _other_columns(claims)


def _resembles(table: Table, outputs: Iterable[EventDataset]) -> bool:
    """The table is called as an output, wherever the two are: producers differ in what comes before a name."""
    own = _SEPARATORS.split(table.parts[-1].rstrip("/"))[-1].lower()
    return any(_SEPARATORS.split(name.name.rstrip("/"))[-1].lower() == own for one in outputs for name in one.names)


def _is_result_whole(claims: Claims) -> bool:
    """The SELECT gives all columns of the output, no other: it may read views, which the event does not name."""
    columns = _columns_of(claims, claims.result) if claims.result else frozenset()
    return bool(columns) and _columns_into(claims.edges, RESULT) == columns


def _other_columns(claims: Claims) -> str | None:
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
    return f"it gives the columns {_listed(misfits)}, which this job's output does not have" if misfits else None


def _with_parents(column: str) -> Iterator[str]:
    parts = column.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _columns_into(edges: Iterable[Edge], table: Table) -> frozenset[str]:
    """The columns of a table that a text gives values, in lower case."""
    ends = (edge.target for edge in edges)
    return frozenset(
        end.name.lower() for end in ends if isinstance(end, Column) and end.table == table and end.name != STAR
    )


def _columns_of(claims: Claims, output: DatasetName | None) -> frozenset[str]:
    fields = next((one.fields for one in claims.outputs if one.name == output), ())
    return frozenset(field.lower() for field in fields)


def _listed(names: Iterable[str]) -> str:
    first = list(dict.fromkeys(names))
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")
