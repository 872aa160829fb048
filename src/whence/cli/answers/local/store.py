"""Questions to a store on this machine, with the same answers as from a server.

What only some questions need is imported by them: a command starts in two thirds of the time.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack, cast

import msgspec

from whence.cli.answers.local.gate_records import read_approvals, read_waivers
from whence.cli.answers.local.options import answer_of, now, of_jobs, question_of, sensitivity_question
from whence.client.acts.containment import ContainmentPlan, RerunPlan
from whence.client.answers.diagnosis import RootCauses
from whence.client.answers.graph import Impact, Lineage, Paths, WhyNot
from whence.client.answers.history import ChangesUpstream, Diff, History, RunLineage
from whence.client.answers.quality import CheckResults, Measurements
from whence.client.answers.search import Found
from whence.client.answers.sensitivity import Sensitivity, SubjectData
from whence.client.options import Bounds, Narrowing, Reach, Rerun, Time, Walk, iso_text
from whence.client.values.catalog import KnownField, KnownJob, NodeFacts
from whence.client.values.contracts import ContractedDataset, ContractHistory
from whence.client.values.gate_records import Approval, RecordedWaiver
from whence.client.values.graph import BlastRadius
from whence.client.values.quality import CheckedDataset
from whence.client.values.sensitivity import (
    PolicyEvaluation,
    PolicyOptions,
    Proposal,
    SensitivityOptions,
    SubjectOptions,
)
from whence.errors import NodeNotFoundError
from whence.govern.containment.documents import plan_listing
from whence.govern.containment.plan import make_plan
from whence.govern.containment.rerun import plan_rerun
from whence.govern.containment.rerun_documents import rerun_listing
from whence.model.catalog import EntryFilter, Window, entry_sort_key
from whence.model.graph import Direction
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, JobName, parse_node
from whence.model.symptom import Symptom
from whence.query.answers.instants import past_instant
from whence.query.history.diff import Side, diff
from whence.query.history.history import history
from whence.query.lookup.descriptions import describe_datasets, describe_jobs
from whence.query.lookup.resolve import resolve
from whence.query.questions.blast_radius import blast_document, blast_radius
from whence.query.questions.check_results import check_results
from whence.query.questions.dropped_datasets import dropped_at
from whence.query.questions.impact import impact
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.questions.measurements import measurements
from whence.query.questions.paths import paths
from whence.query.questions.why import why
from whence.query.questions.why_not import why_not
from whence.query.rendering import listings
from whence.query.rendering.catalog import facts_documents
from whence.query.rendering.checks import checked_document
from whence.query.rendering.data_subject import subject_listing
from whence.query.rendering.sensitivity import sensitivity_listing
from whence.query.runs.resolve import resolve_run_name
from whence.query.runs.run_lineage import resolve_run, run_lineage
from whence.query.sensitivity.data_subject import subject_data
from whence.query.sensitivity.estate_labels import label_estate
from whence.query.sensitivity.labelled_search import search_nodes
from whence.query.sensitivity.labels import sensitivity
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.checks import MOST_DATASETS, latest_check_reports
from whence.store.snapshots.graph import StoreGraph, open_graph

if TYPE_CHECKING:
    from whence.client.acts.slos import DeclaredObjectives

_JOBS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class StoreQuestions:
    """The questions of `whence.Client` to the store at a URL, each in one snapshot. `log`: its address, or empty."""

    url: str
    log: str = ""
    security: str = ""

    def upstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        """The nodes upstream of a node."""
        with self._open() as graph:
            root, question = resolve(graph, node), of_jobs(graph, question_of(walk))
            reached = reach_upstream(graph, root, question)
            return answer_of(listings.lineage_listing(reached, dropped_at(graph, root, question.at)), Lineage)

    def downstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        """The nodes downstream of a node."""
        with self._open() as graph:
            root, question = resolve(graph, node), of_jobs(graph, question_of(walk))
            reached = reach_downstream(graph, root, question)
            return answer_of(listings.lineage_listing(reached, dropped_at(graph, root, question.at)), Lineage)

    def blast_radius(self, node: str) -> BlastRadius | None:
        """The blast radius of a node, if it was computed."""
        with self._open() as graph:
            radius = blast_radius(graph, resolve(graph, node))
        return None if radius is None else msgspec.convert(blast_document(radius), BlastRadius)

    def impact(self, node: str, *, limit: int | None = None, **walk: Unpack[Walk]) -> Impact:
        """The nodes that a change affects: the first `limit`, or all."""
        with self._open() as graph:
            root, question = resolve(graph, node), of_jobs(graph, question_of(walk))
            found = listings.impact_listing(impact(graph, root, question), dropped_at(graph, root, question.at))
            return answer_of(found, Impact, limit)

    def paths(
        self, source: str, target: str, *, limit: int = 20, depth: int | None = None, **bounds: Unpack[Bounds]
    ) -> Paths:
        """The paths from one node to another."""
        question = replace(question_of(bounds), depth=depth)
        with self._open() as graph:
            found = paths(graph, resolve(graph, source), resolve(graph, target), question, limit)
        return answer_of(listings.paths_listing(found), Paths)

    def why(self, source: str, target: str, *, limit: int = 5, **bounds: Unpack[Bounds]) -> Paths:
        """The paths between two nodes, with all evidence."""
        with self._open() as graph:
            found = why(graph, resolve(graph, source), resolve(graph, target), question_of(bounds), limit)
        return answer_of(listings.paths_listing(found), Paths)

    def why_not(self, source: str, target: str, **bounds: Unpack[Bounds]) -> WhyNot:
        """Why no path leads from one node to another."""
        with self._open() as graph:
            found = why_not(graph, source, target, question_of(bounds))
        return answer_of(listings.why_not_answer(found), WhyNot)

    def containment(self, node: str, **bounds: Unpack[Reach]) -> ContainmentPlan:
        """What to pause so that a broken node goes no further."""
        with self._open() as graph:
            root, question = resolve(graph, node), question_of(bounds)
            found = make_plan(graph, StoreCatalog(graph.connection), root, question)
            return answer_of(plan_listing(found), ContainmentPlan)

    def rerun(self, node: str, **options: Unpack[Rerun]) -> RerunPlan:
        """What to run again after a fix of a node, in layers."""
        targets, since = options.pop("targets", ()), iso_text(options.pop("since", None))
        at = None if since is None else past_instant(since, now())
        with self._open() as graph:
            root, ends = resolve(graph, node), [resolve(graph, one) for one in targets]
            question = question_of(cast("Reach", options))
            found = plan_rerun(graph, StoreCatalog(graph.connection), root, (ends, at), question)
            return answer_of(rerun_listing(found), RerunPlan)

    def history(self, node: str) -> History:
        """The changes of a node."""
        with self._open() as graph:
            found = history(graph, resolve(graph, node))
        return answer_of(listings.history_listing(found), History)

    def diff(self, before: str, after: str) -> Diff:
        """The differences between two times, two runs (`run:…`), or two stores (their URLs)."""
        with ExitStack() as stack:
            graph = stack.enter_context(self._open())
            found = diff(*(_side(stack, graph, text) for text in (before, after)))
        return answer_of(listings.diff_listing(found), Diff)

    def runs(self, run: str, *, down: bool = False, depth: int | None = None, max_runs: int = 1_000) -> RunLineage:
        """The runs upstream of a run, or downstream."""
        direction = Direction.DOWNSTREAM if down else Direction.UPSTREAM
        with self._open() as graph:
            found = run_lineage(graph, resolve_run_name(graph, run), direction, depth, max_runs)
        return answer_of(listings.runs_listing(found), RunLineage)

    def measurements(
        self, node: str, *, metrics: Sequence[str] = (), as_of: Time | None = None, limit: int | None = None
    ) -> Measurements:
        """What was measured of a node."""
        at = None if as_of is None else past_instant(iso_text(as_of) or "", now())
        with self._open() as graph:
            found = measurements(graph, resolve(graph, node), at, metrics)
        return answer_of(listings.measurements_listing(found), Measurements, limit)

    def check_results(self, node: str, *, as_of: Time | None = None, limit: int | None = None) -> CheckResults:
        """What checks found of a node."""
        at = None if as_of is None else past_instant(iso_text(as_of) or "", now())
        with self._open() as graph:
            found = check_results(graph, resolve(graph, node), at)
        return answer_of(listings.check_results_listing(found), CheckResults, limit)

    def changes(
        self,
        node: str,
        *,
        since: Time = "24h",
        until: Time | None = None,
        limit: int | None = None,
        max_changes: int = 1_000,
        **bounds: Unpack[Bounds],
    ) -> ChangesUpstream:
        """What changed at a node and upstream of it in a period."""
        from whence.api.requests.local_log import read_local_log
        from whence.api.requests.local_sources import contracts_in, period_of
        from whence.query.history.changes.timeline import upstream_changes
        from whence.query.rendering.timeline import changes_listing

        question, period = replace(question_of(bounds), at=None), period_of(since, until, bounds)
        with self._open() as graph:
            log = read_local_log(graph.connection, self.log, self.security)
            found = upstream_changes(
                graph, contracts_in(graph), resolve(graph, node), period, question, max_changes, *log
            )
        return answer_of(changes_listing(found), ChangesUpstream, limit)

    def diagnose(
        self,
        node: str,
        *,
        since: Time = "24h",
        until: Time | None = None,
        symptom: str | None = None,
        limit: int | None = None,
        **bounds: Unpack[Bounds],
    ) -> RootCauses:
        """The possible causes of what is wrong at a node."""
        from whence.api.requests.local_log import read_local_log
        from whence.api.requests.local_sources import contracts_in, period_of
        from whence.query.diagnosis.diagnosis import diagnose
        from whence.query.rendering.diagnosis import diagnosis_listing

        question, period = replace(question_of(bounds), at=None), period_of(since, until, bounds)
        with self._open() as graph:
            commits, _ = read_local_log(graph.connection, self.log, self.security)
            expected = None if symptom is None else Symptom(symptom)
            found = diagnose(graph, contracts_in(graph), resolve(graph, node), period, question, expected, commits)
        return answer_of(diagnosis_listing(found), RootCauses, limit)

    def sensitivity(self, node: str, *, limit: int | None = None, **options: Unpack[SensitivityOptions]) -> Sensitivity:
        """The sensitivity labels of a node, or those that its data gives to others."""
        with self._open() as graph:
            found = sensitivity(graph, resolve(graph, node), sensitivity_question(options))
        return answer_of(sensitivity_listing(found), Sensitivity, limit)

    def subject(
        self, node: str | None = None, *, limit: int | None = None, **options: Unpack[SubjectOptions]
    ) -> SubjectData:
        """Where the data of a person is."""
        question = sensitivity_question({**options, "down": True})
        with self._open() as graph:
            root = resolve(graph, node) if node else None
            found = subject_data(StoreCatalog(graph.connection), graph, root, question)
        return answer_of(subject_listing(found), SubjectData, limit)

    def evaluate_policies(
        self, policies: str, *, proposal: Proposal | None = None, **options: Unpack[PolicyOptions]
    ) -> PolicyEvaluation:
        """Of which nodes the policies of a file do not hold, or may not. Raises RulesFileError, QuestionError."""
        from whence.cli.answers.local.policies import evaluate_policies

        as_of = iso_text(options.get("as_of"))
        at = None if as_of is None else past_instant(as_of, now())
        with self._open() as graph:
            return evaluate_policies(graph, policies, proposal, options, at)

    def search(self, text: str, *, limit: int = 50, **narrowing: Unpack[Narrowing]) -> Found:
        """The results of a search."""
        from whence.govern.rule_states.records import read_current_standings

        with self._open() as graph:
            catalog, only = StoreCatalog(graph.connection), question_of(narrowing).only
            labels, standings = lambda: label_estate(catalog, graph), lambda: read_current_standings(catalog, graph)
            found = search_nodes(graph, only, text, limit, labels, standings)
        return answer_of(listings.found_listing(found), Found)

    def facts(self, nodes: Sequence[str]) -> tuple[NodeFacts, ...]:
        """What is asserted of datasets and jobs."""
        from whence.govern.rule_states.records import certifications_at

        names = [name for name in map(parse_node, nodes) if isinstance(name, DatasetName | JobName)]
        with self._open() as graph:
            catalog = StoreCatalog(graph.connection)
            found = facts_documents(catalog, graph, names, certifications_at(catalog))
        return msgspec.convert(found, tuple[NodeFacts, ...])

    def fields(self, namespace: str, name: str) -> tuple[str, ...]:
        """The names of the columns in the schema of a dataset. Raises NodeNotFoundError."""
        return tuple(one.name for one in self.schema(namespace, name))

    def schema(self, namespace: str, name: str) -> tuple[KnownField, ...]:
        """The columns in the schema of a dataset, with their types. Raises NodeNotFoundError."""
        dataset = DatasetName(namespace, name)
        with self._open() as graph:
            catalog = StoreCatalog(graph.connection)
            entries = catalog.entries([node_id(dataset)]).values()
            described = describe_datasets(catalog, graph, [*entries], columns=False)
        if not described:
            raise NodeNotFoundError(str(dataset))
        return tuple(KnownField(name=one.name, type=one.type) for one in described[0].fields)

    def checks(self, datasets: Sequence[str]) -> tuple[CheckedDataset, ...]:
        """The known checks of datasets, by dataset and job."""
        names = [name for name in map(parse_node, datasets) if isinstance(name, DatasetName)]
        pages = (names[start : start + MOST_DATASETS] for start in range(0, len(names), MOST_DATASETS))
        with self._open() as graph:
            reports = [one for page in pages for one in latest_check_reports(graph.connection, page)]
        found = [checked_document(one.dataset, one.run, one.time, one.checks) for one in reports]
        return msgspec.convert(found, tuple[CheckedDataset, ...])

    def contracts(self) -> Iterator[ContractedDataset]:
        """The contracts of all datasets, by dataset."""
        from whence.govern.contracts.evaluation.answers import contracted_entries, list_contracts

        with self._open() as graph:
            catalog = StoreCatalog(graph.connection)
            found = list_contracts(catalog, graph, contracted_entries(catalog), now())
        yield from msgspec.convert(found, tuple[ContractedDataset, ...])

    def contract(self, dataset: str, *, as_of: Time | None = None, transitions: bool = False) -> ContractHistory:
        """The contract of a dataset at a time, with its text; and all its versions. Raises NodeNotFoundError."""
        from whence.govern.contracts.evaluation.answers import contract_history

        with self._open() as graph:
            name, catalog = resolve(graph, dataset), StoreCatalog(graph.connection)
            at = None if as_of is None else past_instant(iso_text(as_of) or "", now())
            if not isinstance(name, DatasetName):
                raise NodeNotFoundError(f"dataset {dataset}", (str(name),))
            found = contract_history(catalog, graph, name, at, now(), transitions=transitions)
        return msgspec.convert(found, ContractHistory)

    def objectives(self, datasets: Sequence[str]) -> "DeclaredObjectives":
        """The service level objectives that are declared for datasets, with their texts."""
        from whence.cli.answers.local.objectives import read_objectives

        with self._open() as graph:
            return read_objectives(graph, datasets)

    def jobs(self) -> Iterator[KnownJob]:
        """Every job, by name."""
        with self._open() as graph:
            catalog, after = StoreCatalog(graph.connection), None
            while entries := catalog.listed(Kind.JOB, EntryFilter(), Window(limit=_JOBS_AT_ONCE, after=after)):
                for one in describe_jobs(catalog, graph, entries, runs=0):
                    yield KnownJob(node=str(one.name), outputs=tuple(map(str, one.outputs)), facets=dict(one.facets))
                after = entry_sort_key(entries[-1])

    def approvals(self, repository: str, commit: str) -> tuple[Approval, ...]:
        """Who approved a commit of a repository."""
        with self._open() as graph:
            return read_approvals(graph, repository, commit)

    def waivers(self, repository: str) -> tuple[RecordedWaiver, ...]:
        """The recorded waivers of a repository, expired ones among them."""
        with self._open() as graph:
            return read_waivers(graph, repository)

    @contextmanager
    def _open(self) -> Iterator[StoreGraph]:
        with open_graph(self.url) as graph:
            yield graph


def _side(stack: ExitStack, graph: StoreGraph, text: str) -> Side:
    if text.startswith("run:"):
        return Side(graph, run=resolve_run(graph, text))
    if "://" in text:
        return Side(stack.enter_context(open_graph(text)))
    return Side(graph, None if text == "now" else past_instant(text, now()))
