"""EXISTS that finds its rows by whole keys, as an inner join: it finds one row at most, so that it repeats none.

`t.k IN (SELECT id FROM p WHERE p.c = 'x')` is `JOIN p ON p.id = t.k AND p.c = 'x'`, if no two rows of p share an id.
"""

from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import is_unique
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def join_existence(store: Formulas, block: Block) -> Block:
    """The block with joins in place of EXISTS by whole keys, in the order in which one finds the keys of the next."""
    for condition in list(block.conditions):
        if condition.op != "exists" or condition.is_volatile or not condition.is_open:
            continue
        inner = sought_rows(store, condition)
        if inner is not None and finds_one_row(store, inner):
            rest = [one for one in block.conditions if one is not condition]
            sources = [*block.sources, *inner.sources]
            block = replace(block, sources=sources, conditions=[*rest, *inner.conditions])
    return block


def sought_rows(store: Formulas, exists: Formula) -> Block | None:
    """The rows that EXISTS looks for."""
    try:
        return Reopened(store, formulas_of(exists)[0]).block
    except ForeignSourceError:
        return None


def finds_one_row(store: Formulas, inner: Block) -> bool:
    """Whether a row of the query around has one row of these at most: equalities give a value for whole keys."""
    own = frozenset(inner.sources)
    outer = [part for one in inner.conditions for part in _columns(one) if part.parts[0] not in own]
    is_plain = not any(rows_of(one).is_open or rows_of(one).is_volatile for one in own)
    equal = [one for one in inner.conditions if one.op == "eq" and not instances_of(one) <= own]
    return is_plain and bool(outer) and all(map(is_of_one_type, equal)) and is_unique(store, inner, outer)


def _columns(formula: Formula) -> list[Formula]:
    """The columns that a condition reads."""
    if formula.op == "of" and formula.parts[0].op == "inst":
        return [formula]
    return [one for part in formula.parts if part.is_open for one in _columns(part)]


def is_of_one_type(equality: Formula) -> bool:
    """Whether equal values of both sides are the same value of a key, as far as their types are known."""
    kinds = {type_of(one) for one in formulas_of(equality)}
    return "" in kinds or len(kinds) == 1 or all(map(is_exact_type, kinds))
