"""Jobs that report one statement twice: their edges are shown once, with the evidence of both (docs/how-to/spark.md).

Spark executes `create table … as select` as a command that contains an insert, and the listener reports each as a job
with the same lineage. Two edges with the same ends are merged if the last run of one job took place within that of the
other, both have the same parent run, and one edge has no transformation that the other lacks.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from whence.model.graph import AssertingRun
from whence.model.names import JobName, Node
from whence.query.answers.values import AnswerEdge


def fold_siblings(edges: Sequence[AnswerEdge]) -> tuple[tuple[AnswerEdge, ...], tuple[int, ...]]:
    """Merge the edges of one statement. Returns the edges, and the index of each given edge among them.

    Edges with the same ends must be adjacent.
    """
    folded: list[AnswerEdge] = []
    places: list[int] = []
    for _, several in groupby(edges, key=_ends):
        same = list(several)
        outer = _outermost(same)
        kept = [one for one in same if outer[one.owner] == one.owner]
        place = {one.owner: len(folded) + number for number, one in enumerate(kept)}
        folded += [_merged(one, [its for its in same if outer[its.owner] == one.owner]) for one in kept]
        places += [place[outer[one.owner]] for one in same]
    return tuple(folded), tuple(places)


def _ends(edge: AnswerEdge) -> tuple[Node, Node]:
    return edge.source, edge.target


def _outermost(edges: Sequence[AnswerEdge]) -> dict[Node, Node]:
    """For each owner of edges with the same ends, the owner whose statement contains its last run, or itself."""
    found: dict[Node, Node] = {one.owner: one.owner for one in edges}
    if len(edges) == 1:
        return found
    runs = {one.owner: run for one in edges if (run := _last_run(one))}
    by_start = sorted((one for one in edges if one.owner in runs), key=lambda one: _order(runs[one.owner]))
    for place, inner in enumerate(by_start):
        for outer in by_start[:place]:
            if found[outer.owner] == outer.owner and _is_part(outer, inner, runs):
                found[inner.owner] = outer.owner
                break
    return found


def _last_run(edge: AnswerEdge) -> AssertingRun | None:
    """The latest run that asserted the edge, or None if it has no parent or no end."""
    runs = [run for one in edge.evidence for run in one.runs]
    last = max(runs, key=lambda run: (run.asserted_at, str(run.name)), default=None)
    return last if last and last.parent_id and last.started_at is not None and last.ended_at is not None else None


def _order(run: AssertingRun) -> tuple[int, int, str]:
    """Sorts by start, then the longest first."""
    return run.started_at or 0, -(run.ended_at or 0), str(run.name)


def _is_part(outer: AnswerEdge, inner: AnswerEdge, runs: dict[Node, AssertingRun]) -> bool:
    outer_run, inner_run = runs[outer.owner], runs[inner.owner]
    if not (
        isinstance(outer.owner, JobName)
        and isinstance(inner.owner, JobName)
        and outer_run.parent_id == inner_run.parent_id
    ):
        return False
    of_outer, of_inner = set(outer.transformations), set(inner.transformations)
    return (inner_run.ended_at or 0) <= (outer_run.ended_at or 0) and (of_outer <= of_inner or of_inner <= of_outer)


def _merged(edge: AnswerEdge, same: Sequence[AnswerEdge]) -> AnswerEdge:
    if len(same) == 1:
        return edge
    evidence = {proof.set_id: proof for one in same for proof in one.evidence}
    return replace(
        edge,
        transformations=tuple(sorted({how for one in same for how in one.transformations})),
        origins=tuple(sorted({origin for one in same for origin in one.origins})),
        confirmed=any(one.confirmed for one in same),
        evidence=tuple(sorted(evidence.values(), key=lambda one: (-one.last.time, one.digest))),
    )
