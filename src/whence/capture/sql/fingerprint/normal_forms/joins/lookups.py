"""Tables of literals in which a query looks values up: LEFT JOIN of VALUES on a column of different literals as CASE.

A row of the left side finds the row of VALUES with an equal literal, or none. Since the literals differ, it finds one
at most, so the join keeps each row once, and a column of VALUES is the CASE of the literals without ELSE.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS, type_of
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.provenance.formulas import Formula, Formulas

Change = Callable[[Formula], Formula]


def look_up(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values with CASE in place of joined tables of literals."""
    rest = list(values)
    for join in list(block.outer_joins):
        found = _lookup(store, join)
        others = [one for one in block.outer_joins if one is not join]
        if found is None or not all(map(_is_closed, others)) or any(rows_of(one).is_open for one in block.sources):
            continue
        joins = [replace(one, on=[*map(found, one.on)]) for one in others]
        block = Block(block.sources, joins, [*map(found, block.conditions)], block.is_used)
        rest = [found(value) for value in rest]
    return block, rest


def _is_closed(join: OuterJoin) -> bool:
    """Whether a join refers to other sources in its condition alone."""
    return join.left is None and join.right.is_plain and not rows_of(join.right.sources[0]).is_open


def _lookup(store: Formulas, join: OuterJoin) -> Change | None:
    """What becomes of values over a join that looks up literals; None for another join."""
    is_plain = join.kind == "left" and join.right.is_plain and len(join.on) == 1
    if not is_plain or rows_of(join.right.sources[0]).op != "values":
        return None
    (instance,) = join.right.sources
    rows = [formulas_of(row) for row in formulas_of(formulas_of(rows_of(instance))[0])]
    wanted, place = _looked_up(instance, join.on[0])
    if wanted is None or wanted.is_volatile or not all(place < len(row) for row in rows):
        return None
    if not all(_are_plain(row) for row in rows) or len({row[place].args[0] for row in rows}) < len(rows):
        return None
    if any(len({one.op for one in column}) > 1 for column in zip(*rows, strict=True)) or len(rows) < 1:
        return None
    kind = "text" if rows[0][place].op == "string" else "integer"
    if type_of(wanted) != kind or (kind == "text" and store.dialect not in EXACT_TEXTS):
        return None
    return _Replaced(store, instance, place, wanted, rows).change


def _looked_up(instance: Formula, condition: Formula) -> tuple[Formula | None, int]:
    """The value that is looked up, and the place of the column that it is looked up in."""
    sides = formulas_of(condition) if condition.op == "eq" else []
    for column, other in (sides, sides[::-1]) if len(sides) == 2 else ():
        place = _place(instance, column)
        if place is not None and instance not in _instances(other):
            return other, place
    return None, 0


def _instances(value: Formula) -> set[Formula]:
    return {value} if value.op == "inst" else {one for part in formulas_of(value) for one in _instances(part)}


def _place(instance: Formula, column: Formula) -> int | None:
    if column.op != "of" or column.args[0] is not instance:
        return None
    name = str(formulas_of(column)[1].args[0])
    return int(name[1:]) if name[:1] == "#" and name[1:].isdigit() else None


def _are_plain(row: Sequence[Formula]) -> bool:
    """Whether a row has whole numbers of one type and texts, which need no cast."""
    return all(one.op == "string" or (one.op == "number" and type_of(one) == "integer") for one in row)


class _Replaced:
    """Columns of a table of literals as CASE."""

    def __init__(
        self, store: Formulas, instance: Formula, place: int, wanted: Formula, rows: Sequence[Sequence[Formula]]
    ) -> None:
        self.store = store
        self.instance = instance
        self.place = place
        self.wanted = wanted
        self.rows = rows

    def change(self, value: Formula) -> Formula:
        place = _place(self.instance, value)
        if place is not None:
            branches = [(compare(self.store, "eq", self.wanted, row[self.place]), row[place]) for row in self.rows]
            return make_case(self.store, branches, self.store.make("null"))
        return rebuild(self.store, value, self.change) if value.is_open and value.op != "inst" else value
