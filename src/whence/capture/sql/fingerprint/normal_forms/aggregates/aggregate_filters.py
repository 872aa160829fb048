"""Filters of aggregates that the rows or the groups have anyway.

One that all aggregates of a total share is a filter of its rows, since a total is one row. One on grouping keys holds
for all rows of a group or for none.
"""

from collections.abc import Sequence
from functools import reduce

from whence.capture.sql.fingerprint.keys import reads_only
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import distinct_value, make_count, make_filtered
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of, change_aggregates
from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import conjuncts_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter, rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import not_null, null_sources
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.row_identity import Change
from whence.capture.sql.provenance.formulas import Formula, Formulas

_OF_VALUES = frozenset({"sum", "avg", "min", "max", "logicalor", "logicaland"})
"""Aggregates that are NULL where no value is left."""


def shared_filter(store: Formulas, values: Sequence[Formula]) -> tuple[list[Formula], Change]:
    """The conditions that every aggregate of these values has, and a change that takes them out of a value."""
    aggregates = [*dict.fromkeys(one for value in values for one in aggregates_of(value))]
    filtered = {one: filter_of(store, one) for one in aggregates}
    conditions = [[] if found is None else normalize_filter(store, [found[1]]) for found in filtered.values()]
    if not conditions or any(one.is_volatile for several in conditions for one in several):
        return [], _unchanged
    shared = reduce(lambda some, others: [one for one in some if one in others], conditions)
    rest = dict(zip(aggregates, ([one for one in several if one not in shared] for several in conditions), strict=True))

    def change(aggregate: Formula) -> Formula:
        found = filtered[aggregate]
        if found is None or not rest[aggregate]:
            return aggregate if found is None else found[0]
        return make_filtered(store, found[0], connect(store, "and", rest[aggregate]))

    return shared, change_aggregates(store, change)


def without_null_filters(
    store: Formulas, conditions: Sequence[Formula], values: Sequence[Formula]
) -> tuple[list[Formula], Change]:
    """The conditions of one total without a test that a value is not NULL, if no aggregate takes rows where it is.

    `count(*)` with one such condition is the number of these values, which the change makes of it.
    """
    aggregates = [*dict.fromkeys(one for value in values for one in aggregates_of(value))]
    star = store.make("aggregate", "count", store.make("star"))
    others = [one for one in aggregates if one is not star]
    tested = {one: value for one in conditions if (value := not_null(one)) is not None and not value.is_volatile}
    gone = {one: value for one, value in tested.items() if all(_leaves_out(other, value) for other in others)}
    if not (gone and aggregates) or (star in aggregates and len(gone) > 1):
        return [*conditions], _unchanged
    number = store.make("aggregate", "count", next(iter(gone.values())))
    change = change_aggregates(store, lambda one: number if one is star else one)
    return [one for one in conditions if one not in gone], change


def _leaves_out(aggregate: Formula, tested: Formula) -> bool:
    """Whether an aggregate takes no row in which a value is NULL."""
    plain, condition = filter_of(aggregate.store, aggregate) or (aggregate, None)
    if condition is not None and rejects_null(condition, tested):
        return True
    match plain.args:
        case ("count", Formula(op="distinct") as distinct):
            value = distinct_value(distinct)
        case ("count", Formula() as value):
            pass
        case (str() as name, "this", Formula() as value) if name in _OF_VALUES:
            pass
        case _:
            return False
    return value is not None and tested in null_sources(value)


def _unchanged(value: Formula) -> Formula:
    return value


def filter_of(store: Formulas, aggregate: Formula) -> tuple[Formula, Formula] | None:
    """An aggregate without its filter, and the filter; see `make_filtered`."""
    match aggregate.args:
        case ("filter", Formula() as plain, Formula() as condition):
            return plain, condition
        case (str() as name, "this", Formula() as value) if name in _OF_VALUES and (found := _case_of(value)):
            return store.make("aggregate", name, "this", found[1]), found[0]
        case ("count", Formula() as value) if found := _case_of(value):
            is_row = found[1] is store.make("number", "1")
            return store.make("aggregate", "count", store.make("star") if is_row else found[1]), found[0]
    return None


def _case_of(value: Formula) -> tuple[Formula, Formula] | None:
    """The condition and the value of a CASE with one branch that is NULL otherwise."""
    parts = formulas_of(value)
    return (parts[0], parts[1]) if value.op == "case" and len(parts) == 3 and parts[2].op == "null" else None


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
