"""Routes that query the graph: lineage, impact, paths, why, history, diff, runs, search."""

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from whence.api.http.openapi_responses import documented
from whence.api.http.path_names import Segment
from whence.api.lineage import parameters as questions
from whence.api.requests.graph import Ask, GraphRequests
from whence.errors import EventError
from whence.model.graph import Direction
from whence.query.answers.instants import past_instant
from whence.query.history.diff import Side, diff
from whence.query.history.history import history
from whence.query.lookup.filtered_search import narrowed
from whence.query.lookup.resolve import resolve
from whence.query.lookup.search import search
from whence.query.questions.blast_radius import blast_document, blast_radius
from whence.query.questions.dropped_datasets import dropped_at
from whence.query.questions.impact import impact
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.questions.measurements import measurements
from whence.query.questions.paths import paths
from whence.query.questions.why import why
from whence.query.questions.why_not import why_not
from whence.query.rendering import listings
from whence.query.rendering.listings import Listing, Whole
from whence.query.runs.resolve import resolve_asked_run
from whence.query.runs.run_lineage import resolve_run, run_lineage
from whence.query.visibility.visible_ids import Asked

_RUN = "Its id; `<id>@<job>` if several jobs claim it; or a job: its latest run"


def router(asking: GraphRequests) -> APIRouter:
    """Create the routes, under `/api/v2`."""
    routes = APIRouter(prefix="/api/v2", tags=["ask"])
    _walks(routes, asking)
    _evidence(routes, asking)
    _changes(routes, asking)
    return routes


def _walks(routes: APIRouter, asking: GraphRequests) -> None:
    @routes.get("/lineage/{direction}", responses=documented("lineage"))
    async def lineage(
        request: Request,
        direction: Literal["upstream", "downstream", "both"],
        asked: Annotated[questions.Lineage, Query()],
    ) -> Response:
        """List the nodes upstream or downstream of a dataset, field or job."""
        at = asked.at

        def ask(graph: Asked) -> Listing:
            root, question = resolve(graph, asked.node), asked.filtered(graph, at)
            dropped = dropped_at(graph, root, at)
            if direction == "both":
                sides = reach_upstream(graph, root, question), reach_downstream(graph, root, question)
                return listings.both_listing(*sides, dropped)
            reach = reach_upstream if direction == "upstream" else reach_downstream
            return listings.lineage_listing(reach(graph, root, question), dropped)

        return await asking.answer(request, asked.terms(at), ask)

    @routes.get("/impact", responses=documented("impact"))
    async def impact_of(request: Request, asked: Annotated[questions.Impact, Query()]) -> Response:
        """List the nodes that a change affects, with counts and a path to each."""
        at = asked.at

        def ask(graph: Asked) -> Listing:
            found = impact(graph, root := resolve(graph, asked.node), asked.filtered(graph, at))
            return listings.impact_listing(found, dropped_at(graph, root, at))

        return await asking.answer(request, asked.terms(at), ask)

    @routes.get("/blast", responses=documented("blast"))
    async def blast(request: Request, asked: Annotated[questions.Node, Query()]) -> Response:
        """Show the blast radius of a node as it was computed last. `radius` is null if it was not computed yet."""

        def ask(graph: Asked) -> Whole:
            node = resolve(graph, asked.node)
            radius = blast_radius(graph, node)
            return Whole({"node": str(node), "radius": None if radius is None else blast_document(radius)}, None)

        return await asking.answer(request, asked.terms(), ask, tagged=False)

    @routes.get("/measurements", responses=documented("measurements"))
    async def measurements_of(request: Request, asked: Annotated[questions.Measured, Query()]) -> Response:
        """List the measurements of a dataset, a column or the runs of a job, the newest first."""
        at = asked.at

        def ask(graph: Asked) -> Listing:
            return listings.measurements_listing(measurements(graph, resolve(graph, asked.node), at, asked.metric))

        return await asking.answer(request, asked.terms(at), ask)

    @routes.get("/search", responses=documented("search"))
    async def find(request: Request, asked: Annotated[questions.Searched, Query()]) -> Response:
        """Search datasets, fields and jobs by name, tag, owner and description."""

        def ask(graph: Asked) -> Listing:
            return listings.found_listing(search(narrowed(graph, asked.only), asked.q.replace("\0", " "), asked.names))

        return await asking.answer(request, asked.terms(), ask)


