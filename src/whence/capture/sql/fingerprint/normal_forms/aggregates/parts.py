"""The aggregates of values over the rows of their own query: those of subqueries are none of them."""

from collections.abc import Iterator

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.fingerprint.row_identity import Change
from whence.capture.sql.provenance.formulas import Formula, Formulas


def aggregates_of(value: Formula) -> Iterator[Formula]:
    """The outermost aggregates of a value."""
    if value.op == "aggregate":
        yield value
    elif value.has_aggregate:
        for part in formulas_of(value):
            yield from aggregates_of(part)


def windows_of(value: Formula) -> Iterator[Formula]:
    """All window functions of a value over the rows of their own query."""
    if value.op == "window":
        yield value
    if value.has_window:
        for part in formulas_of(value):
            yield from windows_of(part)


def change_aggregates(store: Formulas, change: Change) -> Change:
    """What becomes of a value if `change` tells what becomes of each of its outermost aggregates."""
    memo: dict[Formula, Formula] = {}

    def visit(value: Formula) -> Formula:
        if not value.has_aggregate:
            return value
        if value not in memo:
            memo[value] = change(value) if value.op == "aggregate" else rebuild(store, value, visit)
        return memo[value]

    return visit
