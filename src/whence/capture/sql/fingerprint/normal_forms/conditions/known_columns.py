"""Columns of complete rows that are never NULL: by a declared key, by the filters and joins that they are behind."""

from typing import Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.windows import value_of_own_row
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import rejects_null
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_never_null, null_sources
from whence.capture.sql.provenance.formulas import Formula

_INSIDE: Final = frozenset({"limit", "sorted", "decorated"})
"""Rows that are some of the rows in them, with the same columns."""
_OF_VALUES: Final = frozenset({"sum", "avg", "min", "max", "anyvalue", "logicalor", "logicaland"})
"""Aggregates that are not NULL if one of their values is not."""


_DEPTH: Final = 40
"""Nothing is known of rows that more queries than this are between."""


class KnownColumns:
    """Finds columns without NULL. What it found is kept, so that a chain of queries is walked once."""

    def __init__(self) -> None:
        self._memo: dict[tuple[Formula, Formula], bool] = {}
        self._depth = 0

    def is_known(self, rows: Formula, value: Formula) -> bool:
        """Whether a value over complete rows is not NULL in any of them."""
        return not rows.is_open and all(self._is_source_known(rows, one) for one in null_sources(value))

    def _is_source_known(self, rows: Formula, value: Formula) -> bool:
        key = (rows, value)
        found = self._memo.get(key)
        if found is None:
            self._depth += 1
            is_column = self._depth <= _DEPTH and self._is_column_known(rows, value)
            self._depth -= 1
            found = self._memo[key] = is_column or is_never_null(value)
        return found

    def _is_column_known(self, rows: Formula, column: Formula) -> bool:
        parts = formulas_of(rows)
        if any(key.is_complete and column in key.columns for key in rows.store.keys.get(rows, ())):
            return True
        if (inside := value_of_own_row(column)) is not None:
            return self.is_known(rows, inside)
        match rows.op:
            case name if name in _INSIDE:
                return self.is_known(parts[0], column)
            case "series":
                return True
            case "group":
                return self._is_known_of_group(parts, column)
            case "union_all" if column.op == "union_column":
                branches = formulas_of(parts[0])
                pairs = zip(branches, formulas_of(column), strict=False)
                return len(branches) == len(column.args) and all(self.is_known(*pair) for pair in pairs)
            case "block":
                return any(rejects_null(one, column) for one in formulas_of(parts[1])) or self._is_known_of_source(
                    formulas_of(parts[0]), column
                )
        return False

    def _is_known_of_group(self, parts: list[Formula], column: Formula) -> bool:
        """A key, or an aggregate of at least one row. A grouping set gives the keys that it leaves out as NULL."""
        if len(parts) != len(("rows", "keys")) or parts[1].op != "set" or not parts[1].args:
            return False
        match column.args:
            case (str() as name, "this", Formula() as value) if column.op == "aggregate" and name in _OF_VALUES:
                return self.is_known(parts[0], value)
            case ("first_row", Formula() as value, Formula()) if column.op == "aggregate":
                return self.is_known(parts[0], value)
            case ("over", Formula() as aggregate, *_) if column.op == "aggregate":
                return is_never_null(aggregate)
        return not (column.has_aggregate or column.has_window) and self.is_known(parts[0], column)

    def _is_known_of_source(self, sources: list[Formula], column: Formula) -> bool:
        """A column of a source that is in every row: of no outer join."""
        if column.op != "of" or column.args[0] not in sources:
            return False
        rows, inside = formulas_of(column)
        while rows.op in ("src", "label"):
            rows = formulas_of(rows)[0]
        return rows.op not in ("joined", "side") and self.is_known(rows, inside)