def _evidence(routes: APIRouter, asking: GraphRequests) -> None:
    @routes.get("/paths", responses=documented("paths"))
    async def paths_between(request: Request, asked: Annotated[questions.Ends, Query()]) -> Response:
        """List the paths between two nodes, shortest first."""
        return await asking.answer(request, asked.terms(asked.at), _paths(asked, asked.at, proven=False))

    @routes.get("/why", responses=documented("paths"))
    async def why_so(request: Request, asked: Annotated[questions.Ends, Query()]) -> Response:
        """List the paths between two nodes with the evidence of every edge: events, and its last 100 runs."""
        return await asking.answer(request, asked.terms(asked.at), _paths(asked, asked.at, proven=True))

    @routes.get("/why-not", responses=documented("why-not"))
    async def why_not_so(request: Request, asked: Annotated[questions.Ends, Query()]) -> Response:
        """Explain why no path leads from one node to another. Unknown names are explained, too."""
        at = asked.at

        def ask(graph: Asked) -> Whole:
            return listings.why_not_answer(why_not(graph, asked.source, asked.target, asked.question(at)))

        return await asking.answer(request, asked.terms(at), ask)


def _paths(asked: questions.Ends, at: int | None, *, proven: bool) -> Ask:
    find = why if proven else paths

    def ask(graph: Asked) -> Listing:
        ends = resolve(graph, asked.source), resolve(graph, asked.target)
        return listings.paths_listing(find(graph, *ends, asked.question(at), asked.paths))

    return ask


def _changes(routes: APIRouter, asking: GraphRequests) -> None:
    @routes.get("/history", responses=documented("history"))
    async def history_of(request: Request, asked: Annotated[questions.Node, Query()]) -> Response:
        """List the changes of a node's lineage and schema, each with the run or event that made it."""

        def ask(graph: Asked) -> Listing:
            return listings.history_listing(history(graph, resolve(graph, asked.node)))

        return await asking.answer(request, asked.terms(), ask)

    @routes.get("/diff", responses=documented("diff"))
    async def diff_between(request: Request, asked: Annotated[questions.Between, Query()]) -> Response:
        """Compare the graph at two instants, or as two runs reported it."""
        now = time.time_ns() // 1_000

        def ask(graph: Asked) -> Listing:
            sides = side(graph, asked.before, now), side(graph, asked.after, now)
            if (sides[0].run is None) != (sides[1].run is None):
                raise EventError("/query/after", "compare two times, or two runs", 422)
            return listings.diff_listing(diff(*sides))

        # A relative time differs with each request.
        return await asking.answer(request, asked.terms(now), ask, tagged=False)

    @routes.get("/runs/{run}/lineage", responses=documented("runs"))
    async def lineage_of_run(
        request: Request,
        run: Annotated[Segment, Path(max_length=30_000, description=_RUN)],
        asked: Annotated[questions.OfRun, Query()],
    ) -> Response:
        """List the runs upstream or downstream of a run, with their commits."""

        def ask(graph: Asked) -> Listing:
            found = resolve_asked_run(graph, run)
            return listings.runs_listing(
                run_lineage(graph, found, Direction(asked.direction), asked.depth, asked.max_runs)
            )

        return await asking.answer(request, asked.terms(), ask)


def side(graph: Asked, text: str, now: int) -> Side:
    """A run, or a time. Raises NodeNotFoundError for an unknown run, EventError for any other text."""
    if text.startswith("run:"):
        return Side(graph, run=resolve_run(graph, text))
    try:
        at = past_instant(text, now)
    except ValueError as error:
        raise EventError("/query", str(error), 422) from None
    return Side(graph, None if text.strip().lower() == "now" else at)
