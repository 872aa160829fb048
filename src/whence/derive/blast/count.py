"""Counting: what is cheap exactly, the rest by estimate. The work falls into shares that need nothing of each other;
their results are added.
"""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from whence.derive.blast.condense import Dag, condense
from whence.derive.blast.elements import Elements, condensed
from whence.derive.blast.ragged import Ints
from whence.derive.blast.spread import bit_counts, rank_sums, small_counts
from whence.derive.blast.survey import Reach, Survey
from whence.model.blast import COUNTED

UNKNOWN = -1
"""In place of a small count: the set is not small, or another share looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How hard to try. `registers`: of an estimate, whose relative standard error is 1 / sqrt(registers - 2).
    `exact_work`: what is counted as bits takes at most so many operations on 64 bits. `small`: counts up to this are
    exact in any case.
    """

    registers: int = 256
    exact_work: int = 2_000_000_000
    small: int = 64


class Way(Enum):
    """How something is counted: exactly, as bits, or by estimate and exactly where it is little."""

    BITS = auto()
    RANKS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """A digraph without cycles, and what is counted at its components, in which way."""

    dag: Dag
    counted: tuple[Elements, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that a share of the work needs."""

    nodes: Ints
    fields: int
    own: Ints
    by_field: Condensed
    by_dataset: Condensed
    effort: Effort


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one share of the work finds, a row for each node and a column for each of COUNTED.

    `sums` are to be added over all shares: numbers of elements, or (`ranked`) sums of least ranks. `small` is to be
    maximised: exact counts, or UNKNOWN. `ranked` is the same in all shares.
    """

    sums: Ints
    small: Ints
    ranked: NDArray[np.bool_]


def prepare(survey: Survey, effort: Effort) -> Prepared:
    """Do what all shares need: take the cycles out, and choose how each thing is counted."""
    return Prepared(
        nodes=survey.nodes,
        fields=survey.fields,
        own=survey.own,
        by_field=_condensed(survey.by_field, effort),
        by_dataset=_condensed(survey.by_dataset, effort),
        effort=effort,
    )


def count_share(prepared: Prepared, share: int, shares: int) -> Share:
    """Do one share of the work."""
    fields = prepared.fields
    fine = _count(prepared.by_field, prepared.effort, share, shares)
    coarse = _count(prepared.by_dataset, prepared.effort, share, shares)
    others = [place for place, name in enumerate(COUNTED) if name != "fields"]
    nodes = len(prepared.nodes)
    sums, small, ranked = fine.sums[:nodes], fine.small[:nodes], fine.ranked[:nodes]
    sums[fields:, others] = coarse.sums[:, others]
    small[fields:, others] = coarse.small[:, others]
    ranked[fields:, others] = coarse.ranked[:, others]
    return Share(sums=sums, small=small, ranked=ranked)


def _condensed(reach: Reach, effort: Effort) -> Condensed:
    dag = condense(reach.vertices, reach.source, reach.target)
    counted = tuple(condensed(some, dag) for some in reach.counted)
    return Condensed(dag=dag, counted=counted, ways=tuple(_way(dag, some, effort) for some in counted))


def _way(dag: Dag, some: Elements, effort: Effort) -> Way:
    work = _words(some) * (dag.size + len(dag.successors))
    return Way.BITS if work <= effort.exact_work else Way.RANKS


def _words(some: Elements) -> int:
    return -(-len(some.ids) // 64)


def _count(condensed: Condensed, effort: Effort, share: int, shares: int) -> Share:
    dag, shape = condensed.dag, (len(condensed.dag.component), len(COUNTED))
    sums, small = np.zeros(shape, np.int64), np.full(shape, UNKNOWN, np.int64)
    ranked = np.zeros(shape, bool)
    for place, (some, way) in enumerate(zip(condensed.counted, condensed.ways, strict=True)):
        if way is Way.BITS:
            sums[:, place] = bit_counts(dag, some, _part(_words(some), share, shares))[dag.component]
            continue
        ranked[:, place] = True
        sums[:, place] = rank_sums(dag, some, _part(effort.registers, share, shares))[dag.component]
        if place % shares == share:
            small[:, place] = small_counts(dag, some, effort.small)[dag.component]
    return Share(sums=sums, small=small, ranked=ranked)


def _part(whole: int, share: int, shares: int) -> range:
    return range(whole * share // shares, whole * (share + 1) // shares)
