"""What a person who is paged for an incident needs to know, gathered from a store: one shape for all who show it.

Everything is read through the catalog and the graph of one viewer, so it has no name that they may not see.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.incidents.contract_violations import read_recent_violations
from whence.govern.incidents.detail.impact import Downstream, find_downstream
from whence.govern.incidents.detail.mitigation import (
    ReadReports,
    RollbackRun,
    SuggestedPause,
    find_broken_node,
    find_rollback,
    suggest_pause,
)
from whence.govern.incidents.findings import FindingKind
from whence.govern.incidents.incident import HOUR, Incident
from whence.govern.incidents.sources import tier_of
from whence.govern.incidents.states import possible_acts
from whence.govern.slos.declared import evaluate_declared
from whence.govern.slos.records import Declaration, held_declarations
from whence.model.access import Action, Viewer
from whence.model.catalog import Window, Write
from whence.model.events import RunState
from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.model.records.incidents import ActText
from whence.model.slo_records import NotifyText
from whence.model.traits import RUNBOOK, TRAIT_FACETS, read_traits
from whence.query.answers.values import Question
from whence.query.diagnosis.diagnosis import PossibleCause, diagnose
from whence.query.history.changes.code import ReadCommits
from whence.query.history.changes.period import Period
from whence.query.ports.catalog import Catalog
from whence.query.runs.commits import Commit
from whence.query.visibility.visible_ids import QuestionGraph

BEFORE = 24 * HOUR
"""How long before an incident its causes and violations are looked for."""
MOST_CAUSES, MOST_UPSTREAM, MOST_BUDGETS, MOST_WRITES = 3, 20, 20, 50

Held = Sequence[Declaration]
"""The objectives that hold."""
Severity = Literal["critical", "high", "moderate", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamFreshness:
    """A dataset that the root is made of, when it was written last (µs, None: not known), and whether it is wrong."""

    dataset: DatasetName
    last_written: int | None
    is_wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractViolation:
    """A rule of the contract of the root, or of a dataset that it is made of, and when it was violated (µs). `until`:
    None while it is.
    """

    dataset: DatasetName
    rule: str
    column: str
    since: int
    until: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGood:
    """The last run that wrote the root before the incident, when it did (µs), and its commit, if it is known."""

    run: RunName
    time: int
    commit: Commit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLeft:
    """An objective of a dataset with findings, and the share of its error budget that is left; None: it has none."""

    id: str
    slo: str
    dataset: DatasetName
    remaining: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentDetail:
    """An incident, with everything that is known around it. Empty where the viewer may not see the root.

    `violations_complete`: whether it is known that there are no others; `impact_complete`: whether all downstream nodes
    were counted. `rollback`, `pause` and `possible_acts`: what the viewer may do about it; none of them if it is seen
    as of a time in the past, and the first two only while data is wrong.
    """

    incident: Incident
    severity: Severity
    tier: int | None
    notify: NotifyText | None
    owners: tuple[str, ...] = ()
    runbook: str = ""
    candidates: tuple[PossibleCause, ...] = ()
    upstream: tuple[UpstreamFreshness, ...] = ()
    contract_violations: tuple[ContractViolation, ...] = ()
    violations_complete: bool = True
    last_good: LastGood | None = None
    rollback: RollbackRun | None = None
    pause: SuggestedPause | None = None
    impact: tuple[Downstream, ...] = ()
    impact_complete: bool = True
    budgets: tuple[BudgetLeft, ...] = ()
    possible_acts: tuple[ActText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailSources:
    """Where the details come from, at a time (µs); `past`: the same, None for now. `whole` and `whole_graph` are not
    restricted: objectives are evaluated by everything, for datasets that the viewer may see.
    """

    catalog: Catalog
    graph: QuestionGraph
    whole: Catalog
    whole_graph: Observed
    viewer: Viewer
    read_commits: ReadCommits
    read_reports: ReadReports
    at: int
    past: int | None = None


def gather_detail(one: Incident, sources: DetailSources) -> IncidentDetail:
    """Gather what is known around an incident."""
    root = one.root
    if not sources.viewer.can_see(root):
        return _without_root(one)
    traits = read_traits(sources.graph.facets([node_id(root)], TRAIT_FACETS))
    parents = _read_parents(sources, root)
    held = tuple(held_declarations(sources.whole, sources.at).values())
    downstream = find_downstream(sources.graph, root, sources.past)
    violations, are_all_violations = _contract_violations(sources, one, [root, *parents])
    return IncidentDetail(
        incident=one,
        severity=severity_of(one.notify, tier_of(traits)),
        tier=tier_of(traits),
        notify=one.notify,
        owners=tuple(sorted(traits.owners)),
        runbook=_runbook(one, held) or traits.value_of(RUNBOOK),
        candidates=_candidates(sources, one),
        upstream=_freshness(sources, one, parents),
        contract_violations=violations,
        violations_complete=are_all_violations,
        last_good=_last_good(sources, one),
        rollback=_rollback(sources, one),
        pause=_pause(sources, one),
        impact=downstream.found,
        impact_complete=downstream.complete,
        budgets=_budgets(sources, one, held),
        possible_acts=_possible_acts(sources, one),
    )


def _without_root(one: Incident) -> IncidentDetail:
    """All details are about the root: of a hidden one nothing is known, and that is said."""
    return IncidentDetail(
        incident=one,
        severity=severity_of(one.notify, None),
        tier=None,
        notify=one.notify,
        violations_complete=False,
        impact_complete=False,
    )


def _possible_acts(sources: DetailSources, one: Incident) -> tuple[ActText, ...]:
    may_act = sources.past is None and sources.viewer.is_allowed(Action.STEWARD, one.root.namespace)
    return possible_acts(one.state) if may_act else ()


def _has_wrong_data(sources: DetailSources, one: Incident) -> bool:
    """Whether data is wrong now: not if the incident is over, nor if it is about a policy, a certification, a lineage
    baseline or a silent source.
    """
    is_going_on = sources.past is None and one.state not in ("resolved", "merged")
    return is_going_on and not all(each.family for each in one.findings)


def _rollback(sources: DetailSources, one: Incident) -> RollbackRun | None:
    if not _has_wrong_data(sources, one):
        return None
    return find_rollback(sources.graph, sources.catalog, sources.read_reports, one)


def _pause(sources: DetailSources, one: Incident) -> SuggestedPause | None:
    """A finding's column is named to those who may see everything, as in the finding itself."""
    if not _has_wrong_data(sources, one):
        return None
    node = find_broken_node(sources.graph, one, sources.at) if sources.viewer.can_see_all else one.root
    return suggest_pause(sources.graph, sources.catalog, node)


