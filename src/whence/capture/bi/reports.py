"""Charts and dashboards as values, whichever tool they are of, and what a reading of the tool found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence_client.events.facets import Facet

CHART, DASHBOARD, DATA_SOURCE = "CHART", "DASHBOARD", "DATA_SOURCE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """An edge that the SQL reader is not sure of."""

    edge: Edge
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What flows into the fields of a report, and what decides its rows.

    `unexplained` has the reason of each field without a source; `gaps` say what could not be read.
    """

    edges: tuple[Edge, ...] = ()
    fields: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    unexplained: Mapping[str, str] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A chart, a dashboard, or a data source that a tool shares between them.

    `viewed` is the time when somebody last looked at it, `updated` when it was last changed; None if the tool does not
    say so.
    """

    name: DatasetName
    kind: str
    title: str
    lineage: Lineage
    description: str = ""
    url: str = ""
    owners: tuple[str, ...] = ()
    viewed: datetime | None = None
    views: int | None = None
    is_hidden: bool = False
    updated: datetime | None = None
    place: str = ""
    """The file that has it, where files are read."""
    facets: Mapping[str, Facet] = field(default_factory=dict)
    """More facets of its dataset, by key; they win over those made of the members above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All that a tool has at a time. `gaps`: why something is missing, by its place. `at` is the newest change.

    `unread` are the places that could not be read at all: what is known of their reports stays as it was.
    """

    reports: tuple[Report, ...]
    gaps: Mapping[str, str]
    at: datetime
    unread: frozenset[str] = frozenset()


def sort_edges(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Each edge once, in an order that is always the same."""
    return tuple(
        sorted(set(edges), key=lambda one: (str(one.target), str(one.source), one.type, one.subtype, str(one)))
    )


def join_lineages(parts: tuple[Lineage, ...]) -> Lineage:
    """One report's lineage, of several queries."""
    return Lineage(
        edges=sort_edges(edge for part in parts for edge in part.edges),
        fields=tuple(dict.fromkeys(name for part in parts for name in part.fields)),
        doubts=tuple(dict.fromkeys(doubt for part in parts for doubt in part.doubts)),
        unexplained={name: reason for part in parts for name, reason in part.unexplained.items()},
        gaps=tuple(dict.fromkeys(gap for part in parts for gap in part.gaps)),
    )


def show_charts(name: DatasetName, charts: tuple[Report, ...]) -> Lineage:
    """The lineage of a dashboard: it shows each field of its charts."""
    edges = {Edge(source=chart.name, target=name, type="DIRECT", subtype="IDENTITY") for chart in charts}
    for chart in charts:
        edges.update(
            Edge(source=FieldName(chart.name, one), target=FieldName(name, one), type="DIRECT", subtype="IDENTITY")
            for one in chart.lineage.fields
        )
    fields = dict.fromkeys(one for chart in charts for one in chart.lineage.fields)
    gaps = tuple(gap for chart in charts for gap in chart.lineage.gaps)
    return Lineage(edges=sort_edges(edges), fields=tuple(fields), gaps=gaps)
