"""Attributes of nodes for colouring a graph, and recent schema changes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from whence.api.auth.guard import viewer_of
from whence.api.http.clock import now_of
from whence.api.http.dashboard_types import SchemaChange, SchemaChanges, TraitLabel, TraitsOf, answered_with
from whence.api.http.path_names import Plain
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import View as CatalogView
from whence.api.requests.estate_labels import labels_for
from whence.api.requests.graph import open_visible_graph
from whence.api.requests.pages import Cursor, PageLimit, after, cut, window
from whence.errors import EventError
from whence.model.graph import AssertingRun, Direction, Grain, Hop, RunRow, SchemaRow
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import Node, parse_node
from whence.model.traits import NO_TRAITS, Traits, read_traits
from whence.query.answers.instants import instant, iso
from whence.query.history.schemas import column_changes, columns_of
from whence.query.ports.catalog import Catalog
from whence.query.sensitivity.dataset_labels import NodeLabel, labels_of_datasets
from whence.query.traversal.traits import read_trait_facets
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.snapshots.catalog import snapshot
from whence.store.status.data_quality import CheckCounts, read_quality

Category = Literal["pii", "phi", "financial", "sensitive"]
MOST = 100
MOST_EDGES = 20_000
"""The most edges into the nodes of one request that are checked for the latest run."""
routes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)


@routes.get("/traits", responses=answered_with(TraitsOf))
def traits_of(
    request: Request,
    view: CatalogView,
    node: Annotated[list[Plain], Query(min_length=1, max_length=MOST, description="node ids of datasets and jobs")],
    as_of: Annotated[
        Plain, Query(description="the last write before this time, and the tags and labels at it")
    ] = "now",
    label: Annotated[Category | None, Query(description="with the sensitivity labels of this category")] = None,
) -> Response:
    """Show owners, tags, types, tier, last write, data quality and sensitivity labels of several nodes.

    Data quality is null for those who may not read everything.
    """
    at = _instant(as_of, "as_of", now_of(request))
    wanted = {node_id(name): name for name in map(_named, node)}
    with open_visible_graph(request) as graph:
        known = {id_: name for id_, name in graph.nodes(wanted).items() if name == wanted[id_]}
        past = None if as_of == "now" else at
        traits, written = _read_traits(graph, known, past), _written(graph, known, at)
        latest = _latest(graph, known, past)
        labels = _labels(request, graph, known, label, past)
        columns = {} if label is None else _columns(graph, known)
    quality, period = _quality(request, known), _period(view.catalog, known)
    data = [
        _document(name, traits.get(id_, NO_TRAITS), written.get(id_), latest.get(id_), quality.get(id_))
        | period[id_]
        | {"labels": labels.get(id_, []), "columns": columns.get(id_, [])}
        for id_, name in known.items()
    ]
    return answer({"data": data, "page": None})


@routes.get("/schema-changes", responses=answered_with(SchemaChanges))
def schema_changes(
    request: Request,
    since: Annotated[Plain, Query(description="`2026-11-20T06:00`, or `7d`")] = "7d",
    limit: PageLimit = 50,
    cursor: Cursor = "",
) -> Response:
    """List schema changes of datasets, latest first."""
    start = _instant(since, "since", now_of(request))
    with open_visible_graph(request) as graph:
        rows = sorted(graph.schemas(graph.described(start)))
        names = graph.nodes({row.dataset_id for row in rows})
    changes = sorted((one for one in _changes(rows) if one[1].first_time >= start), key=_newest)
    shown, page = cut(after(changes, window(limit, cursor, (int, int)), _newest), limit, _newest)
    data = [_change(names[row.dataset_id], before, row) for before, row in shown if row.dataset_id in names]
    return answer({"data": data, "page": page})


Change = tuple[SchemaRow | None, SchemaRow]


def _changes(rows: Sequence[SchemaRow]) -> Iterator[Change]:
    for _, of_one in groupby(rows, key=attrgetter("dataset_id")):
        before = None
        for row in sorted(of_one, key=attrgetter("first_time")):
            yield before, row
            before = row


def _newest(change: Change) -> tuple[str | int, ...]:
    return -change[1].first_time, change[1].dataset_id


def _change(name: Node, before: SchemaRow | None, row: SchemaRow) -> SchemaChange:
    found = column_changes(columns_of(before), columns_of(row))
    return {
        "dataset": str(name),
        "time": iso(row.first_time),
        "first": before is None,
        "added": [one.name for one in found if one.before is None],
        "removed": [one.name for one in found if one.after is None],
        "retyped": [
            {"column": one.name, "before": one.before, "after": one.after}
            for one in found
            if one.before is not None and one.after is not None
        ],
    }


def _read_traits(graph: QuestionGraph, known: Mapping[int, Node], at: int | None) -> Mapping[int, Traits]:
    rows = sorted(read_trait_facets(graph, known, at), key=attrgetter("subject_id"))
    return {id_: read_traits(list(some)) for id_, some in groupby(rows, key=attrgetter("subject_id"))}


def _written(graph: QuestionGraph, known: Mapping[int, Node], at: int) -> Mapping[int, tuple[RunRow, int]]:
    datasets = [(id_, at) for id_ in known if kind_of(id_) is Kind.DATASET]
    writers = graph.writers(datasets)
    runs = {row.id: row for row in graph.runs({one.run_id for one in writers})}
    return {one.dataset_id: (runs[one.run_id], one.time) for one in writers if one.run_id in runs}


def _latest(graph: QuestionGraph, known: Mapping[int, Node], at: int | None) -> Mapping[int, AssertingRun]:
    """For each dataset, the latest run of the jobs that write it."""
    datasets = [id_ for id_ in known if kind_of(id_) is Kind.DATASET]
    edges = graph.edges(datasets, Hop(Direction.UPSTREAM, Grain.DATASET, at), MOST_EDGES)
    evidence = graph.evidence({row.set_id for row in edges}, at, 1)
    found: dict[int, AssertingRun] = {}
    for row in edges:
        for seen in evidence[row.set_id].runs if row.set_id in evidence else ():
            found[row.near_id] = max(found.get(row.near_id, seen), seen, key=attrgetter("asserted_at"))
    return found


def _labels(
    request: Request, graph: QuestionGraph, known: Mapping[int, Node], category: str | None, at: int | None
) -> Mapping[int, list[TraitLabel]]:
    """The labels of datasets and their columns; none if no category is asked for."""
    if category is None:
        return {}
    datasets = [id_ for id_ in known if kind_of(id_) is Kind.DATASET]
    found = labels_of_datasets(graph, labels_for(request, graph, at), datasets, category)
    return {id_: list(map(_label, several)) for id_, several in found.items()}


def _columns(graph: QuestionGraph, known: Mapping[int, Node]) -> Mapping[int, list[str]]:
    """The visible columns of datasets, by name."""
    rows = graph.fields([id_ for id_ in known if kind_of(id_) is Kind.DATASET])
    hidden = graph.hidden([row.id for row in rows])
    found: dict[int, list[str]] = {}
    for row in sorted(rows, key=attrgetter("name")):
        if row.id not in hidden:
            found.setdefault(row.dataset_id, []).append(row.name)
    return found


def _label(one: NodeLabel) -> TraitLabel:
    return {
        "column": one.column,
        "grade": one.grade.word,
        "assumed": one.proven < one.grade,
        "possible": one.possible.word,
    }


def _period(catalog: Catalog, known: Mapping[int, Node]) -> Mapping[int, dict[str, Any]]:
    """The time of each node's first event, and whether it was deleted since."""
    entries, deleted = catalog.entries(known), catalog.deleted(known)
    return {
        id_: {"first_seen": iso(entries[id_].first_seen) if id_ in entries else None, "deleted": id_ in deleted}
        for id_ in known
    }