def severity_of(notify: NotifyText | None, tier: int | None) -> Severity:
    """How bad it is, by how urgent it is and the tier of its root."""
    if notify == "page":
        return "critical" if tier == 1 else "high"
    is_important = tier is not None and tier <= 2
    return "moderate" if notify == "ticket" and is_important else "low"


def _runbook(one: Incident, held: Held) -> str:
    """That of the first violated objective of the root which has one."""
    violated = [each.rule for each in one.findings if each.kind is FindingKind.SLO and each.dataset == one.root]
    found = {
        f"{each.record.service}/{each.record.name}": each.objective.runbook
        for each in held
        if each.dataset == one.root and each.objective
    }
    return next((found[rule] for rule in violated if found.get(rule)), "")


def _read_parents(sources: DetailSources, root: DatasetName) -> Sequence[DatasetName]:
    """The visible datasets that the root is made of, by name."""
    hop = Hop(Direction.UPSTREAM, Grain.DATASET, sources.past)
    names = sources.graph.groups([node_id(root)]).get(node_id(root), (root,))
    rows = sources.graph.edges(list(map(node_id, names)), hop, 1_000)
    ids = {row.far_dataset_id for row in rows if row.far_dataset_id}
    found = sources.graph.nodes(ids - sources.graph.hidden(ids))
    return sorted(name for name in found.values() if isinstance(name, DatasetName) and name not in names)


