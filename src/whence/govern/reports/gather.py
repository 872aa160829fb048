"""Reads a store and its log for the weekly report."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.gate.rendering.summary import LEADING_TYPES
from whence.govern.incidents.current import ReadIncidents, read_all_traits, read_incidents, read_streaks
from whence.govern.incidents.findings import Finding, FindingKind
from whence.govern.incidents.sources import PAGING_TIER, tier_of
from whence.govern.reports.detection import read_detections
from whence.govern.reports.downtime import LASTS, Checks, Downtime, Watch, measure_downtime
from whence.govern.reports.gate_outcomes import read_gate_outcomes
from whence.govern.reports.incident_times import times_of
from whence.govern.reports.lineage_measures import LineageAt, find_unknown_upstreams, measure_coverage, names_of
from whence.govern.reports.period import DAY, ReportPeriod
from whence.govern.reports.weekly import ReportedIncident, UnusedDataset, Usage, Violations, WeeklyReport
from whence.govern.slos.declared import evaluate_declared
from whence.govern.slos.records import Transition, held_declarations, list_declarations, list_transitions
from whence.log import Log
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.model.traits import DOMAIN, NO_TRAITS
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph
from whence.store.status.dataset_usage import find_read_datasets, read_sizes
from whence.store.status.linked_datasets import KnownDataset, list_known_datasets, read_links, read_origins

UNUSED_DAYS = 30
"""A dataset that no run read for so long is unused."""
_FOR_PEOPLE = frozenset(LEADING_TYPES)
_OF_DATA = frozenset({FindingKind.CHECK, FindingKind.CONTRACT})
"""The findings that say that data is wrong, beside those of objectives, which have open hours."""
_TIER_FACETS = ("whence_tier", *TAG_FACETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSources:
    """A store in one snapshot, without restrictions, and its log, if there is one. `unused_days`: see `Usage`."""

    catalog: StoreCatalog
    graph: StoreGraph
    log: Log | None
    unused_days: int = UNUSED_DAYS


def gather_report(sources: ReportSources, period: ReportPeriod) -> WeeklyReport:
    """The report of a period. The same store, log and period give the same one. Raises LogError, EncryptionError."""
    catalog, graph = sources.catalog, sources.graph
    datasets = list_known_datasets(graph.connection, period.at)
    important = _find_important(catalog, graph, datasets)
    streaks = read_streaks(graph.connection, period.at)
    incidents = read_incidents(catalog, graph, streaks, period.at, is_past=True)
    before, after = (_read_lineage(graph, datasets, at) for at in (period.since - 1, period.at))
    origins, names = read_origins(graph.connection), names_of(datasets)
    unknown = None if after is None else find_unknown_upstreams(after, origins) & names.keys()
    unknown_before = None if before is None else find_unknown_upstreams(before, origins)
    return WeeklyReport(
        period=period,
        position=catalog.reached(),
        coverage_before=None if before is None else measure_coverage(datasets, before, important),
        coverage_after=None if after is None else measure_coverage(datasets, after, important),
        incidents=_incidents(sources, incidents, period),
        incidents_complete=incidents.are_all,
        downtime=_downtime(catalog, graph, important, incidents, period),
        budgets=tuple(evaluate_declared(catalog, graph, held_declarations(catalog, period.at).values(), period.at)),
        violations=_violations(incidents, period),
        unknown_upstreams=None if unknown is None else _first_names(names, unknown),
        new_unknown_upstreams=(
            None if unknown is None or unknown_before is None else _first_names(names, unknown - unknown_before)
        ),
        gate=read_gate_outcomes(catalog, period),
        usage=_usage(sources, datasets, period),
    )


def _first_names(names: Mapping[int, Sequence[DatasetName]], ids: frozenset[int]) -> tuple[DatasetName, ...]:
    return tuple(sorted(names[id_][0] for id_ in ids))


def _is_forgotten(graph: StoreGraph, at: int) -> bool:
    horizon = graph.forgotten_before()
    return horizon is not None and at < horizon


def _read_lineage(graph: StoreGraph, datasets: Sequence[KnownDataset], at: int) -> LineageAt | None:
    """The lineage at a time (µs); None if retention deleted some of it."""
    if _is_forgotten(graph, at):
        return None
    representatives = {one.id: one.representative_id for one in datasets}
    return LineageAt(at=at, links=read_links(graph.connection, at), representatives=representatives)


def _find_important(
    catalog: StoreCatalog, graph: StoreGraph, datasets: Sequence[KnownDataset]
) -> Mapping[int, tuple[DatasetName, ...]]:
    """The names of the datasets of tier 1 under any of their names, by the id of their representative."""
    carrying = {id_ for facet in _TIER_FACETS for id_ in catalog.carrying(facet)}
    named = {one.name: one.representative_id for one in datasets if one.id in carrying}
    found = {named[name] for name, traits in read_all_traits(graph, named).items() if tier_of(traits) == PAGING_TIER}
    return names_of(one for one in datasets if one.representative_id in found)


def _incidents(sources: ReportSources, read: ReadIncidents, period: ReportPeriod) -> tuple[ReportedIncident, ...]:
    received = read_detections(sources.graph.connection, sources.log, read.transitions)
    traits = read_all_traits(sources.graph, {one.root for one in read.incidents})
    found = (
        ReportedIncident(
            root=one.root,
            domain=traits.get(one.root, NO_TRAITS).value_of(DOMAIN),
            times=times_of(one, received, period.at),
        )
        for one in read.incidents
    )
    return tuple(found)


def _downtime(
    catalog: StoreCatalog,
    graph: StoreGraph,
    important: Mapping[int, tuple[DatasetName, ...]],
    read: ReadIncidents,
    period: ReportPeriod,
) -> Mapping[DatasetName, Downtime]:
    """By the representative's name of each dataset of tier 1."""
    watches = _watches(catalog, period)
    findings = [one for incident in read.incidents for one in incident.findings if one.kind in _OF_DATA]
    return {
        names[0]: measure_downtime(
            [watch for dataset, watch in watches if dataset in names],
            _checks(graph, names, findings, period),
            period,
        )
        for names in sorted(important.values())
    }