def _quality(request: Request, known: Mapping[int, Node]) -> Mapping[int, tuple[CheckCounts, str]]:
    if not viewer_of(request).can_see_all:
        return {}
    with snapshot(request.app.state.engine) as connection, open_visible_graph(request) as graph:
        found = read_quality(connection, [id_ for id_ in known if kind_of(id_) is Kind.DATASET])
        runs = {row.id: str(row.name) for row in graph.runs({one.run_id for one in found.values()})}
    return {id_: (one, runs[one.run_id]) for id_, one in found.items() if one.run_id in runs}


def _document(
    name: Node,
    traits: Traits,
    written: tuple[RunRow, int] | None,
    latest: AssertingRun | None,
    quality: tuple[CheckCounts, str] | None,
) -> dict[str, Any]:
    return {
        "node": str(name),
        "owners": sorted(traits.owners),
        "tags": [{"key": key, "value": value, "field": field} for key, value, field in sorted(traits.tags)],
        "types": sorted(traits.types),
        "tier": traits.tier,
        "written": written and {"run": str(written[0].name), "job": str(written[0].name.job), "time": iso(written[1])},
        "latest": latest
        and {
            "run": str(latest.name),
            "job": str(latest.name.job),
            "state": latest.state.name,
            "time": iso(latest.ended_at or latest.asserted_at),
        },
        "quality": quality
        and {
            "run": quality[1],
            "time": iso(quality[0].time),
            "held": quality[0].held,
            "failed": quality[0].failed,
            "warned": quality[0].warned,
        },
    }


def _named(text: str) -> Node:
    name = parse_node(text)
    if name is None:
        raise EventError("/query/node", f"{text[:200]!r} is no node id", 422)
    return name


def _instant(text: str, of: str, now: int) -> int:
    try:
        return instant(text, now)
    except (ValueError, OverflowError) as error:
        raise EventError(f"/query/{of}", str(error), 422) from None
