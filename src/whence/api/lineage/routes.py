"""Routes that query the graph: lineage, impact, paths, why, history, diff, runs, search."""

import time
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from whence.api.http.clock import now_of
from whence.api.http.openapi_responses import documented
from whence.api.http.path_names import Segment
from whence.api.lineage import parameters as questions
from whence.api.requests.catalog import catalog_over, commit_reader, owner_reader
from whence.api.requests.dataset_versions import read_versions
from whence.api.requests.estate_labels import labels_for
from whence.api.requests.graph import GraphQuestion, requests_of
from whence.api.requests.run_reports import reported_by
from whence.errors import EventError
from whence.govern.containment.documents import plan_listing
from whence.govern.containment.plan import make_plan
from whence.govern.containment.rerun import plan_rerun
from whence.govern.containment.rerun_documents import rerun_listing
from whence.govern.containment.rollback import find_rollback_point, runs_of
from whence.govern.containment.rollback_documents import rollback_document
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.model.graph import Direction
from whence.query.answers.instants import past_instant
from whence.query.answers.values import dataset_of
from whence.query.diagnosis.diagnosis import diagnose
from whence.query.history.changes.timeline import upstream_changes
from whence.query.history.diff import Side, diff
from whence.query.history.history import history
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
from whence.query.rendering.data_subject import subject_listing
from whence.query.rendering.diagnosis import diagnosis_listing
from whence.query.rendering.listings import Listing, Whole
from whence.query.rendering.sensitivity import sensitivity_listing
from whence.query.rendering.table_versions import versions_listing
from whence.query.rendering.timeline import changes_listing
from whence.query.runs.resolve import resolve_run_name
from whence.query.runs.run_lineage import resolve_run, run_lineage
from whence.query.sensitivity.data_subject import subject_data
from whence.query.sensitivity.labelled_search import search_nodes
from whence.query.sensitivity.labels import sensitivity
from whence.query.visibility.visible_ids import QuestionGraph

_RUN = "Its id; `<id>@<job>` if several jobs claim it; or a job: its latest run"


routes = APIRouter(prefix="/api/v2", tags=["ask"])


@routes.get("/lineage/{direction}", responses=documented("lineage"))
async def lineage(
    request: Request,
    direction: Literal["upstream", "downstream", "both"],
    query: Annotated[questions.Lineage, Query()],
) -> Response:
    """List the nodes upstream or downstream of a dataset, field or job."""
    at = query.at

    def ask(graph: QuestionGraph) -> Listing:
        root, question = resolve(graph, query.node), query.filtered(graph, at)
        dropped = dropped_at(graph, root, at)
        if direction == "both":
            sides = reach_upstream(graph, root, question), reach_downstream(graph, root, question)
            return listings.both_listing(*sides, dropped)
        reach = reach_upstream if direction == "upstream" else reach_downstream
        return listings.lineage_listing(reach(graph, root, question), dropped)

    return await requests_of(request).answer(request, query.terms(at), ask)


@routes.get("/impact", responses=documented("impact"))
async def impact_of(request: Request, query: Annotated[questions.Impact, Query()]) -> Response:
    """List the nodes that a change affects, with counts and a path to each."""
    at = query.at

    def ask(graph: QuestionGraph) -> Listing:
        found = impact(graph, root := resolve(graph, query.node), query.filtered(graph, at))
        return listings.impact_listing(found, dropped_at(graph, root, at))

    return await requests_of(request).answer(request, query.terms(at), ask)


@routes.get("/containment", responses=documented("containment"))
async def containment_of(request: Request, query: Annotated[questions.Contained, Query()]) -> Response:
    """Plan what to pause so that a broken node goes no further. Nothing is paused by asking."""

    def ask(graph: QuestionGraph) -> Listing:
        root = resolve(graph, query.node)
        return plan_listing(make_plan(graph, catalog_over(request, graph), root, query.question))

    return await requests_of(request).answer(request, query.terms(), ask)


@routes.get("/rerun", responses=documented("rerun"))
async def rerun_of(request: Request, query: Annotated[questions.Rerun, Query()]) -> Response:
    """Plan what to run again after a fix, in layers: the jobs between a node and what is wanted again."""
    since = query.at

    def ask(graph: QuestionGraph) -> Listing:
        root, targets = resolve(graph, query.node), [resolve(graph, one) for one in query.target]
        found = plan_rerun(graph, catalog_over(request, graph), root, (targets, since), query.question)
        return rerun_listing(found)

    return await requests_of(request).answer(request, query.terms(), ask)


