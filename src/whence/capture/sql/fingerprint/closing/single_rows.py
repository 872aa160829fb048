"""Outer joins that find one row at most."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.block import NEAREST_OR_NONE, Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.normal_forms.conditions.matched_columns import matched_column
from whence.capture.sql.provenance.formulas import Formula


def keeps_rows(join: OuterJoin) -> bool:
    """Whether a LEFT JOIN finds at most one row: the condition gives a value for each column of a key."""
    if join.kind == NEAREST_OR_NONE and is_single(join.right):
        return True
    if join.kind != "left" or not is_single(join.right):
        return False
    (instance,) = join.right.sources
    return any(_sets_all(join, instance, key.columns) for key in unique_keys(rows_of(instance)))


def _sets_all(join: OuterJoin, instance: Formula, columns: Sequence[Formula]) -> bool:
    store = instance.store
    matched = {matched_column(on, instance) for on in join.on}
    return all({store.make("of", instance, key), store.push(key, instance)} & matched for key in columns)


def is_single(block: Block) -> bool:
    return block.is_plain
