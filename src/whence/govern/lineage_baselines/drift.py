"""How lineage differs from an accepted baseline: a pure function of the baseline, the lineage now, and that of then.

The baseline alone decides what differs. The lineage of then only gives names to edges that are gone: late
events may have changed it, or it may be forgotten.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from whence.govern.lineage_baselines.upstream import UpstreamEdge, UpstreamLineage
from whence.model.records.lineage_baselines import LineageBaselineRecord

ChangeText = Literal["added", "removed", "changed"]
DriftState = Literal["ok", "drifted", "not evaluated"]
MOST_NAMED = 5
"""Edges that a finding names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDrift:
    """An edge that differs from the baseline, with its transformations before and after."""

    change: ChangeText
    edge: UpstreamEdge
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What differs, by target and source. `forgotten`: removed edges that the store does not know any more."""

    state: DriftState
    changes: tuple[EdgeDrift, ...] = ()
    forgotten: int = 0


def has_drifted(baseline: LineageBaselineRecord, now: UpstreamLineage) -> bool:
    """Whether the lineage differs from a baseline; read completely."""
    return {one.key for one in now.edges} != set(baseline.edges)


def find_drift(baseline: LineageBaselineRecord, now: UpstreamLineage, then: UpstreamLineage) -> Drift:
    """What differs from a baseline. `then`: the lineage at the time of the baseline, as the store has it."""
    if not now.complete:
        return Drift(state="not evaluated")
    accepted = {_link(key): key for key in baseline.edges}
    past = {_link(one.key): one for one in then.edges if accepted.get(_link(one.key)) == one.key}
    current = {_link(one.key): one for one in now.edges}
    changes = [*_present(accepted, past, current), *_removed(accepted, past, current)]
    forgotten = sum(link not in current and link not in past for link in accepted)
    ordered = tuple(sorted(changes, key=lambda one: (one.edge.order, one.change)))
    return Drift(state="drifted" if changes or forgotten else "ok", changes=ordered, forgotten=forgotten)


def drift_text(drift: Drift) -> str:
    """What differs, in one line for people."""
    named = [_text(one) for one in drift.changes[:MOST_NAMED]]
    more = len(drift.changes) - len(named)
    rest = [f"{more} more edges differ"] if more else []
    gone = [f"{drift.forgotten} removed that the store does not know any more"] if drift.forgotten else []
    return "; ".join((*named, *rest, *gone))


def _link(key: str) -> str:
    return key.partition(".")[0]


def _present(
    accepted: dict[str, str], past: dict[str, UpstreamEdge], current: dict[str, UpstreamEdge]
) -> Iterator[EdgeDrift]:
    for link, one in current.items():
        if link not in accepted:
            yield EdgeDrift(change="added", edge=one, after=one.transformations)
        elif accepted[link] != one.key:
            before = past[link].transformations if link in past else ()
            yield EdgeDrift(change="changed", edge=one, before=before, after=one.transformations)


def _removed(
    accepted: Iterable[str], past: dict[str, UpstreamEdge], current: dict[str, UpstreamEdge]
) -> Iterator[EdgeDrift]:
    for link in accepted:
        if link in past and link not in current:
            yield EdgeDrift(change="removed", edge=past[link], before=past[link].transformations)


def _text(one: EdgeDrift) -> str:
    edge = one.edge
    if edge.source is None:
        word = {"added": "are no longer reported", "removed": "are reported again"}.get(one.change, "changed")
        return f"the sources of {edge.target} {word}"
    how = f" ({'; '.join(one.before) or '?'} → {'; '.join(one.after)})" if one.change == "changed" else ""
    return f"{one.change}: {edge.source} → {edge.target}{how}"
