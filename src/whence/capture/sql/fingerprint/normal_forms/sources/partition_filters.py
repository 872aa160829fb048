"""Conditions on grouping keys and partitions, which may stand before grouping or after it."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.block import Block
from whence.capture.sql.fingerprint.keys import reads_only
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import windows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import not_null, null_sources, null_tested
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS, has_one_spelling, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def without_partition_filters(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """A block without the conditions that depend on the partitions of all windows in values alone, and these."""
    common = common_partition(values)
    own = frozenset(block.instances())
    conditions = normalize_filter(store, block.conditions) if common else []
    lifted = [one for one in conditions if not one.has_window and is_on_keys(one, common, own)]
    rest = [one for one in conditions if one not in lifted]
    return (Block(block.sources, block.outer_joins, rest, block.is_used), lifted) if lifted else (block, [])


def common_partition(values: Sequence[Formula]) -> frozenset[Formula]:
    """The values by which all window functions part their rows."""
    partitions = [frozenset(formulas_of(_partition(one))) for value in values for one in windows_of(value)]
    return frozenset.intersection(*partitions) if partitions else frozenset()


def is_existence_by_keys(condition: Formula, keys: frozenset[Formula], own: frozenset[Formula]) -> bool:
    """Whether a condition asks whether other rows exist for keys, of which equal ones are the same. `own`: the sources
    of the rows that have the keys.
    """
    exists = condition.parts[0] if condition.op == "not" else condition
    if exists.op != "exists" or exists.is_volatile or not exists.is_open:
        return False
    remaining, seen, read = [exists], set(), []
    while remaining:
        part = remaining.pop()
        if part in keys:
            read.append(part)
        elif part in own:
            return False
        elif part.is_open and part not in seen:
            seen.add(part)
            remaining += part.parts
    return bool(read) and all(has_one_spelling(type_of(key), key.store.dialect) for key in read)


def _partition(window: Formula) -> Formula:
    return next(one for one in formulas_of(window) if one.op == "set")


def is_on_keys(condition: Formula, keys: frozenset[Formula], own: frozenset[Formula]) -> bool:
    """Whether a condition depends on rows through grouping keys only, or on what decides whether one is NULL or ''."""
    if reads_only(condition, keys, own):
        return True
    tested = null_tested(condition) or not_null(condition)
    if tested is not None:
        return any(null_sources(key) == (tested,) for key in keys)
    is_empty = condition.op in ("eq", "neq") and condition.store.make("string", "") in condition.args
    inside = {formulas_of(key)[0] for key in keys if key.op in ("lower", "upper") and len(formulas_of(key)) == 1}
    return is_empty and condition.store.dialect in EXACT_TEXTS and not inside.isdisjoint(formulas_of(condition))
