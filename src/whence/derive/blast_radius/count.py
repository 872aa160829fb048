"""Counting: exactly if that is cheap, otherwise by estimate. The work is split into independent shares whose results
are added.
"""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from whence.derive.blast_radius.condensation import Dag, condense
from whence.derive.blast_radius.digraphs import Reach, Survey
from whence.derive.blast_radius.elements import Elements, condensed
from whence.derive.blast_radius.ragged_arrays import Ints
from whence.derive.blast_radius.reachable_sets import bit_counts, rank_sums, small_counts
from whence.model.blast_radius import COUNTED

UNKNOWN = -1
"""Marks a missing small count: the set is not small, or another share counts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The effort of counting. `registers` is per estimate, whose relative standard error is 1 / sqrt(registers - 2).
    `exact_work` limits the operations on 64 bits for counting with bits. Counts up to `small` are always exact.
    """

    registers: int = 256
    exact_work: int = 2_000_000_000
    small: int = 64


class Way(Enum):
    """The method of a count: exactly with bits, or by estimate, and exactly if it is small."""

    BITS = auto()
    RANKS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """A digraph without cycles, the elements counted at its components, and the method for each."""

    dag: Dag
    counted: tuple[Elements, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The input of every share of the work."""

    nodes: Ints
    fields: int
    own: Ints
    by_field: Condensed
    by_dataset: Condensed
    effort: Effort


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The result of one share of the work: a row per node and a column for each of COUNTED.

    `sums` are added over all shares: numbers of elements, or (`ranked`) sums of minimum ranks. `small` is maximised:
    exact counts, or UNKNOWN. `ranked` is the same in all shares.
    """

    sums: Ints
    small: Ints
    ranked: NDArray[np.bool_]


def prepare(survey: Survey, effort: Effort) -> Prepared:
    """Prepare the input of all shares: remove cycles, and choose the method of each count."""
    return Prepared(
        nodes=survey.nodes,
        fields=survey.fields,
        own=survey.own,
        by_field=_condensed(survey.by_field, effort),
        by_dataset=_condensed(survey.by_dataset, effort),
        effort=effort,
    )


def count_share(prepared: Prepared, share: int, shares: int) -> Share:
    """Count one share of the work."""
    fields = prepared.fields
    field_counts = _count(prepared.by_field, prepared.effort, share, shares)
    dataset_counts = _count(prepared.by_dataset, prepared.effort, share, shares)
    others = [column for column, name in enumerate(COUNTED) if name != "fields"]
    nodes = len(prepared.nodes)
    sums, small, ranked = field_counts.sums[:nodes], field_counts.small[:nodes], field_counts.ranked[:nodes]
    sums[fields:, others] = dataset_counts.sums[:, others]
    small[fields:, others] = dataset_counts.small[:, others]
    ranked[fields:, others] = dataset_counts.ranked[:, others]
    return Share(sums=sums, small=small, ranked=ranked)


def _condensed(reach: Reach, effort: Effort) -> Condensed:
    dag = condense(reach.vertices, reach.source, reach.target)
    counted = tuple(condensed(elements, dag) for elements in reach.counted)
    return Condensed(dag=dag, counted=counted, ways=tuple(_way(dag, elements, effort) for elements in counted))


def _way(dag: Dag, elements: Elements, effort: Effort) -> Way:
    work = _words(elements) * (dag.size + len(dag.successors))
    return Way.BITS if work <= effort.exact_work else Way.RANKS


def _words(elements: Elements) -> int:
    return -(-len(elements.ids) // 64)


def _count(condensed: Condensed, effort: Effort, share: int, shares: int) -> Share:
    dag, shape = condensed.dag, (len(condensed.dag.component), len(COUNTED))
    sums, small = np.zeros(shape, np.int64), np.full(shape, UNKNOWN, np.int64)
    ranked = np.zeros(shape, bool)
    for column, (elements, way) in enumerate(zip(condensed.counted, condensed.ways, strict=True)):
        if way is Way.BITS:
            sums[:, column] = bit_counts(dag, elements, _part(_words(elements), share, shares))[dag.component]
            continue
        ranked[:, column] = True
        sums[:, column] = rank_sums(dag, elements, _part(effort.registers, share, shares))[dag.component]
        if column % shares == share:
            small[:, column] = small_counts(dag, elements, effort.small)[dag.component]
    return Share(sums=sums, small=small, ranked=ranked)


def _part(whole: int, share: int, shares: int) -> range:
    return range(whole * share // shares, whole * (share + 1) // shares)