@routes.get("/rollback", responses=documented("rollback"))
async def rollback_of(request: Request, query: Annotated[questions.RolledBack, Query()]) -> Response:
    """Find the newest run before data broke that can be trusted, and the runs that it rests on."""
    since = query.at

    def ask(graph: QuestionGraph) -> Whole:
        dataset = dataset_of(resolve(graph, query.node))
        if dataset is None:
            raise EventError("/query/node", "name a dataset or a column: a job has no data to roll back", 422)
        found = find_rollback_point(graph, catalog_over(request, graph), dataset, since)
        runs = [one.run for one in runs_of(found.point)] if found.point else []
        return rollback_document(found, reported_by(request, graph, runs))

    # A relative time differs with each request.
    return await requests_of(request).answer(request, query.terms(), ask, tagged=False)


@routes.get("/blast", responses=documented("blast"))
async def blast(request: Request, query: Annotated[questions.Node, Query()]) -> Response:
    """Show the blast radius of a node as it was computed last. `radius` is null if it was not computed yet."""

    def ask(graph: QuestionGraph) -> Whole:
        node = resolve(graph, query.node)
        radius = blast_radius(graph, node)
        return Whole({"node": str(node), "radius": None if radius is None else blast_document(radius)}, None)

    return await requests_of(request).answer(request, query.terms(), ask, tagged=False)


@routes.get("/search", responses=documented("search"))
async def find(request: Request, query: Annotated[questions.Searched, Query()]) -> Response:
    """Search datasets, fields and jobs by name, tag, owner, description, sensitivity label and certification."""

    def ask(graph: QuestionGraph) -> Listing:
        labels, standings = partial(labels_for, request, graph), request.app.state.standings.get
        return listings.found_listing(
            search_nodes(graph, query.only, query.q.replace("\0", " "), query.names, labels, standings)
        )

    return await requests_of(request).answer(request, query.terms(), ask)


@routes.get("/measurements", responses=documented("measurements"))
async def measurements_of(request: Request, query: Annotated[questions.Measured, Query()]) -> Response:
    """List the measurements of a dataset, a column or the runs of a job, the newest first."""
    at = query.at

    def ask(graph: QuestionGraph) -> Listing:
        return listings.measurements_listing(measurements(graph, resolve(graph, query.node), at, query.metric))

    return await requests_of(request).answer(request, query.terms(at), ask)


@routes.get("/check-results", responses=documented("check-results"))
async def check_results_of(request: Request, query: Annotated[questions.Checked, Query()]) -> Response:
    """List the results of the checks of a dataset or a column, the newest first."""
    at = query.at

    def ask(graph: QuestionGraph) -> Listing:
        return listings.check_results_listing(check_results(graph, resolve(graph, query.node), at))

    return await requests_of(request).answer(request, query.terms(at), ask)


@routes.get("/versions", responses=documented("versions"))
async def versions_of(request: Request, query: Annotated[questions.Node, Query()]) -> Response:
    """List the versions of a dataset that its table and its runs reported, the newest first."""

    def ask(graph: QuestionGraph) -> Listing:
        dataset = dataset_of(resolve(graph, query.node))
        if dataset is None:
            raise EventError("/query/node", "name a dataset or a column: a job has no versions of data", 422)
        return versions_listing(read_versions(request, graph, dataset))

    return await requests_of(request).answer(request, query.terms(), ask)


@routes.get("/sensitivity", responses=documented("sensitivity"))
async def sensitivity_of(request: Request, query: Annotated[questions.Labelled, Query()]) -> Response:
    """List the sensitivity labels of a dataset or a column, or those that its data gives to others downstream."""
    at = query.at

    def ask(graph: QuestionGraph) -> Listing:
        return sensitivity_listing(sensitivity(graph, resolve(graph, query.node), query.question(at)))

    return await requests_of(request).answer(request, query.terms(at), ask)


@routes.get("/subject", responses=documented("subject"))
async def data_of_subject(request: Request, query: Annotated[questions.OfSubject, Query()]) -> Response:
    """List where the data of a person is: who owns and reads it, how long it is kept, and when to erase it."""
    at = query.at

    def ask(graph: QuestionGraph) -> Listing:
        root = None if query.node is None else resolve(graph, query.node)
        return subject_listing(subject_data(catalog_over(request, graph), graph, root, query.question(at)))

    return await requests_of(request).answer(request, query.terms(at), ask)


@routes.get("/paths", responses=documented("paths"))
async def paths_between(request: Request, query: Annotated[questions.Ends, Query()]) -> Response:
    """List the paths between two nodes, shortest first."""
    return await requests_of(request).answer(request, query.terms(query.at), _paths(query, query.at, proven=False))