def _watches(catalog: StoreCatalog, period: ReportPeriod) -> Sequence[tuple[DatasetName, Watch]]:
    """What is recorded of each objective, with its dataset."""
    changed: dict[str, list[Transition]] = {}
    for one in list_transitions(catalog, until=period.at):
        changed.setdefault(one.record.slo, []).append(one)
    return [
        (some[-1].dataset, Watch(declarations=tuple(some), transitions=tuple(changed.get(id_, ()))))
        for id_, some in list_declarations(catalog, period.at).items()
    ]


def _checks(
    graph: StoreGraph, names: Sequence[DatasetName], findings: Sequence[Finding], period: ReportPeriod
) -> Checks:
    results = {one.time for one in graph.checks(map(node_id, names), period.at).found}
    return Checks(
        results=tuple(sorted(time for time in results if time + LASTS > period.since)),
        failures=tuple(sorted((one.since, one.until) for one in findings if one.dataset in names)),
    )


def _violations(read: ReadIncidents, period: ReportPeriod) -> Violations:
    findings = (one for incident in read.incidents for one in incident.findings)
    return Violations(findings=Counter(one.kind for one in findings if period.has(one.since)), is_all=read.are_all)


def _usage(sources: ReportSources, datasets: Sequence[KnownDataset], period: ReportPeriod) -> Usage | None:
    """The unused datasets, the largest first; None if retention deleted reads of the time."""
    since = period.at - sources.unused_days * DAY
    if _is_forgotten(sources.graph, since):
        return None
    connection = sources.graph.connection
    read = find_read_datasets(connection, since, period.at)
    used = {one.representative_id for one in datasets if one.id in read}
    old = {one.representative_id for one in datasets if one.first_seen <= since}
    shown = _for_people(sources.catalog, sources.graph, datasets)
    unused = {id_: names for id_, names in names_of(datasets).items() if id_ in old - used - shown}
    return Usage(
        days=sources.unused_days,
        unused=tuple(sorted(_sized(sources, unused, period.at), key=_largest_first)),
        judged=len(old - shown),
        too_new=len({one.representative_id for one in datasets} - old - shown),
    )


def _for_people(catalog: StoreCatalog, graph: StoreGraph, datasets: Sequence[KnownDataset]) -> frozenset[int]:
    """The dashboards, reports and models: no event reports who looks at them."""
    carrying = frozenset(catalog.carrying("datasetType"))
    typed = {one.name: one.representative_id for one in datasets if one.id in carrying}
    return frozenset(
        typed[name] for name, traits in read_all_traits(graph, typed).items() if traits.types & _FOR_PEOPLE
    )


def _sized(sources: ReportSources, unused: Mapping[int, Sequence[DatasetName]], at: int) -> Iterator[UnusedDataset]:
    """Unused datasets with their sizes, which may be reported under any of their names."""
    ids = {id_: [node_id(name) for name in names] for id_, names in unused.items()}
    sizes = read_sizes(sources.graph.connection, (one for some in ids.values() for one in some), at)
    for id_, names in unused.items():
        known = [sizes[one] for one in ids[id_] if one in sizes]
        yield UnusedDataset(dataset=names[0], size=max(known, key=lambda one: (one.is_whole, one.bytes), default=None))


def _largest_first(one: UnusedDataset) -> tuple[int, DatasetName]:
    return -(one.size.bytes if one.size else -1), one.dataset
