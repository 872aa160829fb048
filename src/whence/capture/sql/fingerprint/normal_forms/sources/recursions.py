"""Recursive queries: bounds of columns whose type follows from all of their branches."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.days import day_bound
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import rows_behind, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

Branch = tuple[Formula, list[Formula]]
"""The rows and the columns of one branch."""


def with_whole_days(store: Formulas, before: Formula, branches: Sequence[Branch]) -> list[Branch]:
    """The branches with `d <= DATE '2024-01-31'` for `d < DATE '2024-02-01'` of the rows before, where d is a day.

    `before`: what a branch reads as the rows that were found before. They have the types that all branches have.
    """
    width = min(len(values) for _, values in branches)
    days = {
        store.make("name", f"#{place}")
        for place in range(width)
        if all(type_of(values[place], rows) == "date" for rows, values in branches)
    }
    memo: dict[Formula, Formula] = {}

    def is_day(value: Formula) -> bool:
        return value.op == "of" and value.args[1] in days and rows_behind(formulas_of(value)[0]) is before

    def visit(part: Formula) -> Formula:
        if part.op == "recursive":  # it may have the same name, for other rows
            return part
        if part not in memo:
            sides = formulas_of(part) if part.op == "lt" else []
            if any(map(is_day, sides)):
                memo[part] = store.make(*day_bound(store, "lt", sides[0], sides[1], is_day))
            else:
                memo[part] = store.rebuild(part, visit)
        return memo[part]

    return [(visit(rows), [visit(value) for value in values]) for rows, values in branches] if days else [*branches]
