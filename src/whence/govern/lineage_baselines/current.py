"""The baselines in a store at a time, and how the lineage differs from them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.errors import EventError
from whence.govern.contracts.evaluation.observations import Observed, ids_of
from whence.govern.lineage_baselines.drift import Drift, drift_text, find_drift, has_drifted
from whence.govern.lineage_baselines.records import LineageBaseline, held_baselines
from whence.govern.lineage_baselines.upstream import read_upstream
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.model.records.lineage_baselines import LineageBaselineRecord
from whence.query.ports.catalog import Catalog

MOST_EDGES = 20_000
"""Edges of a baseline: their keys are in its event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBaseline:
    """A baseline, and how the lineage differs from it."""

    baseline: LineageBaseline
    drift: Drift

    @property
    def text(self) -> str:
        """What differs, for people."""
        return drift_text(self.drift)


def accept_upstream(graph: Observed, name: DatasetName, reason: str) -> LineageBaselineRecord:
    """The record that accepts the current lineage upstream of a dataset. Raises EventError."""
    lineage = read_upstream(graph, [name], None)[name]
    if not lineage.complete or len(lineage.edges) > MOST_EDGES:
        text = f"more than {MOST_EDGES:,} edges are upstream of it; accept a dataset that is nearer to the sources"
        raise EventError("/node", text, 409)
    keys = tuple(sorted(one.key for one in lineage.edges))
    position = ",".join(map(str, graph.reached()))
    return LineageBaselineRecord(dataset=str(name), edges=keys, position=position, reason=reason)


def compare_baselines(catalog: Catalog, graph: Observed, now: int, at: int | None = None) -> Iterator[ComparedBaseline]:
    """The baselines that hold at a time (µs), None: at `now`, compared with the lineage then."""
    yield from compare(held_baselines(catalog, now if at is None else at), graph, at)


def compare(held: Mapping[DatasetName, LineageBaseline], graph: Observed, at: int | None) -> Iterator[ComparedBaseline]:
    """Some baselines, compared with the lineage at a time (µs), None: with the current one."""
    current = read_upstream(graph, list(held), at) if held else {}
    for name, one in held.items():
        now = current[name]
        if now.complete and not has_drifted(one.record, now):
            yield ComparedBaseline(baseline=one, drift=Drift(state="ok"))
            continue
        # Only what differs needs the lineage of then.
        then = read_upstream(graph, [name], one.time)[name]
        yield ComparedBaseline(baseline=one, drift=find_drift(one.record, now, then))


def compare_one(
    catalog: Catalog, graph: Observed, name: DatasetName, now: int, at: int | None = None
) -> ComparedBaseline | None:
    """The baseline of a dataset by all its names, compared with the lineage at a time (µs); None without one."""
    (ids,) = ids_of(graph, [name]).values()
    held = held_baselines(catalog, now if at is None else at)
    own = {one: baseline for one, baseline in held.items() if node_id(one) in ids}
    latest = max(own.values(), key=lambda one: one.time, default=None)
    return next(compare({latest.dataset: latest}, graph, at)) if latest else None