@routes.get("/why", responses=documented("paths"))
async def why_so(request: Request, query: Annotated[questions.Ends, Query()]) -> Response:
    """List the paths between two nodes with the evidence of every edge: events, and its last 100 runs."""
    return await requests_of(request).answer(request, query.terms(query.at), _paths(query, query.at, proven=True))


@routes.get("/why-not", responses=documented("why-not"))
async def why_not_so(request: Request, query: Annotated[questions.Ends, Query()]) -> Response:
    """Explain why no path leads from one node to another. Unknown names are explained, too."""
    at = query.at

    def ask(graph: QuestionGraph) -> Whole:
        return listings.why_not_answer(why_not(graph, query.source, query.target, query.question(at)))

    return await requests_of(request).answer(request, query.terms(at), ask)


def _paths(query: questions.Ends, at: int | None, *, proven: bool) -> GraphQuestion:
    find = why if proven else paths

    def ask(graph: QuestionGraph) -> Listing:
        ends = resolve(graph, query.source), resolve(graph, query.target)
        return listings.paths_listing(find(graph, *ends, query.question(at), query.paths))

    return ask


@routes.get("/history", responses=documented("history"))
async def history_of(request: Request, query: Annotated[questions.Node, Query()]) -> Response:
    """List the changes of a node's lineage and schema, each with the run or event that made it."""

    def ask(graph: QuestionGraph) -> Listing:
        return listings.history_listing(history(graph, resolve(graph, query.node)))

    return await requests_of(request).answer(request, query.terms(), ask)


@routes.get("/changes", responses=documented("changes"))
async def changes_upstream(request: Request, query: Annotated[questions.Changed, Query()]) -> Response:
    """List what changed upstream of a node in a period: schemas, lineage, contracts, checks, runs, code, owners."""
    period = query.period(now_of(request))

    def ask(graph: QuestionGraph) -> Listing:
        contracts = EvaluatedContracts(catalog_over(request, graph), graph)
        node = resolve(graph, query.node)
        readers = commit_reader(request, graph), owner_reader(request, graph)
        found = upstream_changes(graph, contracts, node, period, query.question, query.max_changes, *readers)
        return changes_listing(found)

    # A relative time differs with each request.
    return await requests_of(request).answer(request, query.terms(period.until), ask, tagged=False)


@routes.get("/diagnose", responses=documented("diagnose"))
async def diagnose_node(request: Request, query: Annotated[questions.Diagnosed, Query()]) -> Response:
    """Rank the possible causes of what is wrong at a dataset or column, each with its evidence and path."""
    period = query.period(time.time_ns() // 1_000)

    def ask(graph: QuestionGraph) -> Listing:
        contracts = EvaluatedContracts(catalog_over(request, graph), graph)
        node = resolve(graph, query.node)
        commits = commit_reader(request, graph)
        return diagnosis_listing(diagnose(graph, contracts, node, period, query.question, query.expected, commits))

    # A relative time differs with each request.
    return await requests_of(request).answer(request, query.terms(period.until), ask, tagged=False)


@routes.get("/diff", responses=documented("diff"))
async def diff_between(request: Request, query: Annotated[questions.Between, Query()]) -> Response:
    """Compare the graph at two instants, or as two runs reported it."""
    now = time.time_ns() // 1_000

    def ask(graph: QuestionGraph) -> Listing:
        sides = side(graph, query.before, now), side(graph, query.after, now)
        if (sides[0].run is None) != (sides[1].run is None):
            raise EventError("/query/after", "compare two times, or two runs", 422)
        return listings.diff_listing(diff(*sides))

    # A relative time differs with each request.
    return await requests_of(request).answer(request, query.terms(now), ask, tagged=False)


@routes.get("/runs/{run}/lineage", responses=documented("runs"))
async def lineage_of_run(
    request: Request,
    run: Annotated[Segment, Path(max_length=30_000, description=_RUN)],
    query: Annotated[questions.OfRun, Query()],
) -> Response:
    """List the runs upstream or downstream of a run, with their commits."""

    def ask(graph: QuestionGraph) -> Listing:
        found = resolve_run_name(graph, run)
        return listings.runs_listing(run_lineage(graph, found, Direction(query.direction), query.depth, query.max_runs))

    return await requests_of(request).answer(request, query.terms(), ask)


def side(graph: QuestionGraph, text: str, now: int) -> Side:
    """A run, or a time. Raises NodeNotFoundError for an unknown run, EventError for any other text."""
    if text.startswith("run:"):
        return Side(graph, run=resolve_run(graph, text))
    try:
        at = past_instant(text, now)
    except ValueError as error:
        raise EventError("/query", str(error), 422) from None
    return Side(graph, None if text.strip().lower() == "now" else at)
