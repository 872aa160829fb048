"""A world as a graph in memory: the ports' behaviour in plain Python, without SQL (aliases, gaps and all)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from query.worlds.random_worlds import Statement as Statement
from query.worlds.random_worlds import World, nodes_of, sets_of
from whence.model.events import RunState
from whence.model.graph import (
    AssertingEvent,
    AssertingRun,
    Candidates,
    Direction,
    EdgeRow,
    Evidence,
    FieldRow,
    GapRow,
    Grain,
    Hit,
    Hop,
    SearchTerms,
    TextMatches,
)
from whence.model.ids import Kind, kind_of, node_id
from whence.model.lineage import GAPS, Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.query.answers.values import dataset_of
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.adjacency.tables import TableAdjacency
from whence.store.schema.tables import FOREVER


@dataclass(frozen=True)
class MemoryGraph:
    """`Graph` and `Names` over a world. `producer` says who sent what an owner said."""

    world: World
    producer: Callable[[Node], str] = field(default=lambda _: "https://test")

    def reached(self) -> tuple[int, ...]:
        return (4711,)

    def forgotten_before(self) -> int | None:
        return None

    def recorded_from(self) -> int | None:
        return None

    def hidden(self, ids: Iterable[int]) -> frozenset[int]:
        return frozenset()

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        at_end: dict[int, list[tuple[EdgeRow, int]]] = {}
        for row, ordinal in self._rows(hop):
            if _is_of(hop.grain, row):
                at_end.setdefault(row.near_id, []).append((row, ordinal))

        def order(one: tuple[EdgeRow, int]) -> tuple[int, ...]:
            return (one[0].far_id, one[0].owner_id, one[0].set_id, one[1])

        return [row for probe in probes for row, _ in sorted(at_end.get(probe, ()), key=order)][:limit]

    def adjacencies(self, at: int | None, roots: Iterable[int]) -> Iterator[TableAdjacency]:
        yield TableAdjacency.of(self, at, roots)

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        rows = [row for row, _ in self._rows(Hop(Direction.DOWNSTREAM, hop.grain, hop.at))]
        found = self._coarse(rows, dataset_ids, hop.direction)
        if hop.direction is Direction.DOWNSTREAM:
            found |= self._readers(rows, dataset_ids)
        return sorted(found)[:limit]

    def unreported(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        edges = [one for one, _ in self._rows(Hop(Direction.DOWNSTREAM, hop.grain, hop.at), with_gaps=True)]
        reached = {(row.owner_id, row.far_id) for row in edges if row.origin not in GAPS}
        columns = [row for row in edges if row.origin == Origin.UNREPORTED]
        columns = [row for row in columns if (row.owner_id, row.far_id) not in reached]
        return self._gaps_at(columns, edges, ids, hop.direction)[:limit]

    def incomplete(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        edges = [one for one, _ in self._rows(Hop(Direction.DOWNSTREAM, hop.grain, hop.at), with_gaps=True)]
        columns = [row for row in edges if row.origin == Origin.INCOMPLETE]
        if hop.grain is not Grain.FIELD:
            columns = [row._replace(far_id=row.far_dataset_id) for row in columns]
        found = self._gaps_at(columns, edges, ids, hop.direction)
        if hop.direction is Direction.UPSTREAM:
            owners = {row.owner_id for row in columns if kind_of(row.owner_id) is Kind.JOB}
            found = [*found, *(GapRow(one, one, 0) for one in sorted(owners.intersection(ids)))]
        return found[:limit]

    def _gaps_at(
        self, columns: Sequence[EdgeRow], rows: Sequence[EdgeRow], ids: Sequence[int], direction: Direction
    ) -> list[GapRow]:
        edges = [row for row in rows if row.origin not in GAPS]
        whole = [row for row in edges if kind_of(row.near_id) is Kind.DATASET]
        reads = [(row.near_id, row.owner_id) for row in whole if row.far_id == row.owner_id]
        if direction is Direction.UPSTREAM:
            inputs = {row.owner_id: [0, *(of for of, job in reads if job == row.owner_id)] for row in columns}
            found = {GapRow(row.far_id, row.owner_id, one) for row in columns for one in inputs[row.owner_id]}
        else:
            pairs = [(near, row) for near, job in reads for row in columns if row.owner_id == job]
            found = {GapRow(near, row.owner_id, row.far_dataset_id) for near, row in pairs}
        return sorted(row for row in found if row.near_id in ids)

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        return {id_: self._names[id_] for id_ in ids if id_ in self._names}

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        wanted = set(dataset_ids)
        fields = [name for name in self._names.values() if isinstance(name, FieldName)]
        rows = [FieldRow(node_id(name.dataset), node_id(name), name.field) for name in fields]
        return sorted(row for row in rows if row.dataset_id in wanted)

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        groups = {node_id(one): (group[0], *sorted(group[1:])) for group in self.world.groups for one in group}
        return {id_: groups[id_] for id_ in dataset_ids if id_ in groups}

    def search(self, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
        hits = [Hit(id_, name) for id_, name in self._names.items() if kind_of(id_) is kind and _holds(name, fragments)]
        return sorted(hits, key=lambda hit: (len(str(hit.name)), str(hit.name)))[:limit]

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        return Candidates([Hit(id_, name) for id_, name in self._names.items() if kind_of(id_) is kind], True)

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        return TextMatches((), True)

    def check_jobs(self, job_ids: Iterable[int], at: int | None) -> frozenset[int]:
        return frozenset()  # no world has checks

    def evidence(self, set_ids: Iterable[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
        wanted = set(set_ids)
        sets = (
            (id_, statement, digest, origin) for statement, id_, _, digest, origin in self._statements if id_ in wanted
        )
        return {id_: self._evidence(id_, statement, digest, origin) for id_, statement, digest, origin in sets}

    def _evidence(self, id_: int, statement: Statement, digest: str, origin: str) -> Evidence:
        event = AssertingEvent(
            key=f"{statement.run_id}/{statement.owner}",
            position=7,
            time=statement.start,
            producer=self.producer(statement.owner),
        )
        job = statement.owner if isinstance(statement.owner, JobName) else JobName("none", "none")
        run = AssertingRun(
            name=RunName(statement.run_id, job),
            state=RunState(statement.state),
            started_at=statement.start,
            ended_at=statement.start,
            last_seen=statement.start,
            asserted_at=statement.start,
        )
        return Evidence(set_id=id_, digest=digest, origin=origin, first=event, last=event, runs=(run,))

    @cached_property
    def _names(self) -> dict[int, Node]:
        return {node_id(name): name for name in nodes_of(self.world)}

    @cached_property
    def _statements(self) -> list[tuple[Statement, int, tuple[Edge, ...], str, str]]:
        sets = ((statement, one, digest) for statement in self.world.statements for one, digest in sets_of(statement))
        return [
            (
                statement,
                int.from_bytes(bytes.fromhex(digest[:16]), "big", signed=True),
                one.edges,
                digest,
                str(one.origin),
            )
            for statement, one, digest in sets
        ]

    @cached_property
    def _read(self) -> dict[tuple[Direction, int | None, bool], list[tuple[EdgeRow, int]]]:
        return {}

    def _rows(self, hop: Hop, *, with_gaps: bool = False) -> list[tuple[EdgeRow, int]]:
        key = hop.direction, hop.at, with_gaps
        if key not in self._read:
            self._read[key] = list(self._rows_of(hop, with_gaps))
        return self._read[key]

    def _rows_of(self, hop: Hop, with_gaps: bool) -> Iterator[tuple[EdgeRow, int]]:
        for statement, set_id, edges, _, origin in self._statements:
            if origin in GAPS and not with_gaps:
                continue
            if statement.end == FOREVER if hop.at is None else statement.start <= hop.at < statement.end:
                for ordinal, one in enumerate(edges):
                    ends = (
                        (one.source, one.target) if hop.direction is Direction.DOWNSTREAM else (one.target, one.source)
                    )
                    near_dataset, far_dataset = (node_id(of) if (of := dataset_of(end)) else 0 for end in ends)
                    event = (one.type, one.subtype, one.masking, one.description, origin, statement.confirmed)
                    near, far = map(node_id, ends)
                    owner = node_id(statement.owner)
                    yield EdgeRow(near, far, near_dataset, far_dataset, owner, set_id, *event), ordinal

    def _coarse(self, rows: Sequence[EdgeRow], dataset_ids: Sequence[int], direction: Direction) -> set[GapRow]:
        fine = {(row.owner_id, self._one(row.far_dataset_id)) for row in rows if _is_of(Grain.FIELD, row)}
        whole = [row for row in rows if {kind_of(row.near_id), kind_of(row.far_id)} == {Kind.DATASET}]
        coarse = [row for row in whole if (row.owner_id, self._one(row.far_id)) not in fine]
        ends = [(row.near_id, row.far_id, row.owner_id) for row in coarse]
        if direction is Direction.UPSTREAM:
            ends = [(far, near, owner) for near, far, owner in ends]
        return {GapRow(near, owner, far) for near, far, owner in ends if near in dataset_ids}

    def _readers(self, rows: Sequence[EdgeRow], dataset_ids: Sequence[int]) -> set[GapRow]:
        reported_ends = {
            (row.owner_id, self._one(row.near_dataset_id))
            for row in rows
            if kind_of(row.far_id) is not Kind.JOB or kind_of(row.near_id) is Kind.FIELD
        }
        return {
            GapRow(row.near_id, row.far_id, 0)
            for row in rows
            if row.near_id in dataset_ids
            and kind_of(row.far_id) is Kind.JOB
            and (row.far_id, self._one(row.near_id)) not in reported_ends
        }

    def _one(self, dataset_id: int) -> int:
        group = self.groups([dataset_id]).get(dataset_id)
        return node_id(group[0]) if group else dataset_id


def memory_graph(world: World, producer: Callable[[Node], str] = lambda _: "https://test") -> QuestionGraph:
    """A world as the graph of walks, paths and searches. It lacks the ports of runs, facets and measurements."""
    return cast(QuestionGraph, MemoryGraph(world, producer))


def _is_of(grain: Grain, row: EdgeRow) -> bool:
    fine = Kind.FIELD in (kind_of(row.near_id), kind_of(row.far_id))
    return grain is Grain.JOB or fine == (grain is Grain.FIELD)


def _holds(name: Node, fragments: Sequence[str]) -> bool:
    text = str(name).casefold()
    place = 0
    for fragment in fragments:
        place = text.find(fragment.casefold(), place)
        if place < 0:
            return False
    return True
