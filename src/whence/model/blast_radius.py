"""The blast radius of a node: counts of what is downstream of it (docs/explanation/blast-radius.md)."""

from dataclasses import dataclass

COUNTED = ("datasets", "fields", "jobs", "dashboards", "models")
"""The things counted, in the order of every array, row and column of counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlastRadius:
    """The counts downstream of one node in the current graph, at the time of the computation.

    `counts` has one number for each of COUNTED. `estimated` names the estimates among them, with the relative standard
    error `error`; the others are exact. `computed_at`: microseconds UTC. `current`: no event was applied since.
    """

    counts: tuple[int, ...]
    estimated: frozenset[str]
    error: float
    computed_at: int
    current: bool
