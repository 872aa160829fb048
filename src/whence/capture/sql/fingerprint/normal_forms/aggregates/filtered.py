"""Aggregates of some rows: FILTER, CASE, counts and sums of conditions."""

from collections.abc import Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, not_null, null_sources, null_tested
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.provenance.formulas import Formula, Formulas

_LITERAL: Final = frozenset({"number", "string", "boolean"})
_FILTERED: Final = frozenset({"sum", "avg", "min", "max", "logicalor", "logicaland"})


def make_filtered(store: Formulas, aggregate: Formula, condition: Formula) -> Formula:
    """An aggregate with FILTER: of the values for which the condition is true, else NULL, which it leaves out."""
    null = store.make("null")
    match aggregate.args:
        case ("count", Formula(op="star")):
            return count_where(store, condition)
        case ("count", Formula() as value) if value.op != "distinct":
            return make_count(store, make_case(store, [(condition, value)], null))
        case (str() as name, "this", Formula() as value) if name in _FILTERED and value.op != "distinct":
            return store.make("aggregate", name, "this", make_case(store, [(condition, value)], null))
        case ("count", Formula(op="distinct") as value) if (only := distinct_value(value)) is not None:
            found = store.make("list", make_case(store, [(condition, only)], null))
            return store.make("aggregate", "count", store.make("distinct", "expressions", found))
    return store.make("aggregate", "filter", aggregate, condition)


def distinct_value(distinct: Formula) -> Formula | None:
    """The one value of which DISTINCT counts the different ones."""
    parts = formulas_of(distinct)
    is_single = distinct.args[:1] == ("expressions",) and len(parts) == 1 and len(parts[0].args) == 1
    return formulas_of(parts[0])[0] if is_single else None


def count_where(store: Formulas, condition: Formula) -> Formula:
    """The number of rows for which a condition is true."""
    return make_count(store, make_case(store, [(condition, store.make("number", "1"))], store.make("null")))


def make_count(store: Formulas, value: Formula) -> Formula:
    """The number of values that are not NULL: which literal a CASE gives does not matter, nor which value that is not
    NULL.
    """
    parts = formulas_of(value)
    if value.op == "case" and len(parts) == 3 and parts[2].op == "null" and parts[1].op in ("number", "string"):
        value = store.make("case", parts[0], store.make("number", "1"), parts[2])
        if (tested := not_null(parts[0])) is not None:
            return make_count(store, tested)
    if value.op == "case" and len(parts) == 3 and parts[1].op == "null" and parts[2].op in ("number", "string"):
        tested = null_tested(parts[0])
        return store.make("aggregate", "count", value) if tested is None else make_count(store, tested)
    if value.op == "case" and len(parts) == 3 and parts[2].op == "null" and parts[1].op not in _LITERAL:
        return count_where(store, connect(store, "and", [parts[0], negate(store, is_null(parts[1]))]))
    sources = null_sources(value) if value.op not in ("distinct", "star") else (value,)
    if len(sources) > 1:
        return count_where(store, negate(store, is_null(value)))
    if sources and sources[0] is not value:
        return store.make("aggregate", "count", sources[0])
    return store.make("aggregate", "count", value)


def count_of_sum(store: Formulas, values: Sequence[Formula]) -> Formula | None:
    """`coalesce(sum(CASE WHEN c THEN 1 END), 0)` as the number of rows with c, of the type of a sum."""
    match values:
        case [Formula(op="aggregate", args=("sum", "this", Formula() as flag)), zero] if integer_of(zero) == 0:
            parts = formulas_of(flag) if flag.op == "case" else []
            is_flag = len(parts) == 3 and (parts[2].op == "null" or integer_of(parts[2]) == 0)
            if is_flag and parts[1] is store.make("number", "1") and store.dialect == "duckdb":
                return store.make("cast", count_where(store, parts[0]), store.make("type", "int128"))
    return None


def counts_each_row(count: Formula, rows: Formula) -> bool:
    """Whether an aggregate is the number of rows or of values that are not NULL in any of them, so at least one."""
    match count.args:
        case ("over", Formula() as inside, Formula() as read, *_) if count.op == "aggregate":
            return counts_each_row(inside, read)
        case ("count", Formula(op="star")) if count.op == "aggregate":
            return True
        case ("count", Formula() as counted) if count.op == "aggregate":
            value = distinct_value(counted) if counted.op == "distinct" else counted
            conditions = formulas_of(formulas_of(rows)[1]) if rows.op == "block" else []
            return value is not None and is_known(conditions, value)
    return False
