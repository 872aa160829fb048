"""The incidents in a store at a time: reads findings, lineage and acts, and folds them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from whence.govern.contracts.evaluation.observations import ids_of
from whence.govern.contracts.evaluation.violations import Violation
from whence.govern.incidents.contract_violations import ContractGraph, read_judged_contracts
from whence.govern.incidents.findings import Finding, findings_at
from whence.govern.incidents.fold import fold_incidents
from whence.govern.incidents.incident import HOUR, Act, Incident, Recorded, UpstreamRelation
from whence.govern.incidents.maintenance import defer_notification, maintenance_of
from whence.govern.incidents.recording import find_new_transitions
from whence.govern.incidents.records import (
    IncidentTransition,
    last_transitions,
    list_acts,
    list_incident_transitions,
    recorded_incidents,
    transition_event,
)
from whence.govern.incidents.relation import read_relation
from whence.govern.incidents.sources import (
    CheckFailure,
    Failure,
    check_findings,
    contract_findings,
    contract_silence_findings,
    datasets_of_silences,
    failure_findings,
    silence_findings,
    slo_findings,
    tier_of,
    without_contracted,
)
from whence.govern.rule_states.findings import certification_findings, lineage_findings, policy_findings
from whence.govern.rule_states.records import list_rule_transitions
from whence.govern.slos.calendars import Maintenance
from whence.govern.slos.records import Declaration, Transition, list_declarations, list_transitions
from whence.model.catalog import RunDatasets
from whence.model.graph import FacetRow
from whence.model.ids import node_id
from whence.model.names import DatasetName, RunName, parse_node
from whence.model.traits import TRAIT_FACETS, Traits, read_traits
from whence.openlineage.facets.assertions import Assertion
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Runs
from whence.store.status.check_streaks import CheckStreak, CheckStreaks, read_check_streaks
from whence.store.status.failure_streaks import LAPSE, FailureStreak, FailureStreaks, read_failure_streaks

Json = dict[str, Any]
LOOKBACK = 30 * 24 * HOUR
"""How long ago a finding may have ended to be part of an incident that is listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadIncidents:
    """The incidents at a time (µs), by beginning; what was recorded of them until then; whether all findings were read;
    and how far the store was (`Catalog.reached`).
    """

    at: int
    incidents: Sequence[Incident]
    transitions: Sequence[IncidentTransition]
    are_all: bool
    reached: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedIncidents:
    """The incidents at a time, and the transitions that are to be recorded; of each incident in order."""

    read: ReadIncidents
    new: tuple[IncidentTransition, ...]

    @property
    def events(self) -> Sequence[Json]:
        """The events of the new transitions."""
        roots = ((one, parse_node(one.record.dataset)) for one in self.new)
        return [
            transition_event(one.record, root.namespace, one.time)
            for one, root in roots
            if isinstance(root, DatasetName)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaks:
    """Failed runs and failed checks in a store at a time."""

    runs: FailureStreaks
    checks: CheckStreaks


def read_streaks(connection: Connection, at: int) -> Streaks:
    """The failed runs and checks for `read_incidents` at the same time (µs)."""
    since = at - LOOKBACK - LAPSE
    checks = read_check_streaks(connection, since, at)
    return Streaks(runs=read_failure_streaks(connection, since, at), checks=checks)


def read_incidents(
    catalog: Catalog, graph: ContractGraph, streaks: Streaks, at: int, *, is_past: bool
) -> ReadIncidents:
    """Read the incidents. `streaks`: as read for the same time; `is_past`: by the lineage at the time, not now."""
    findings = list(findings_at(_read_findings(catalog, graph, streaks, at), at))
    kept = [one for one in findings if one.until is None or one.until > at - LOOKBACK]
    relation = read_relation(graph, {one.dataset for one in kept}, at if is_past else None)
    transitions = list_incident_transitions(catalog, until=at)
    incidents = _fold(kept, relation, list_acts(catalog, until=at), recorded_incidents(transitions))
    are_all = streaks.runs.are_all and streaks.checks.are_all
    return ReadIncidents(
        at=at, incidents=incidents, transitions=transitions, are_all=are_all, reached=catalog.reached()
    )


def _fold(
    findings: Iterable[Finding],
    relation: UpstreamRelation,
    acts: Sequence[Act],
    recorded: Mapping[str, Recorded],
) -> Sequence[Incident]:
    """The incidents of each family of findings for itself, by beginning."""
    families: dict[str, list[Finding]] = {}
    for one in findings:
        families.setdefault(one.family, []).append(one)
    found = [each for some in families.values() for each in fold_incidents(some, relation, acts, recorded)]
    return sorted(found, key=lambda each: (each.since, each.id))


def compute_incidents(catalog: Catalog, graph: ContractGraph, streaks: Streaks, now: int) -> ComputedIncidents:
    """Compute the incidents at a time (µs), and which transitions the store lacks."""
    read = read_incidents(catalog, graph, streaks, now, is_past=False)
    last = last_transitions(read.transitions)
    new = find_new_transitions(read.incidents, last, now, are_all=read.are_all)
    return ComputedIncidents(read=read, new=tuple(new))


def _read_findings(catalog: Catalog, graph: ContractGraph, streaks: Streaks, at: int) -> Iterator[Finding]:
    objectives = list_transitions(catalog, until=at)
    contracts = list(read_judged_contracts(catalog, graph, streaks.checks.results, at, at - LOOKBACK))
    violations = [each for one in contracts for each in one.violations]
    of_data = list(_findings_of_data(catalog, graph, streaks, (objectives, violations), at))
    yield from of_data
    yield from silence_findings(objectives, read_tiers(graph, datasets_of_silences(objectives)))
    silent = [(one.dataset, time) for one in contracts for time in one.silent]
    yield from contract_silence_findings(silent, read_tiers(graph, {name for name, _ in silent}))
    transitions = list_rule_transitions(catalog, until=at)
    yield from policy_findings(transitions)
    yield from lineage_findings(transitions)
    yield from certification_findings(transitions, of_data)


def _findings_of_data(
    catalog: Catalog,
    graph: ContractGraph,
    streaks: Streaks,
    rules: tuple[Sequence[Transition], Sequence[Violation]],
    at: int,
) -> Iterator[Finding]:
    objectives, violations = rules
    declared = list_declarations(catalog, at)
    yield from slo_findings(objectives, _columns_of_slos(declared))
    failures = list(_failures(catalog, graph, streaks.runs.found))
    failed = list(_check_failures(graph, streaks.checks.found))
    ids = ids_of(graph, sorted({one.dataset for one in failed} | {one.dataset for one in violations}))
    checks = list(without_contracted(failed, violations, ids))
    datasets = {name for one in failures for name in one.outputs}
    datasets |= {one.dataset for one in checks} | {one.dataset for one in violations}
    tiers = read_tiers(graph, datasets)
    windows = _read_maintenance(graph, declared)
    found = (*failure_findings(failures, tiers), *check_findings(checks, tiers), *contract_findings(violations, tiers))
    yield from (defer_notification(one, windows.get(node_id(one.dataset), ())) for one in found)


def _read_maintenance(
    graph: ContractGraph, declared: Mapping[str, Sequence[Declaration]]
) -> Mapping[int, Sequence[Maintenance]]:
    """The maintenance of datasets, by the ids of all their names."""
    found = maintenance_of(declared.values())
    ids = ids_of(graph, sorted(found)) if found else {}
    return {id_: found[name] for name, several in ids.items() for id_ in several}


def _columns_of_slos(declared: Mapping[str, Sequence[Declaration]]) -> Mapping[tuple[str, str], str]:
    every = (one for some in declared.values() for one in some)
    return {(one.id, one.version): one.objective.column for one in every if one.objective}


def read_tiers(graph: Runs, datasets: Iterable[DatasetName]) -> Mapping[DatasetName, int]:
    """The tiers of datasets that have one."""
    found = {name: tier_of(traits) for name, traits in read_all_traits(graph, datasets).items()}
    return {name: tier for name, tier in found.items() if tier is not None}


def read_all_traits(graph: Runs, datasets: Iterable[DatasetName]) -> Mapping[DatasetName, Traits]:
    """The traits of datasets, under just these names."""
    names = {node_id(one): one for one in datasets}
    rows: dict[int, list[FacetRow]] = {}
    for row in graph.facets(sorted(names), TRAIT_FACETS):
        rows.setdefault(row.subject_id, []).append(row)
    return {names[id_]: read_traits(some) for id_, some in rows.items()}


def _failures(catalog: Catalog, graph: Runs, streaks: Sequence[FailureStreak]) -> Iterator[Failure]:
    """Streaks with names. A failed run that reports no output was to write what the last good one wrote."""
    ids = {id_ for one in streaks for id_ in (one.first, one.good) if id_}
    runs = {row.id: row.name for row in graph.runs(ids)}
    touched = catalog.touched(ids)
    outputs = {one: _outputs(touched, one) for one in streaks}
    names = graph.nodes({id_ for some in outputs.values() for id_ in some})
    for one in streaks:
        run = runs.get(one.first)
        written = [name for id_ in outputs[one] if isinstance(name := names.get(id_), DatasetName)]
        if run is None or not written:
            continue
        good = runs.get(one.good)
        yield Failure(
            id=_streak_id(run, good, lapsed=one.lapsed),
            run=run,
            outputs=tuple(sorted(written)),
            since=one.since,
            until=one.until,
            failures=one.failures,
        )


def _outputs(touched: Mapping[int, RunDatasets], one: FailureStreak) -> Sequence[int]:
    several = (touched[id_].outputs for id_ in (one.first, one.good) if id_ in touched)
    return next((outputs for outputs in several if outputs), ())


def _check_failures(graph: Runs, streaks: Sequence[CheckStreak]) -> Iterator[CheckFailure]:
    """Streaks of checks with names."""
    runs = {row.id: row.name for row in graph.runs({id_ for one in streaks for id_ in (one.first, one.good) if id_})}
    names = graph.nodes({one.dataset_id for one in streaks})
    for one in streaks:
        dataset, run = names.get(one.dataset_id), runs.get(one.first)
        if run is not None and isinstance(dataset, DatasetName):
            yield CheckFailure(
                id=_streak_id(run, runs.get(one.good), lapsed=one.lapsed),
                dataset=dataset,
                check=one.name,
                column=one.column or None,
                run=run,
                since=one.since,
                until=one.until,
                reason=_result_text(one.last),
            )


def _result_text(one: Assertion) -> str:
    found = one.actual or (f"{one.failures} failures" if one.failures is not None else "")
    parts = (f"expected {one.expected}" if one.expected else "", f"found {found}" if found else "")
    return ", ".join(filter(None, parts))


def _streak_id(run: RunName, good: RunName | None, *, lapsed: bool) -> str:
    """The good run before it: a failed run that arrives late, or that is forgotten, leaves the id."""
    return "/".join((good.run_id if good else "", run.run_id if lapsed else ""))
