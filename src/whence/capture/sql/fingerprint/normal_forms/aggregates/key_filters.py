"""Aggregates that a condition on grouping keys filters: in a group it holds for all rows or for none."""

from collections.abc import Sequence
from typing import Final

from whence.capture.sql.fingerprint.keys import reads_only
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import make_count
from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import conjuncts_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.provenance.formulas import Formula, Formulas

_OF_VALUES: Final = frozenset({"sum", "avg", "min", "max", "logicalor", "logicaland"})
"""Aggregates that are NULL where no value is left."""


def without_key_filter(
    store: Formulas, aggregate: Formula, keys: Sequence[Formula], own: frozenset[Formula]
) -> Formula:
    """`CASE WHEN k > 0 THEN max(x) END` for `max(x) FILTER (WHERE k > 0)` in the groups of k; a count is 0 without it.

    `own`: the sources of the rows.
    """
    match aggregate.args:
        case ("count", Formula(op="case") as value):
            is_count = True
        case (str() as name, "this", Formula(op="case") as value) if name in _OF_VALUES:
            is_count = False
        case _:
            return aggregate
    parts, null = formulas_of(value), store.make("null")
    conditions = conjuncts_of(parts[0]) if len(parts) == 3 and parts[2] is null else []
    on_keys = [one for one in conditions if reads_only(one, frozenset(keys), own)]
    rest = [one for one in conditions if one not in on_keys]
    if not on_keys:
        return aggregate
    left = make_case(store, [(store.connect("and", rest), parts[1])], null) if rest else parts[1]
    total = make_count(store, left) if is_count else store.make("aggregate", aggregate.args[0], "this", left)
    default = store.make("number", "0") if is_count else null
    return make_case(store, [(store.connect("and", on_keys), total)], default)
