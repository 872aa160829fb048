"""The graph that one viewer sees, with pseudonyms for hidden nodes.

A pseudonym preserves the structure of the graph: a hidden node is one node, with its edges, in every answer to this
viewer. It is a keyed hash, so two viewers cannot compare theirs, and nobody can test names against it. Only nodes that
are connected with something visible become pseudonyms: a hidden name in a question is as unknown as one that does not
exist.

An alias group is visible if one of its names is, with the fields that it has under visible names: anybody who may write
about one of the names can declare an alias. A rule that hides a field hides it under every name of its dataset.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from whence.model.access import Viewer
from whence.model.blast_radius import BlastRadius
from whence.model.graph import (
    AssertingEvent,
    Candidates,
    Direction,
    EdgeRow,
    Evidence,
    FacetRow,
    FieldRow,
    GapRow,
    Grain,
    HeldFacetRow,
    HeldRow,
    Hit,
    Hop,
    JobRun,
    MeasurementRow,
    RunRow,
    RunTouch,
    SchemaRow,
    SearchTerms,
    SetEdge,
    SpanRow,
    TextMatch,
    TextMatches,
)
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, Node
from whence.openlineage.facets.assertions import ChecksPage
from whence.query.answers.overfetch import until_enough
from whence.query.visibility.adjacency import VisibleAdjacency
from whence.query.visibility.expressions import Expressions
from whence.query.visibility.facets import PLAIN, shown_facet, shown_schema
from whence.query.visibility.pseudonyms import Pseudonyms
from whence.query.visibility.run_reports import find_visible_ids, show_last_runs, show_measurements
from whence.query.visibility.visible_ids import QuestionGraph, VisibleIds
from whence.query.visibility.visible_rows import show_edge, show_field, show_set_edge, show_span

Named = TypeVar("Named", Hit, TextMatch)

_SEARCHED = PLAIN | {"tags"}


def seen_by(viewer: Viewer, secret: bytes, graph: QuestionGraph) -> QuestionGraph:
    """The graph as a viewer may see it: the graph itself if nothing is hidden from them.

    `secret` belongs to this installation; its owner can identify the nodes behind pseudonyms.
    """
    if viewer.can_see_all:
        return graph
    visible_ids = VisibleIds(graph, Pseudonyms.of(viewer, secret))
    return VisibleGraph(visible_ids, Expressions(visible_ids))


@dataclass(slots=True)
class VisibleGraph:
    """All ports of a graph, over another one, for one viewer and one request. `query.ports.graph` documents the
    methods.
    """

    visible_ids: VisibleIds
    expressions: Expressions
    _owners: dict[int, int] = field(default_factory=dict)
    """Lineage set → the real id of its owner, or of a run that asserted it, for sets read so far."""
    _versions: dict[int, int] = field(default_factory=dict)
    """The same for versions."""

    @property
    def _graph(self) -> QuestionGraph:
        return self.visible_ids.graph

    def reached(self) -> tuple[int, ...]:
        """Unchanged."""
        return self._graph.reached()

    def forgotten_before(self) -> int | None:
        """Unchanged."""
        return self._graph.forgotten_before()

    def recorded_from(self) -> int | None:
        """Unchanged."""
        return self._graph.recorded_from()

    def hidden(self, ids: Iterable[int]) -> frozenset[int]:
        """The ids that are pseudonyms."""
        return frozenset(filter(self.visible_ids.is_token, ids))

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """All edges, between names and pseudonyms."""
        return self._visible_rows(self._graph.edges(list(self.visible_ids.real(probes).values()), hop, limit), hop)

    def adjacencies(self, at: int | None, roots: Iterable[int]) -> Iterator[VisibleAdjacency]:
        """All edges, between the ids of names and pseudonyms."""

        def to_visible(rows: Sequence[EdgeRow], way: Direction) -> Sequence[EdgeRow]:
            return self._visible_rows(rows, Hop(way, Grain.JOB, at))

        for arrays in self._graph.adjacencies(at, self.visible_ids.real(roots).values()):
            yield VisibleAdjacency(self.visible_ids, arrays, to_visible)

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """All gaps, with names or pseudonyms."""
        return self._gaps(self._graph.gaps(list(self.visible_ids.real(dataset_ids).values()), hop, limit))

    def unreported(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """All gaps, with names or pseudonyms."""
        return self._gaps(self._graph.unreported(list(self.visible_ids.real(ids).values()), hop, limit))

    def incomplete(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """All gaps, with names or pseudonyms."""
        return self._gaps(self._graph.incomplete(list(self.visible_ids.real(ids).values()), hop, limit))

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """A hidden node is known only by the id of its pseudonym."""
        known = self.visible_ids.real(ids)
        return {id_: self.visible_ids.names[real] for id_, real in known.items() if real in self.visible_ids.names}

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """All fields; hidden ones as pseudonyms."""
        rows = self._graph.fields(self.visible_ids.real(dataset_ids).values())
        self.visible_ids.meet(id_ for row in rows for id_ in row[:2])
        return sorted(show_field(self.visible_ids, row) for row in rows)

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """A visible name represents the group before a hidden one."""
        groups = {id_: self.visible_ids.group(real) for id_, real in self.visible_ids.real(dataset_ids).items()}
        return {id_: group for id_, group in groups.items() if len(group) > 1}

    def search(self, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
        """Visible names only; fetches more until there are enough."""

        def fetch(count: int) -> tuple[Sequence[Hit], bool]:
            found = self._graph.search(fragments, kind, count)
            return found, len(found) < count

        return until_enough(fetch, self._visible, limit)[0][:limit]

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """Visible names only; fetches more until there are enough."""
        return Candidates(*until_enough(lambda count: self._graph.find(clue, kind, count), self._visible, limit))

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        """Matches in tags and owners of visible nodes: texts that are not shown are not searched."""

        def find(most: int) -> TextMatches:
            found = self._graph.facet_matches(words, most)
            return found._replace(found=[one for one in found.found if one.facet in _SEARCHED])

        return TextMatches(*until_enough(find, self._visible, limit))

    def evidence(self, set_ids: Iterable[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
        """For sets of hidden owners, only the times of the assertions."""
        found = self._graph.evidence(set_ids, at, runs)
        return {id_: self.visible_ids.pseudonyms.evidence(one, self._sees_owner(id_)) for id_, one in found.items()}

    def facets(self, ids: Iterable[int], names: Sequence[str]) -> Sequence[FacetRow]:
        """Facets of visible names, without hidden fields."""
        found = self._graph.facets(find_visible_ids(self.visible_ids, ids), names)
        return [row._replace(payload=shown) for row in found if (shown := self._facet(row)) is not None]

    def tags_at(self, ids: Iterable[int], at: int) -> Sequence[HeldFacetRow]:
        """As `facets`."""
        found = self._graph.tags_at(find_visible_ids(self.visible_ids, ids), at)
        return [row._replace(payload=shown) for row in found if (shown := self._facet(row)) is not None]

    def events(self, ids: Iterable[int]) -> Mapping[int, tuple[AssertingEvent, int]]:
        """For events about hidden nodes, only their times."""
        found = self._graph.events(ids)
        self._meet_all(subject for _, subject in found.values())
        return {id_: self._visible_event(event, subject) for id_, (event, subject) in found.items()}

    def runs_named(self, run_id: str) -> Sequence[RunRow]:
        """Runs of visible jobs only."""
        found = self._graph.runs_named(run_id)
        return [row for row in found if self.visible_ids.show_run(row) == row]

    def runs(self, ids: Iterable[int]) -> Sequence[RunRow]:
        """All runs read so far; those of hidden jobs without names."""
        known = self.visible_ids.runs
        return [known[real] for real in self.visible_ids.real(ids).values() if real in known]

    def asserted_sets(self, run_ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The sets of each run; the run's job owns them."""
        known = self.visible_ids.real(run_ids)
        found = self._graph.asserted_sets(known.values())
        self._owners |= {set_id: self._visible_job(run) for run, several in found.items() for set_id in several}
        return {id_: found[real] for id_, real in known.items() if real in found}

    def content(self, set_ids: Iterable[int]) -> Sequence[SetEdge]:
        """All edges, between names and pseudonyms; none of sets that nothing visible led to."""
        edges = self._graph.content([id_ for id_ in set_ids if id_ in self._owners])
        self.visible_ids.meet(id_ for edge in edges for id_ in edge[1:5])
        return [show_set_edge(self.visible_ids, edge) for edge in self.expressions.of_sets(edges, self._owners)]

    def writers(self, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """All runs; those of hidden jobs as pseudonyms."""
        return self._touching(self._graph.writers(self._of_datasets(touches)))

    def next_writers(self, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """All runs; those of hidden jobs as pseudonyms."""
        return self._touching(self._graph.next_writers(self._of_datasets(touches)))

    def readers(self, periods: Sequence[tuple[int, int, int]], limit: int) -> Sequence[RunTouch]:
        """All runs; those of hidden jobs as pseudonyms."""
        known = self.visible_ids.real(id_ for id_, _, _ in periods)
        real = [(known[id_], since, until) for id_, since, until in periods if id_ in known]
        return self._touching(self._graph.readers(real, limit))

    def owners(self, ids: Iterable[int]) -> Sequence[int]:
        """All owners; hidden ones as pseudonyms."""
        return self.visible_ids.all_shown(self._graph.owners(self.visible_ids.real(ids).values()))

    def spans(self, owner_ids: Iterable[int]) -> Sequence[SpanRow]:
        """All validity intervals, including those of hidden owners."""
        rows = self._graph.spans(self.visible_ids.real(owner_ids).values())
        self._meet_all(id_ for row in rows for id_ in (row.owner_id, row.statement_id))
        self._versions |= {row.version: row.owner_id for row in rows}
        return sorted(show_span(self.visible_ids, row) for row in rows)

    def versions(self, ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The sets of versions read so far."""
        found = self._graph.versions([id_ for id_ in ids if id_ in self._versions])
        self._owners |= {set_id: self._versions[id_] for id_, several in found.items() for set_id in several}
        return found

    def changed(self, since: int, until: int) -> Sequence[int]:
        """All owners; hidden ones as pseudonyms."""
        return self.visible_ids.all_shown(self._graph.changed(since, until))

    def held(self, at: int | None, owner_ids: Iterable[int] | None) -> Sequence[HeldRow]:
        """All sets, including those of hidden owners."""
        rows = self._graph.held(at, None if owner_ids is None else self.visible_ids.real(owner_ids).values())
        self.visible_ids.meet(row.owner_id for row in rows)
        self._owners |= {row.set_id: row.owner_id for row in rows}
        return [HeldRow(self.visible_ids.shown(row.owner_id), row.set_id) for row in rows]

    def present(self, ids: Iterable[int], at: int | None) -> set[int]:
        """Unchanged: questions contain only known ids."""
        known = self.visible_ids.real(ids)
        found = self._graph.present(known.values(), at)
        return {id_ for id_, real in known.items() if real in found}

    def schemas(self, dataset_ids: Iterable[int]) -> Sequence[SchemaRow]:
        """Schemas of visible names; hidden fields are pseudonyms without a type."""
        rows = self._graph.schemas(find_visible_ids(self.visible_ids, dataset_ids))
        return [
            row._replace(payload=shown_schema(row.payload, partial(self.visible_ids.field, row.dataset_id)))
            for row in rows
        ]

    def described(self, since: int | None) -> Sequence[int]:
        """Visible names only: the schemas of others are hidden."""
        found = self._graph.described(since)
        self.visible_ids.meet(found)
        return [id_ for id_ in found if self.visible_ids.can_see(id_)]

    def blast(self, node_id: int) -> BlastRadius | None:
        """Counts only, which include hidden nodes."""
        real = self.visible_ids.real([node_id]).get(node_id)
        return None if real is None else self._graph.blast(real)

    def dropped_at(self, dataset_id: int, at: int | None) -> int | None:
        """Drops of visible names; a pseudonym is never reported as dropped."""
        real = self.visible_ids.real([dataset_id]).get(dataset_id)
        return self._graph.dropped_at(real, at) if real is not None and self.visible_ids.can_see(real) else None

    def latest_run(self, job_id: int) -> RunRow | None:
        """Runs of visible jobs only."""
        real = self.visible_ids.real([job_id]).get(job_id)
        found = None if real is None else self._graph.latest_run(real)
        return found if found and self.visible_ids.show_run(found) == found else None

    def last_runs(self, job_ids: Iterable[int], at: int | None) -> Mapping[int, JobRun]:
        """Only of jobs that may be seen; the jobs of runs that contain theirs as tokens, where they are hidden."""
        return show_last_runs(self.visible_ids, job_ids, at)

    def check_jobs(self, job_ids: Iterable[int], at: int | None) -> frozenset[int]:
        """Only visible jobs: what a hidden one does is not shown."""
        return self._graph.check_jobs(find_visible_ids(self.visible_ids, job_ids), at)

    def runs_forgotten_before(self) -> int | None:
        """Unchanged."""
        return self._graph.runs_forgotten_before()

    def checks(self, dataset_ids: Iterable[int], at: int | None) -> ChecksPage:
        """None: checks may contain any names."""
        return ChecksPage(stopped_by="access")

    def checks_of_each(self, groups: Sequence[frozenset[int]], at: int | None) -> Sequence[ChecksPage]:
        """None, as of one group."""
        return [self.checks(one, at) for one in groups]

    def measurements(
        self, dataset_ids: Iterable[int], at: int | None, limit: int, facet: str = ""
    ) -> Sequence[MeasurementRow]:
        """Only of visible names, without hidden fields; runs of hidden jobs as pseudonyms."""
        visible = find_visible_ids(self.visible_ids, dataset_ids)
        return show_measurements(self.visible_ids, visible, self._graph.measurements(visible, at, limit, facet))

    def run_ends(self, job_ids: Iterable[int], since: int, until: int, limit: int) -> Sequence[RunRow]:
        """Only of visible jobs."""
        return self._graph.run_ends(find_visible_ids(self.visible_ids, job_ids), since, until, limit)

    def run_events(self, times: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], AssertingEvent]:
        """Only of runs of visible jobs."""
        wanted = list(times)
        visible = find_visible_ids(self.visible_ids, (run for run, _ in wanted))
        return self._graph.run_events([one for one in wanted if one[0] in visible])

    def ended_runs(self, job_id: int, at: int | None, limit: int) -> Sequence[RunRow]:
        """Only of a visible job."""
        real = self.visible_ids.real([job_id]).get(job_id)
        return self._graph.ended_runs(real, at, limit) if real is not None and self.visible_ids.can_see(real) else ()

    def _gaps(self, rows: Sequence[GapRow]) -> Sequence[GapRow]:
        self.visible_ids.meet(id_ for row in rows for id_ in row)
        return sorted(GapRow._make(map(self.visible_ids.shown, row)) for row in rows)

    def _visible(self, found: Sequence[Named]) -> list[Named]:
        self.visible_ids.meet(one.id for one in found)
        return [one for one in found if self.visible_ids.can_see(one.id)]

    def _sees_owner(self, set_id: int) -> bool:
        return set_id in self._owners and self.visible_ids.can_see(self._owners[set_id])

    def _visible_job(self, run: int) -> int:
        """The job of a run if it is visible, else the run itself, which is hidden."""
        return node_id(self.visible_ids.runs[run].name.job) if self.visible_ids.can_see(run) else run

    def _meet_all(self, ids: Iterable[int]) -> None:
        wanted = set(ids)
        self.visible_ids.meet_runs(id_ for id_ in wanted if kind_of(id_) is Kind.RUN)
        self.visible_ids.meet(id_ for id_ in wanted if kind_of(id_) is not Kind.RUN)

    def _of_datasets(self, touches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        known = self.visible_ids.real(id_ for id_, _ in touches)
        return [(known[id_], time) for id_, time in touches if id_ in known]

    def _touching(self, rows: Sequence[RunTouch]) -> Sequence[RunTouch]:
        self._meet_all(id_ for row in rows for id_ in row[:2])
        shown = self.visible_ids.shown
        return [RunTouch(shown(row.dataset_id), shown(row.run_id), row.time) for row in rows]

    def _visible_rows(self, rows: Sequence[EdgeRow], hop: Hop) -> Sequence[EdgeRow]:
        self.visible_ids.meet(id_ for row in rows for id_ in row[:5])
        self.expressions.judge(rows, hop)
        self._owners |= {row.set_id: row.owner_id for row in rows}
        return [show_edge(self.visible_ids, row, self.expressions.of_row(row, hop)) for row in rows]

    def _facet(self, row: FacetRow | HeldFacetRow) -> str | None:
        return shown_facet(row.name, row.payload, partial(self._known_field, row.subject_id))

    def _known_field(self, subject: int, text: str) -> str:
        return self.visible_ids.field(subject, text) if kind_of(subject) is Kind.DATASET else text

    def _visible_event(self, event: AssertingEvent, subject: int) -> tuple[AssertingEvent, int]:
        shown = self.visible_ids.shown(subject)
        return (event if shown and shown == subject else self.visible_ids.pseudonyms.mask_event(event)), shown
