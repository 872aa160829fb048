"""How much is downstream of a node: the counts of its blast radius (docs/blast.md)."""

from dataclasses import dataclass

COUNTED = ("datasets", "fields", "jobs", "dashboards", "models")
"""What is counted, in the order of every array, row and column of counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlastRadius:
    """What is downstream of one node in the current graph, as it was when that was computed.

    `counts` has one number for each of COUNTED. `estimated` names those that are estimates, with the relative standard
    error `error`; the others are exact. `computed_at`: microseconds UTC. `current`: no event came since.
    """

    counts: tuple[int, ...]
    estimated: frozenset[str]
    error: float
    computed_at: int
    current: bool