def _candidates(sources: DetailSources, one: Incident) -> tuple[PossibleCause, ...]:
    period = Period(since=one.since - BEFORE, until=sources.at, is_now=sources.past is None)
    contracts = EvaluatedContracts(sources.catalog, sources.graph)
    question = Question(at=sources.past)
    found = diagnose(sources.graph, contracts, one.root, period, question, read_commits=sources.read_commits)
    hidden = sources.graph.hidden([node_id(cause.dataset) for cause in found.causes])
    causes = [cause for cause in found.causes if node_id(cause.dataset) not in hidden]
    return tuple(causes[:MOST_CAUSES])


def _freshness(sources: DetailSources, one: Incident, parents: Sequence[DatasetName]) -> tuple[UpstreamFreshness, ...]:
    wrong = {each.dataset for each in one.findings if each.is_open_at(sources.at)}
    some = parents[:MOST_UPSTREAM]
    times = sources.catalog.last_write_times(map(node_id, some))
    return tuple(
        UpstreamFreshness(dataset=name, last_written=times.get(node_id(name)), is_wrong=name in wrong) for name in some
    )


def _contract_violations(
    sources: DetailSources, one: Incident, datasets: Iterable[DatasetName]
) -> tuple[tuple[ContractViolation, ...], bool]:
    """The violations, and whether these are all."""
    known = read_recent_violations(sources.catalog, sources.graph, datasets, one.since - BEFORE, sources.at)
    found = (
        ContractViolation(
            dataset=each.dataset,
            rule=each.verdict.rule,
            column=each.verdict.column,
            since=each.since,
            until=each.until,
        )
        for each in known.found
        if _sees_column(sources.viewer, each.dataset, each.verdict.column)
    )
    return tuple(found), known.complete


def _sees_column(viewer: Viewer, dataset: DatasetName, column: str) -> bool:
    """The name of a rule without a column may have any name in it."""
    return viewer.can_see_all or (bool(column) and viewer.can_see(FieldName(dataset, column)))


def _last_good(sources: DetailSources, one: Incident) -> LastGood | None:
    """The last completed run that wrote the root before the incident."""
    writes = sources.catalog.writes(node_id(one.root), Window(limit=MOST_WRITES))
    good = next((each for each in writes if _is_good(each, one.opened_by.since, sources.viewer)), None)
    if good is None:
        return None
    commits = sources.read_commits([good.run.id])
    return LastGood(run=good.run.name, time=good.time, commit=commits.get(good.run.id))


def _is_good(each: Write, before: int, viewer: Viewer) -> bool:
    job: JobName = each.run.name.job
    return each.run.state is RunState.COMPLETE and each.time < before and viewer.can_see(job)


def _budgets(sources: DetailSources, one: Incident, held: Held) -> tuple[BudgetLeft, ...]:
    """The objectives of visible datasets with findings, those with the least budget first."""
    wanted = {each.dataset for each in one.findings if sources.viewer.can_see(each.dataset)}
    declared = [each for each in held if each.dataset in wanted]
    found = [
        BudgetLeft(
            id=each.declaration.id,
            slo=f"{each.declaration.record.service}/{each.declaration.record.name}",
            dataset=each.declaration.dataset,
            remaining=each.judgement.budget.remaining,
        )
        for each in evaluate_declared(sources.whole, sources.whole_graph, declared, sources.at)
        if each.judgement is not None and each.judgement.budget is not None
    ]
    return tuple(sorted(found, key=lambda each: (each.remaining or 0.0, each.id))[:MOST_BUDGETS])
