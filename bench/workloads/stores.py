"""A store with a large graph in it, with its names, evidence and a piece of history, as the pipeline would leave it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import Engine, Table, text

from bench.workloads.graphs import Graph, Ints, layered
from whence.model.ids import Kind, hash64, node_id
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.store.connection.engine import writing
from whence.store.ingest.change_log import change_version
from whence.store.schema import tables
from whence.store.schema.tables import FOREVER

NOW, DAY = 1_795_000_000_000_000, 86_400_000_000
EARLIER = 10
"""One job in so many said half of its lineage only, until a day ago."""
CHUNK = 50_000
LEVELS = ("dataset", "field")
COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Estate:
    """The graph, and the names of its nodes, in the order of the graph's arrays."""

    graph: Graph
    datasets: Sequence[DatasetName]
    fields: Sequence[FieldName]
    jobs: Sequence[JobName]

    def name(self, id_: int) -> str:
        """The node id of a node of the graph's arrays."""
        several, names = {
            Kind.DATASET: (self.graph.datasets, self.datasets),
            Kind.FIELD: (self.graph.fields, self.fields),
        }[Kind(id_ & 3)]
        return str(names[int(np.searchsorted(several, id_))])


def estate(fields: int, edges: int) -> Estate:
    """A layered graph with names; every tenth dataset is a dashboard or model of some owner."""
    graph = layered(fields, edges, columns=COLUMNS)
    count = len(graph.datasets)
    datasets = [DatasetName(f"postgres://db{n % 7}:5432", f"shop.mart{n % 97}.table_{n}") for n in range(count)]
    jobs = [JobName("nightly", f"build_mart{n % 97}.table_{n}") for n in range(count)]
    names = [FieldName(datasets[n // COLUMNS], f"column_{n % COLUMNS}") for n in range(len(graph.fields))]
    return Estate(graph, datasets, names, jobs)


def seeded(made: Estate) -> int:
    """Column edges that hold only since a day: those of the jobs that said half of their lineage before."""
    ids = np.array([node_id(name) for name in made.jobs])
    owners = ids[np.searchsorted(made.graph.jobs, made.graph.edges[:, 2])]
    late = np.unique(owners)[::EARLIER]
    fine = np.zeros(len(owners), bool)
    fine[: made.graph.column_edges] = True
    return int((np.isin(owners, late) & fine).sum())


def fill(engine: Engine, made: Estate) -> None:
    """Write it into the tables of an empty store, and let the store take stock of itself."""
    # Keys are hashes: an index that is built at the end is sorted once, not searched for each row.
    indexes = [one for table in tables.metadata.sorted_tables for one in table.indexes]
    with writing(engine) as connection:
        for index in indexes:
            index.drop(connection)
    for table, rows in _tables(made):
        _insert(engine, table, rows)
    with writing(engine) as connection:
        for index in indexes:
            index.create(connection)
        connection.execute(change_version.insert(), {"number": 1, "stamp": 1})
        connection.execute(text("ANALYZE"))


def _insert(engine: Engine, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
    several = iter(rows)
    columns = [column.name for column in table.columns if column.computed is None]
    with writing(engine) as connection:
        cursor = connection.connection.cursor()
        if engine.dialect.name == "postgresql":
            with cursor.copy(f"COPY {table.name} ({', '.join(columns)}) FROM STDIN") as copy:
                for row in several:
                    copy.write_row(row)
            return
        places = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({places})"
        while chunk := list(islice(several, CHUNK)):
            cursor.executemany(statement, chunk)


def _tables(made: Estate) -> Iterator[tuple[Table, Iterable[tuple[Any, ...]]]]:
    graph = made.graph
    ids = {
        "dataset": np.array([node_id(name) for name in made.datasets]),
        "field": np.array([node_id(name) for name in made.fields]),
        "job": np.array([node_id(name) for name in made.jobs]),
    }
    yield (
        tables.dataset,
        ((int(i), n.namespace, n.name, 0, NOW) for i, n in zip(ids["dataset"], made.datasets, strict=True)),
    )
    yield tables.job, ((int(i), n.namespace, n.name, 0, NOW) for i, n in zip(ids["job"], made.jobs, strict=True))
    of = np.repeat(ids["dataset"], COLUMNS)
    yield tables.field, ((int(i), int(d), n.field, 1) for i, d, n in zip(ids["field"], of, made.fields, strict=True))
    yield tables.producer, [(1, "https://example.org/bench")]
    yield tables.progress, [("log", 1 << 36)]
    yield tables.facet_body, _facets(ids["dataset"])
    yield from _lineage(_renamed(graph, ids), made, ids["job"])


def _facets(datasets: Ints) -> Iterator[tuple[int, str, int, str]]:
    for place, id_ in enumerate(datasets.tolist()):
        yield id_, "ownership", 1, f'{{"owners":[{{"name":"team-{place % 50}"}}]}}'
        if place % 10 == 0:
            kind = "DASHBOARD" if place % 20 else "MODEL"
            yield id_, "datasetType", 1, f'{{"datasetType":"{kind}"}}'


def _renamed(graph: Graph, ids: dict[str, Ints]) -> Ints:
    """The edges between the ids that names have, by owner: (source, target, owner, source's and target's dataset)."""
    edges = np.zeros_like(graph.edges)
    for kind, old, new in (
        (Kind.DATASET, graph.datasets, ids["dataset"]),
        (Kind.FIELD, graph.fields, ids["field"]),
        (Kind.JOB, graph.jobs, ids["job"]),
    ):
        is_kind = (graph.edges & 3 == kind) & (graph.edges != 0)
        edges[is_kind] = new[np.searchsorted(old, graph.edges[is_kind])]
    return edges[np.argsort(edges[:, 2], kind="stable")]


def _lineage(edges: Ints, made: Estate, job_ids: Ints) -> Iterator[tuple[Table, Iterable[tuple[Any, ...]]]]:
    """One set of fields and one of datasets for each job, one run, one version; some had another version before."""
    owner = edges[:, 2]
    fine = ((edges[:, 0] & 3 == Kind.FIELD) | (edges[:, 1] & 3 == Kind.FIELD)).astype(np.int64)
    order = np.lexsort((fine, owner))
    edges, owner, fine = edges[order], owner[order], fine[order]
    is_first = np.ones(len(edges), bool)
    is_first[1:] = (owner[1:] != owner[:-1]) | (fine[1:] != fine[:-1])
    starts = np.flatnonzero(is_first)
    ordinal = np.arange(len(edges)) - np.repeat(starts, np.diff([*starts, len(edges)]))
    sets = (owner ^ (fine + 1) * 4).astype(np.int64)  # ids need only be distinct
    flat = np.stack([sets, ordinal, edges[:, 0], edges[:, 1], edges[:, 3], edges[:, 4]], axis=1)
    transformation = ("DIRECT", "TRANSFORMATION", False, "f(x)")
    yield tables.lineage_edge, ((*row, *transformation) for row in _rows(flat))
    current = np.stack([owner, np.zeros(len(edges), np.int64), *flat.T], axis=1)
    yield tables.edge, ((*row, *transformation, "columnLineage", True) for row in _rows(current))
    yield from _saids(sets[starts], owner[starts], fine[starts], made, job_ids)


def _saids(
    sets: Ints, owners: Ints, fine: Ints, made: Estate, job_ids: Ints
) -> Iterator[tuple[Table, Iterable[tuple[Any, ...]]]]:
    of_owner: dict[int, list[int]] = {}
    for set_id, owner in zip(sets.tolist(), owners.tolist(), strict=True):
        of_owner.setdefault(owner, []).append(set_id)
    jobs = dict(zip(job_ids.tolist(), made.jobs, strict=True))
    runs = {
        owner: RunName(f"{place:08x}-0000-4000-8000-000000000000", jobs[owner]) for place, owner in enumerate(of_owner)
    }
    ids = {owner: node_id(name) for owner, name in runs.items()}
    events = {owner: abs(ids[owner]) for owner in of_owner}
    versions = {owner: hash64(str(owner)) for owner in of_owner}
    half = {owner: hash64(f"half {owner}") for place, owner in enumerate(of_owner) if place % EARLIER == 0}
    yield (
        tables.lineage_set,
        (
            (
                set_id,
                f"{set_id & (2**64 - 1):032x}",
                owner,
                0,
                LEVELS[one],
                "columnLineage",
                *(NOW - DAY, events[owner]) * 2,
            )
            for set_id, owner, one in zip(sets.tolist(), owners.tolist(), fine.tolist(), strict=True)
        ),
    )
    yield (
        tables.lineage_version,
        (
            *((versions[owner], set_id) for owner, several in of_owner.items() for set_id in several),
            *((version, of_owner[owner][0]) for owner, version in half.items()),
        ),
    )
    yield (
        tables.validity_interval,
        (
            *(
                (owner, 0, NOW - (1 if owner in half else 9) * DAY, FOREVER, versions[owner], True, ids[owner])
                for owner in of_owner
            ),
            *((owner, 0, NOW - 9 * DAY, NOW - DAY, version, True, ids[owner]) for owner, version in half.items()),
        ),
    )
    yield (
        tables.run,
        (
            (ids[owner], name.run_id, owner, 3, NOW - DAY, 3, *(NOW - DAY,) * 2, None, None, *(NOW - DAY,) * 2, 0, 0, 8)
            for owner, name in runs.items()
        ),
    )
    yield (
        tables.event,
        ((events[owner], 0, 0, NOW - DAY, 1, 3, ids[owner], "", place * 100) for place, owner in enumerate(of_owner)),
    )
    yield tables.run_lineage, ((ids[owner], versions[owner], NOW - DAY, events[owner]) for owner in of_owner)


def _rows(array: Ints) -> Iterator[list[int]]:
    for start in range(0, len(array), CHUNK):
        yield from array[start : start + CHUNK].tolist()
