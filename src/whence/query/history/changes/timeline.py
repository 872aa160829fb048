"""What changed upstream of a node: all sources of changes as one timeline, the newest first."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from whence.model.ids import Kind, kind_of
from whence.model.names import Node
from whence.query.answers.completeness import completeness_of
from whence.query.answers.values import Completeness, Question
from whence.query.history.changes.code import NO_CODE, CodeChanges, ReadCommits, code_changes
from whence.query.history.changes.contracts import ContractHistories, contract_changes
from whence.query.history.changes.lineage import lineage_changes
from whence.query.history.changes.objectives import objective_changes
from whence.query.history.changes.owners import ReadOwners, owner_changes
from whence.query.history.changes.period import Period
from whence.query.history.changes.schemas import schema_changes
from whence.query.history.changes.scope import Scope, scope_of
from whence.query.history.changes.transitions import Found, TimelineGraph, check_changes, run_changes
from whence.query.history.changes.values import NotKnown, Unknown, UpstreamChange, UpstreamChanges
from whence.query.ports.graph import RunEnds

MOST_CHANGES = 1_000
"""Changes in one answer: the newest."""

_STOPPED = {
    Unknown.CHECKS_WITHHELD: "access",
    Unknown.CHECKS: "checks",
    Unknown.CONTRACTS: "contracts",
    Unknown.RUNS: "runs",
    Unknown.COMMITS: "commits",
    Unknown.OWNERS: "owners",
}
"""The statements that an answer is not complete, and its `stopped_by`."""


def upstream_changes(
    graph: TimelineGraph,
    contracts: ContractHistories,
    node: Node,
    period: Period,
    question: Question,
    most: int = MOST_CHANGES,
    read_commits: ReadCommits | None = None,
    read_owners: ReadOwners | None = None,
) -> UpstreamChanges:
    """What changed at a node and upstream of it in a period. Of a column only its own way counts.

    A node is upstream if it was so when the period began or when it ended. By default along DIRECT and INDIRECT edges.
    """
    scope = scope_of(graph, node, question, period.ends)
    code = code_changes(graph, scope, period.since, period.until, read_commits)
    owners = owner_changes(graph, scope, period.since, period.until, read_owners)
    return changes_in(graph, contracts, scope, period, most, code, owners)


def changes_in(
    graph: TimelineGraph,
    contracts: ContractHistories,
    scope: Scope,
    period: Period,
    most: int = MOST_CHANGES,
    code: CodeChanges = NO_CODE,
    owners: Found = ([], []),
) -> UpstreamChanges:
    """What changed at the nodes of a scope in a period. `code` and `owners`: changes of these, which the log has."""
    since, until = period.since, period.until
    found = lineage_changes(graph, scope, since, until)
    found += objective_changes(contracts.objective_changes(since, until), scope)
    not_known = list(scope.not_known)
    for some, unknown in (
        schema_changes(graph, scope, since, until, with_renames=True),
        run_changes(graph, scope, since, until),
        check_changes(graph, scope, since, until),
        contract_changes(contracts, scope, since, until),
        (code.found, code.not_known(scope)),
        owners,
    ):
        found += some
        not_known += unknown
    ordered = sorted(found, key=lambda one: one.order)
    past = completeness_of(graph, since)
    return UpstreamChanges(
        node=scope.root,
        since=since,
        until=until,
        datasets=scope.count(Kind.DATASET),
        jobs=scope.count(Kind.JOB),
        changes=tuple(_proven(graph, ordered[:most])),
        not_known=tuple(not_known),
        completeness=_completeness(
            replace(scope.completeness, as_of=period.ends[1], recorded_from=None),
            past,
            not_known,
            has_more=len(ordered) > most,
        ),
    )


def _completeness(
    known: Completeness, past: Completeness, not_known: Iterable[NotKnown], has_more: bool
) -> Completeness:
    """The completeness of a timeline: of its traversals, of the past, and of its sources."""
    reasons = (
        known.stopped_by if known.stopped_by not in ("columns", "beginning") else None,
        "changes" if has_more else None,
        "retention" if past.stopped_by == "retention" else None,
        *(_STOPPED.get(one.reason) for one in not_known),
        "columns" if known.stopped_by == "columns" else None,
    )
    stopped_by = next(filter(None, reasons), None)
    complete = stopped_by is None
    return replace(known, complete=complete, stopped_by=stopped_by, forgotten_before=past.forgotten_before)


def _proven(graph: RunEnds, changes: Sequence[UpstreamChange]) -> Iterable[UpstreamChange]:
    """The changes with the events that prove them, and with the names of their runs."""
    run_times = {(one.proof.run_id, one.proof.time) for one in changes if one.proof.run_id}
    by_run = graph.run_events(run_times) if run_times else {}
    by_id = graph.events({one.proof.event_id for one in changes if one.proof.event_id})
    run_ids = {run for run, _ in run_times} | {of for _, of in by_id.values() if of and kind_of(of) is Kind.RUN}
    runs = {row.id: row.name for row in graph.runs(run_ids)} if run_ids else {}
    for one in changes:
        proof = one.proof
        event, subject = by_id.get(proof.event_id, (by_run.get((proof.run_id, proof.time)), proof.run_id))
        run = one.run or runs.get(subject)
        job = one.job or (None if run is None else run.job)
        yield replace(one, event=event, run=run, job=job)
