"""Labels of the sources of a block, by which its rows and values name them."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.block import NEAREST, NEAREST_OR_NONE, Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.closing.rows import Closing
from whence.capture.sql.fingerprint.closing.single_rows import is_single, keeps_rows
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def label_sources(store: Formulas, block: Block, values: Sequence[Formula]) -> dict[Formula, Formula]:
    """A label for each instance: its rows, with a number if several are the same."""
    labels: dict[Formula, Formula] = {}
    nested = [one for one in block.instances() if one not in block.sources]
    provisional = {
        one: store.make("label", store.make("provisional", one.args[1] if not rows_of(one).is_open else "lateral"))
        for one in (*block.sources, *nested)
    }
    first = Closing(store, provisional)
    for one in block.sources:
        provisional[one] = store.make("label", first.close(rows_of(one), 1))
    _number(store, block, values, provisional, labels)
    for join in block.outer_joins:
        _label_joined(store, join, labels)
    return labels


def _number(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    provisional: dict[Formula, Formula],
    labels: dict[Formula, Formula],
) -> None:
    """Number the sources with the same rows by how conditions and values use them, then by their order."""
    groups: dict[Formula, list[Formula]] = {}
    for one in block.sources:
        groups.setdefault(provisional[one], []).append(one)
    named = {**provisional, **_outer_labels(store, block, values)} if len(groups) < len(block.sources) else {}
    for label, members in groups.items():
        if len(members) > 1:
            members.sort(key=lambda one: _uses(store, block, values, named, one))
        for number, one in enumerate(members):
            labels[one] = store.make("label", label, number) if number else label


def _outer_labels(store: Formulas, block: Block, values: Sequence[Formula]) -> dict[Formula, Formula]:
    """Labels of the sources of queries around, which have numbers that say nothing."""
    readers = [*block.conditions, *values, *(on for join in block.outer_joins for on in join.on)]
    outer = {one for reader in readers for one in instances_of(reader)}.difference(block.instances())
    return {one: store.make("label", "outer", "" if rows_of(one).is_open else rows_of(one)) for one in outer}


def _uses(
    store: Formulas, block: Block, values: Sequence[Formula], provisional: dict[Formula, Formula], one: Formula
) -> tuple[list[bytes], list[bytes]]:
    closing = Closing(store, {**provisional, one: store.make("label", "self")})
    conditions = [*block.conditions, *(on for join in block.outer_joins for on in join.on)]
    used = sorted(condition.digest for condition in formulas_of(closing.filter(conditions)))
    return used, sorted(closing.close(value).digest for value in values)


def _label_joined(store: Formulas, join: OuterJoin, labels: dict[Formula, Formula]) -> None:
    """Label the sources of an outer join: a single one by its condition, so that its columns depend on it.

    Two joins that find the same one row have one label.
    """
    if join.kind in ("left", NEAREST, NEAREST_OR_NONE) and is_single(join.right):
        (one,) = join.right.sources
        closing = Closing(store, {**labels, one: store.make("label", "self")})
        on = closing.filter(join.on)
        kind = () if join.kind == "left" else ("asof",)
        content = store.make("joined", closing.close(rows_of(one), 1), on, *kind)
        if join.kind == "left" and keeps_rows(join):
            labels[one] = store.make("label", content)
        else:
            _take_label(store, content, one, labels)
        return
    for side in (join.left, join.right):
        for one in side.instances() if side is not None else ():
            closing = Closing(store, labels)
            _take_label(store, store.make("side", join.kind, closing.close(rows_of(one), 1)), one, labels)


def _take_label(store: Formulas, content: Formula, one: Formula, labels: dict[Formula, Formula]) -> None:
    taken = set(labels.values())
    number = 0
    label = store.make("label", content)
    while label in taken:
        number += 1
        label = store.make("label", content, number)
    labels[one] = label
