"""The lineage of one output as production has it and as a run of the head's code reports it, and how they differ."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from whence.model.changes import ChangeKind, ColumnChange
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node

_COPIED = "IDENTITY"
"""The subtype of a value that is copied: its formula is the column's name."""
_SHOWN = 5

Sources = frozenset[tuple[str, str, str, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLineage:
    """What one job reports of one output: its columns with their types (empty: unknown), and the edges into it."""

    columns: Mapping[str, str]
    edges: tuple[Edge, ...]

    @property
    def influences(self) -> tuple[Edge, ...]:
        """What decides about the rows: INDIRECT edges into the whole dataset, from columns where those are known."""
        found = [one for one in self.edges if isinstance(one.target, DatasetName) and one.type == "INDIRECT"]
        by_column = {one.source.dataset for one in found if isinstance(one.source, FieldName)}
        return tuple(one for one in found if one.source not in by_column)

    @property
    def carries_formulas(self) -> bool:
        """Whether the capture reports any formula, so that a missing one means that there is none."""
        return any(one.description for one in self.edges)

    def edges_of(self, column: str) -> tuple[Edge, ...]:
        """The edges into one column."""
        return tuple(one for one in self.edges if isinstance(one.target, FieldName) and one.target.field == column)


def changes_of_run(dataset: DatasetName, before: OutputLineage, after: OutputLineage, file: str) -> list[ColumnChange]:
    """The changes of one output between production and a run. Values and rows without a formula are unknown.

    What the capture does not report at all, as a LIMIT without an influence, is not compared.
    """
    common = sorted(before.columns.keys() & after.columns.keys())
    found = list(_changed_names(dataset, before, after))
    found += [one for column in common for one in _changes_of_column(dataset, column, before, after)]
    found += _changes_of_rows(dataset, before, after)
    return [replace(one, file=file) for one in _merged(found)]


def _changed_names(dataset: DatasetName, before: OutputLineage, after: OutputLineage) -> Iterator[ColumnChange]:
    """Removed, renamed and added columns. A column is renamed if one other column alone has its formula."""
    removed = sorted(before.columns.keys() - after.columns.keys())
    added = sorted(after.columns.keys() - before.columns.keys())
    renamed = {}
    for column in removed:
        same = [one for one in added if _is_same_formula(before.edges_of(column), after.edges_of(one)) is True]
        twins = [one for one in removed if _is_same_formula(before.edges_of(one), before.edges_of(column)) is True]
        if len(same) == 1 and twins == [column]:
            renamed[column] = same[0]
    for column, name in renamed.items():
        yield ColumnChange(dataset=dataset, column=name, kind=ChangeKind.RENAMED, before=column, after=name)
    for column in (one for one in removed if one not in renamed):
        yield ColumnChange(dataset=dataset, column=column, kind=ChangeKind.REMOVED, before=_text(before, column))
    for column in (one for one in added if one not in renamed.values()):
        yield ColumnChange(dataset=dataset, column=column, kind=ChangeKind.ADDED, after=_text(after, column))


def _changes_of_column(
    dataset: DatasetName, column: str, before: OutputLineage, after: OutputLineage
) -> Iterator[ColumnChange]:
    types = before.columns[column], after.columns[column]
    if all(types) and types[0].casefold() != types[1].casefold():
        yield ColumnChange(dataset=dataset, column=column, kind=ChangeKind.TYPE, before=types[0], after=types[1])
    is_same = _is_same_formula(before.edges_of(column), after.edges_of(column))
    if is_same is None:
        yield ColumnChange(dataset=dataset, column=column, kind=ChangeKind.UNKNOWN, reason=_no_formula(column))
    elif not is_same:
        texts = _text(before, column), _text(after, column)
        yield ColumnChange(dataset=dataset, column=column, kind=ChangeKind.VALUES, before=texts[0], after=texts[1])


def _changes_of_rows(dataset: DatasetName, before: OutputLineage, after: OutputLineage) -> Iterator[ColumnChange]:
    is_same = _is_same_rows(before, after)
    if is_same is None:
        reason = "the run reports no formula of its filters, joins and groups: the rows may change"
        yield ColumnChange(dataset=dataset, column=None, kind=ChangeKind.UNKNOWN, reason=reason)
    elif not is_same:
        texts = (_edges_text(one.influences) for one in (before, after))
        yield ColumnChange(dataset=dataset, column=None, kind=ChangeKind.ROWS, before=next(texts), after=next(texts))


def _is_same_rows(before: OutputLineage, after: OutputLineage) -> bool | None:
    """Whether the rows are decided in the same way; None if that is not known."""
    if _sources(before.influences) != _sources(after.influences):
        return False
    if not before.influences:
        return True if before.carries_formulas and after.carries_formulas else None
    return _is_same_description(before.influences, after.influences)


def _is_same_formula(before: Iterable[Edge], after: Iterable[Edge]) -> bool | None:
    """Whether two columns have one formula; None if that is not known."""
    before, after = tuple(before), tuple(after)
    if _sources(before) != _sources(after):
        return False
    if len(before) == len(after) == 1 and before[0].subtype == after[0].subtype == _COPIED:
        return True
    return _is_same_description(before, after)


def _is_same_description(before: tuple[Edge, ...], after: tuple[Edge, ...]) -> bool | None:
    """Whether edges with the same ends have the same formulas; None if one has none, or there are no edges."""
    if not before or not all(one.description for one in (*before, *after)):
        return None
    return _descriptions(before) == _descriptions(after)


def _descriptions(edges: Iterable[Edge]) -> frozenset[tuple[str, str, str]]:
    return frozenset((str(one.source), one.type, one.description) for one in edges)


def _sources(edges: Iterable[Edge]) -> Sources:
    return frozenset((str(one.source), one.type, one.subtype, one.masking) for one in edges)


def _merged(found: list[ColumnChange]) -> Iterator[ColumnChange]:
    """The changes; if anything of the dataset may change, the columns that may are named in that one change."""
    of_all = next((one for one in found if one.kind is ChangeKind.UNKNOWN and one.column is None), None)
    if of_all is None:
        yield from found
        return
    may = [one.column for one in found if one.kind is ChangeKind.UNKNOWN and one.column is not None]
    yield from (one for one in found if one.kind is not ChangeKind.UNKNOWN)
    yield replace(of_all, reason=f"{of_all.reason}; nor of {_few(may)}") if may else of_all


def _no_formula(column: str) -> str:
    return f"the run reports no formula of {column}: its values may change"


def _few(columns: list[str]) -> str:
    more = f" and {len(columns) - _SHOWN:,} more columns" if len(columns) > _SHOWN else ""
    return ", ".join(columns[:_SHOWN]) + more


def _text(of: OutputLineage, column: str) -> str:
    return _edges_text(of.edges_of(column))


def _edges_text(edges: Iterable[Edge]) -> str:
    """The formulas of edges, or their sources."""
    return "; ".join(sorted({one.description or f"{one.subtype or one.type} of {_name(one.source)}" for one in edges}))


def _name(node: Node) -> str:
    return f"{node.dataset.name}.{node.field}" if isinstance(node, FieldName) else node.name
