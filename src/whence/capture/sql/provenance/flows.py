"""Provenance as sets: which leaves flow into a value, and how. The algebra of transformations, as bits.

A `Flow` maps each leaf to the ways in which it reaches the value. A way is a bit: three DIRECT ones, the same three
masked, and six INDIRECT ones. So merging is `|`, and a chain of queries costs as much as its sets, not as its paths.
Composition follows OpenLineage (`spark_column_lineage.md`): AGGREGATION > TRANSFORMATION > IDENTITY, masking is or, and
the last INDIRECT step of a path determines its kind.
"""

from collections.abc import Iterator
from functools import lru_cache

from whence.capture.sql.lineage import Column, Subtype, Table, Type

IDENTITY, TRANSFORMATION, AGGREGATION = 1, 2, 4
MASKED = 3
"""The shift of a bit when its value is masked."""
FILTER, JOIN, GROUP_BY, SORT, WINDOW, CONDITIONAL = 64, 128, 256, 512, 1024, 2048
_DIRECT = 63
_PLAIN = 7

Step = int
"""One step of a path: IDENTITY, TRANSFORMATION, AGGREGATION, one of the INDIRECT kinds, or a masked one."""
MASK = TRANSFORMATION << MASKED
COUNT = AGGREGATION << MASKED

SUBTYPES: dict[int, tuple[Type, Subtype]] = {
    IDENTITY: ("DIRECT", "IDENTITY"),
    TRANSFORMATION: ("DIRECT", "TRANSFORMATION"),
    AGGREGATION: ("DIRECT", "AGGREGATION"),
    FILTER: ("INDIRECT", "FILTER"),
    JOIN: ("INDIRECT", "JOIN"),
    GROUP_BY: ("INDIRECT", "GROUP_BY"),
    SORT: ("INDIRECT", "SORT"),
    WINDOW: ("INDIRECT", "WINDOW"),
    CONDITIONAL: ("INDIRECT", "CONDITIONAL"),
}
KINDS = {subtype: bit for bit, (_, subtype) in SUBTYPES.items()}


class Leaf:
    """A column of a table that this statement does not create. There is one object for each: sets compare by
    identity.
    """

    __slots__ = ("column", "conditions", "confidence", "home", "name", "reason")

    def __init__(self, home: "Home", name: str, confidence: float, reason: str) -> None:
        self.home = home
        self.name = name
        self.confidence = confidence
        self.reason = reason
        self.column = Column(home.table, name)
        self.conditions: dict[int, list[object]] = {}
        """The row conditions that contain the leaf, by INDIRECT kind: nodes, or texts."""


class Home:
    """A table as a source of leaves. Each column has one leaf for each way in which its name was resolved."""

    __slots__ = ("leaves", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.leaves: dict[tuple[str, str], Leaf] = {}

    def leaf(self, name: str, confidence: float = 1.0, reason: str = "schema") -> Leaf:
        key = (name, reason)
        leaf = self.leaves.get(key)
        if leaf is None:
            leaf = self.leaves[key] = Leaf(self, name, confidence, reason)
        return leaf


Flow = dict[Leaf, int]
"""Values that pass a flow on unchanged share it: never change a flow after it is complete."""
NOTHING: Flow = {}


@lru_cache(maxsize=65_536)
def compose(step: Step, bits: int) -> int:
    """The ways of `bits`, each followed by all the ways of `step`."""
    result = step & ~_DIRECT
    for way in _ways(step & _DIRECT):
        result |= _apply_direct(way, bits)
    return result


def absorb(into: Flow, flow: Flow, step: Step) -> None:
    """Add a flow to another, followed by a step."""
    if step == IDENTITY:
        for leaf, bits in flow.items():
            into[leaf] = into.get(leaf, 0) | bits
        return
    for leaf, bits in flow.items():
        into[leaf] = into.get(leaf, 0) | compose(step, bits)


def apply_step(flow: Flow, step: Step) -> Flow:
    """A flow, followed by a step."""
    if step == IDENTITY or not flow:
        return flow
    return {leaf: compose(step, bits) for leaf, bits in flow.items()}


def merge_flows(*flows: Flow) -> Flow:
    """The union of flows."""
    nonempty = [flow for flow in flows if flow]
    if not nonempty:
        return NOTHING
    first, *others = nonempty
    if not others:
        return first
    result = dict(first)
    for flow in others:
        absorb(result, flow, IDENTITY)
    return result


def indirect(flow: Flow) -> Flow:
    """The INDIRECT part of a flow."""
    return {leaf: bits & ~_DIRECT for leaf, bits in flow.items() if bits & ~_DIRECT}


def directed(flow: Flow) -> Flow:
    """The DIRECT part of a flow."""
    return {leaf: bits & _DIRECT for leaf, bits in flow.items() if bits & _DIRECT}


@lru_cache(maxsize=4_096)
def edge_kinds(bits: int) -> tuple[tuple[Type, Subtype, bool], ...]:
    """The edges of a set of ways: (type, subtype, masking). A value that also arrives unmasked is not masked."""
    kinds: list[tuple[Type, Subtype, bool]] = []
    for bit, (kind, subtype) in SUBTYPES.items():
        if bits & bit:
            kinds.append((kind, subtype, False))
        elif bit <= AGGREGATION and bits & bit << MASKED:
            kinds.append((kind, subtype, True))
    return tuple(kinds)


def _ways(bits: int) -> Iterator[int]:
    while bits:
        way = bits & -bits
        yield way
        bits ^= way


def _apply_direct(way: int, bits: int) -> int:
    """Apply one DIRECT way after those of `bits`; INDIRECT ways stay unchanged."""
    plain, masked, rest = bits & _PLAIN, bits >> MASKED & _PLAIN, bits & ~_DIRECT
    if way > _PLAIN:
        way, plain, masked = way >> MASKED, 0, plain | masked
    return rest | _raise_ranks(plain, way) | _raise_ranks(masked, way) << MASKED


def _raise_ranks(ranks: int, rank: int) -> int:
    """The stronger of each rank and the given one."""
    if not ranks or rank == IDENTITY:
        return ranks
    if rank == AGGREGATION:
        return AGGREGATION
    return (ranks & AGGREGATION) | (TRANSFORMATION if ranks & ~AGGREGATION else 0)
