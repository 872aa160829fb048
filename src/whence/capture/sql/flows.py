"""Provenance as sets: which leaves flow into a value, and how. The algebra of transformations, as bits.

A `Flow` maps each leaf to the ways in which it gets there. A way is a bit: three DIRECT ones, the same three masked,
and six INDIRECT ones. So merging is `|`, and a chain of queries costs what its sets cost, not what its paths cost.
Composition follows OpenLineage (`spark_column_lineage.md`): AGGREGATION > TRANSFORMATION > IDENTITY, masking is or,
and of a path with INDIRECT steps the last one says the kind.
"""

from collections.abc import Iterator
from functools import lru_cache

from whence.capture.sql.lineage import Column, Subtype, Table, Type

IDENTITY, TRANSFORMATION, AGGREGATION = 1, 2, 4
MASKED = 3
"""How far a bit is moved when its value is masked."""
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
    """A column of a table that this statement does not make. One object for each, so that sets compare by identity."""

    __slots__ = ("column", "conditions", "confidence", "home", "name", "reason")

    def __init__(self, home: "Home", name: str, confidence: float, reason: str) -> None:
        self.home = home
        self.name = name
        self.confidence = confidence
        self.reason = reason
        self.column = Column(home.table, name)
        self.conditions: dict[int, list[object]] = {}
        """The conditions on rows that it stands in, by INDIRECT kind: nodes, or texts."""


class Home:
    """A table as a source of leaves: each of its columns has one leaf for each way in which the name was resolved."""

    __slots__ = ("leaves", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.leaves: dict[tuple[str, str], Leaf] = {}

    def leaf(self, name: str, confidence: float = 1.0, reason: str = "schema") -> Leaf:
        key = (name, reason)
        found = self.leaves.get(key)
        if found is None:
            found = self.leaves[key] = Leaf(self, name, confidence, reason)
        return found


Flow = dict[Leaf, int]
"""Shared by those that pass it on unchanged: never changed after it was made."""
NOTHING: Flow = {}


@lru_cache(maxsize=65_536)
def composed(step: Step, bits: int) -> int:
    """The ways of `bits`, each followed by all the ways of `step`."""
    result = step & ~_DIRECT
    for way in _ways(step & _DIRECT):
        result |= _then(way, bits)
    return result


def absorb(into: Flow, flow: Flow, step: Step) -> None:
    """Add a flow, followed by a step."""
    if step == IDENTITY:
        for leaf, bits in flow.items():
            into[leaf] = into.get(leaf, 0) | bits
        return
    for leaf, bits in flow.items():
        into[leaf] = into.get(leaf, 0) | composed(step, bits)


def stepped(flow: Flow, step: Step) -> Flow:
    """A flow, followed by a step."""
    if step == IDENTITY or not flow:
        return flow
    return {leaf: composed(step, bits) for leaf, bits in flow.items()}


def joined(*flows: Flow) -> Flow:
    """All that flows in any of them."""
    some = [flow for flow in flows if flow]
    if not some:
        return NOTHING
    first, *others = some
    if not others:
        return first
    result = dict(first)
    for flow in others:
        absorb(result, flow, IDENTITY)
    return result


def indirect(flow: Flow) -> Flow:
    """Only what is INDIRECT."""
    return {leaf: bits & ~_DIRECT for leaf, bits in flow.items() if bits & ~_DIRECT}


def directed(flow: Flow) -> Flow:
    """Only what is DIRECT."""
    return {leaf: bits & _DIRECT for leaf, bits in flow.items() if bits & _DIRECT}


@lru_cache(maxsize=4_096)
def edges_of(bits: int) -> tuple[tuple[Type, Subtype, bool], ...]:
    """What a set of ways says: (type, subtype, masking). A value that also comes unmasked is not masked."""
    said: list[tuple[Type, Subtype, bool]] = []
    for bit, (kind, subtype) in SUBTYPES.items():
        if bits & bit:
            said.append((kind, subtype, False))
        elif bit <= AGGREGATION and bits & bit << MASKED:
            said.append((kind, subtype, True))
    return tuple(said)


def _ways(bits: int) -> Iterator[int]:
    while bits:
        way = bits & -bits
        yield way
        bits ^= way


def _then(way: int, bits: int) -> int:
    """One DIRECT way after those of `bits`; INDIRECT ones stay what they are."""
    plain, masked, rest = bits & _PLAIN, bits >> MASKED & _PLAIN, bits & ~_DIRECT
    if way > _PLAIN:
        way, plain, masked = way >> MASKED, 0, plain | masked
    return rest | _raised(plain, way) | _raised(masked, way) << MASKED


def _raised(ranks: int, rank: int) -> int:
    """The stronger of the two, for each."""
    if not ranks or rank == IDENTITY:
        return ranks
    if rank == AGGREGATION:
        return AGGREGATION
    return (ranks & AGGREGATION) | (TRANSFORMATION if ranks & ~AGGREGATION else 0)
