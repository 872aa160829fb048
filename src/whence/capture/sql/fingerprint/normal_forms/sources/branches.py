"""Branches of a UNION: two of the same rows behind two filters are one behind both. Values in which they differ are a
CASE of the filter, if the filters exclude each other.

Those of UNION ALL only if the filters exclude each other, since a row that passes both is there twice.
"""

from collections.abc import Sequence
from itertools import combinations

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import conjuncts_of, excludes
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.decisions.decisions import are_apart, decide_filter, decide_values
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.provenance.formulas import Formula, Formulas

Branch = tuple[Formula, tuple[Formula, ...]]
"""The rows and the columns of one branch."""
_MOST: int = 12
"""More branches than this are compared as they are."""


def union_of(store: Formulas, branches: Sequence[Branch]) -> tuple[Formula, list[Formula]]:
    """The rows and the columns of a UNION ALL, whose branches have no order."""
    merged = in_order(with_one_type(store, merge_branches(store, branches, is_distinct=False)))
    if len(merged) == 1:
        return merged[0][0], [*merged[0][1]]
    rows = store.make("union_all", store.make("bag", *(branch[0] for branch in merged)))
    columns = zip(*(values for _, values in merged), strict=True)
    return rows, [store.make("union_column", *several) for several in columns]


def in_order(branches: Sequence[Branch]) -> list[Branch]:
    """The branches in an order that does not depend on how they are written."""
    return sorted(branches, key=lambda branch: (branch[0].digest, [value.digest for value in branch[1]]))


def with_one_type(store: Formulas, branches: Sequence[Branch]) -> list[Branch]:
    """The branches with BIGINT literals in each column in which one of them is a BIGINT: the others become such. A NULL
    has no type of its own where the other branches have the one that it is cast to.
    """
    branches = _with_plain_nulls(branches)
    width = min((len(values) for _, values in branches), default=0)
    wide = {place for place in range(width) if _has_wide_literals([values[place] for _, values in branches])}
    kind = store.make("type", "bigint")

    def widened(values: Sequence[Formula]) -> tuple[Formula, ...]:
        return tuple(
            store.make("cast", one, kind) if place in wide and one.op == "number" else one
            for place, one in enumerate(values)
        )

    return [(rows, widened(values)) for rows, values in branches] if wide else [*branches]


def _with_plain_nulls(branches: Sequence[Branch]) -> Sequence[Branch]:
    width = min((len(values) for _, values in branches), default=0)
    if not width:
        return branches
    columns = [_without_null_casts([(values[place], rows) for rows, values in branches]) for place in range(width)]
    return [
        (rows, (*own, *values[width:]))
        for (rows, values), own in zip(branches, zip(*columns, strict=True), strict=True)
    ]


def _without_null_casts(column: Sequence[tuple[Formula, Formula]]) -> list[Formula]:
    """The values of a column, each with the rows of its branch: NULL for a NULL of the type that all others have."""
    casts = [value for value, _ in column if value.op == "cast" and formulas_of(value)[0].op == "null"]
    kinds = {type_of(value, rows) for value, rows in column if value.op != "null"}
    is_one = bool(casts) and len(kinds) == 1 and "" not in kinds
    is_one = is_one and len(casts) < sum(value.op != "null" for value, _ in column)
    return [value.store.make("null") if is_one and value in casts else value for value, _ in column]


def _has_wide_literals(values: Sequence[Formula]) -> bool:
    """Whether all values are whole numbers that are written out, and one of them is a BIGINT."""
    kinds = {type_of(value) for value in values}
    return all(map(is_literal, values)) and "bigint" in kinds and kinds <= {"integer", "bigint"}


def merge_branches(store: Formulas, branches: Sequence[Branch], is_distinct: bool) -> list[Branch]:
    """The branches without two that may be one. `is_distinct`: repetitions do not count."""
    rest = list(branches)
    while len(rest) <= _MOST:
        found = next(
            ((pair, one) for pair in combinations(rest, 2) if (one := _merged(store, *pair, is_distinct))), None
        )
        if found is None:
            return rest
        rest = [one for one in rest if one not in found[0]]
        rest.append(found[1])
    return rest


def _merged(store: Formulas, one: Branch, other: Branch, is_distinct: bool) -> Branch | None:
    """Both branches as one; None if they differ otherwise than in their filters and single values, or may have the
    same row.
    """
    if {one[0].op, other[0].op} != {"block"} or len(one[1]) != len(other[1]):
        return None
    (sources, first, joins), (others, second, more) = formulas_of(one[0]), formulas_of(other[0])
    if sources is not others or joins is not more:
        return None
    if one[0].is_volatile or any(value.is_volatile or value.has_window for value in (*one[1], *other[1])):
        return None  # a window function sees the rows of its branch alone
    conditions = [set(formulas_of(first)), set(formulas_of(second))]
    own, theirs = conditions[0] - conditions[1], conditions[1] - conditions[0]
    shared = conditions[0] & conditions[1]
    if is_distinct and one[1] == other[1] and not (own and theirs):
        return store.make("block", sources, store.make("set", *shared), joins), one[1]
    if not own or not theirs:
        return None
    left, right = (store.connect("and", several) for several in (own, theirs))
    is_apart = excludes(left, right) or are_apart(store, left, right)
    sides = sorted(((left, one[1]), (right, other[1])), key=lambda side: (side[0].op in ("is", "not"), side[0].digest))
    values = _chosen(store, *sides[0], sides[1][1]) if one[1] == other[1] or is_apart else None
    if values is None or not (is_distinct or is_apart):
        return None
    merged = decide_filter(store, [*shared, *conjuncts_of(connect(store, "or", [left, right]))])
    return store.make("block", sources, store.make("set", *merged), joins), tuple(decide_values(store, values, merged))


def _chosen(
    store: Formulas, condition: Formula, values: Sequence[Formula], others: Sequence[Formula]
) -> tuple[Formula, ...] | None:
    """The values of the rows for which a condition is true, and of all other rows; None if types may change."""
    pairs = list(zip(values, others, strict=True))
    if any(one is not other and not _are_of_one_type(one, other) for one, other in pairs):
        return None
    chosen = (one if one is other else make_case(store, [(condition, one)], other) for one, other in pairs)
    return tuple(chosen)


def _are_of_one_type(one: Formula, other: Formula) -> bool:
    """Whether a CASE of two values has the type that a UNION of them has, without a change of them."""
    kinds = {type_of(one), type_of(other)}
    return "" not in kinds and (len(kinds) == 1 or all(map(is_exact_type, kinds)))
