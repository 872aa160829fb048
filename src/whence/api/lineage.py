"""The routes that ask the graph: lineage, impact, paths, why, history, what changed, runs, search."""

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from whence.api import questions
from whence.api.asking import Ask, Asking
from whence.api.described import documented
from whence.api.paths import Segment
from whence.errors import EventError
from whence.model.graph import Direction
from whence.query import listings
from whence.query.blast import blast_document, blast_radius
from whence.query.diff import Side, diff
from whence.query.history import history
from whence.query.impact import impact
from whence.query.instants import past_instant
from whence.query.lineage import reach_downstream, reach_upstream
from whence.query.listings import Listing, Whole
from whence.query.narrowed import narrowed
from whence.query.paths import paths
from whence.query.resolve import resolve
from whence.query.runs import resolve_run, run_lineage
from whence.query.search import search
from whence.query.veil import Asked
from whence.query.why import why, why_not

SEARCHED = 500
"""Names that a search finds, at most: the best."""


def router(asking: Asking) -> APIRouter:
    """All of them, under `/api/v2`."""
    routes = APIRouter(prefix="/api/v2", tags=["ask"])
    _walks(routes, asking)
    _evidence(routes, asking)
    _changes(routes, asking)
    return routes


def _walks(routes: APIRouter, asking: Asking) -> None:
    @routes.get("/lineage/{direction}", responses=documented("lineage"))
    async def lineage(
        request: Request,
        direction: Literal["upstream", "downstream", "both"],
        asked: Annotated[questions.Lineage, Query()],
    ) -> Response:
        """Where a dataset, field or job comes from, what depends on it, or both."""
        at = asked.at

        def ask(graph: Asked) -> Listing:
            root, question = resolve(graph, asked.node), asked.filtered(graph, at)
            if direction == "both":
                return listings.both_listing(
                    *(reach(graph, root, question) for reach in (reach_upstream, reach_downstream))
                )
            return listings.lineage_listing(
                (reach_upstream if direction == "upstream" else reach_downstream)(graph, root, question)
            )

        return await asking.answer(request, asked.terms(at), ask)

    @routes.get("/impact", responses=documented("impact"))
    async def impact_of(request: Request, asked: Annotated[questions.Impact, Query()]) -> Response:
        """What breaks if a node changes: counted by kind, type, owner and tier, and listed with a path to each."""
        at = asked.at

        def ask(graph: Asked) -> Listing:
            return listings.impact_listing(impact(graph, resolve(graph, asked.node), asked.filtered(graph, at)))

        return await asking.answer(request, asked.terms(at), ask)

    @routes.get("/blast", responses=documented("blast"))
    async def blast(request: Request, asked: Annotated[questions.Node, Query()]) -> Response:
        """How much is downstream of a node, as it was counted last; `radius` is null if it was not counted yet."""

        def ask(graph: Asked) -> Whole:
            node = resolve(graph, asked.node)
            radius = blast_radius(graph, node)
            return Whole({"node": str(node), "radius": None if radius is None else blast_document(radius)}, None)

        return await asking.answer(request, asked.terms(), ask, tagged=False)

    @routes.get("/search", responses=documented("search"))
    async def find(request: Request, asked: Annotated[questions.Searched, Query()]) -> Response:
        """Datasets, fields and jobs by the words of their names, and by their tags, owners and descriptions."""

        def ask(graph: Asked) -> Listing:
            return listings.found_listing(search(narrowed(graph, asked.only), asked.q.replace("\0", " "), SEARCHED))

        return await asking.answer(request, asked.terms(), ask)


def _evidence(routes: APIRouter, asking: Asking) -> None:
    @routes.get("/paths", responses=documented("paths"))
    async def paths_between(request: Request, asked: Annotated[questions.Ends, Query()]) -> Response:
        """How data gets from one node to another: the shortest paths first."""
        return await asking.answer(request, asked.terms(asked.at), _paths(asked, asked.at, proven=False))

    @routes.get("/why", responses=documented("paths"))
    async def why_so(request: Request, asked: Annotated[questions.Ends, Query()]) -> Response:
        """The same paths, every edge with all that proves it: events, and its last 100 runs."""
        return await asking.answer(request, asked.terms(asked.at), _paths(asked, asked.at, proven=True))

    @routes.get("/why-not", responses=documented("why-not"))
    async def why_not_so(request: Request, asked: Annotated[questions.Ends, Query()]) -> Response:
        """Why nothing leads from one node to another. Names that nothing has are answered, too."""
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


def _changes(routes: APIRouter, asking: Asking) -> None:
    @routes.get("/history", responses=documented("history"))
    async def history_of(request: Request, asked: Annotated[questions.Node, Query()]) -> Response:
        """When the lineage and the schema of a node changed, how, and by which run or event."""

        def ask(graph: Asked) -> Listing:
            return listings.history_listing(history(graph, resolve(graph, asked.node)))

        return await asking.answer(request, asked.terms(), ask)

    @routes.get("/diff", responses=documented("diff"))
    async def diff_between(request: Request, asked: Annotated[questions.Between, Query()]) -> Response:
        """What changed between two instants, or between what two runs said."""
        now = time.time_ns() // 1_000

        def ask(graph: Asked) -> Listing:
            sides = side(graph, asked.before, now), side(graph, asked.after, now)
            if (sides[0].run is None) != (sides[1].run is None):
                raise EventError("/query/after", "compare two times, or two runs", 422)
            return listings.diff_listing(diff(*sides))

        # A time that is said as an age is another one for each request.
        return await asking.answer(request, asked.terms(now), ask, tagged=False)

    @routes.get("/runs/{run}/lineage", responses=documented("runs"))
    async def lineage_of_run(
        request: Request,
        run: Annotated[Segment, Path(max_length=30_000, description="Its id; `<id>@<job>` if several jobs claim it")],
        asked: Annotated[questions.OfRun, Query()],
    ) -> Response:
        """Which run of which job wrote what a run read, with which commit; or which runs read what it wrote."""

        def ask(graph: Asked) -> Listing:
            found = resolve_run(graph, run)
            return listings.runs_listing(
                run_lineage(graph, found, Direction(asked.direction), asked.depth, asked.max_runs)
            )

        return await asking.answer(request, asked.terms(), ask)


def side(graph: Asked, text: str, now: int) -> Side:
    """A run, or a time. Raises NodeNotFoundError if it is no known run, EventError if it is neither."""
    if text.startswith("run:"):
        return Side(graph, run=resolve_run(graph, text))
    try:
        at = past_instant(text, now)
    except ValueError as error:
        raise EventError("/query", str(error), 422) from None
    return Side(graph, None if text.strip().lower() == "now" else at)
