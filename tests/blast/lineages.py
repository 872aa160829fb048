"""Random lineage as arrays: layers, hubs, cycles, self loops, whole datasets, jobs, types; and a store with it in."""

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, Table, insert

from whence.derive.blast_radius.digraphs import Lineage
from whence.model.ids import Kind
from whence.store.connection.engine import writing
from whence.store.schema.tables import dataset, edge, facet_body, field, job, progress

POSITION = 4711


def random_lineage(seed: int, datasets: int, edges: int, *, columns: int = 3, loops: float = 0.02) -> Lineage:
    """Edges mostly lead to later datasets; `loops` of them lead anywhere. A tenth are at whole datasets."""
    rng = np.random.default_rng(seed)
    ids = {kind: _ids(rng, count, kind) for kind, count in _sizes(datasets, columns).items()}
    fields = ids[Kind.FIELD]
    of = np.sort(rng.integers(0, datasets, len(fields)))
    low, high = np.sort(rng.integers(0, len(fields), (2, edges)), axis=0)
    low = np.where(rng.random(edges) < 0.3, low // 20, low)  # hubs
    around = rng.random(edges) < loops
    low, high = np.where(around, high, low), np.where(around, low, high)
    source, target = fields[low], fields[high]
    whole_source, whole_target = rng.random((2, edges)) < 0.05
    source = np.where(whole_source, ids[Kind.DATASET][of[low]], source)
    target = np.where(whole_target, ids[Kind.DATASET][of[high]], target)
    jobs = ids[Kind.JOB]
    owners = jobs[of[high] % len(jobs)]
    to_job, from_job = rng.random((2, edges)) < 0.05
    source = np.where(to_job, ids[Kind.DATASET][of[low]], np.where(from_job, owners, source))
    target = np.where(to_job, owners, target)
    shown = rng.choice(ids[Kind.DATASET], 2 * (datasets // 10), replace=False)
    return Lineage(
        source=source,
        target=target,
        owner=owners,
        fields=fields,
        field_dataset=ids[Kind.DATASET][of],
        datasets=ids[Kind.DATASET],
        jobs=jobs,
        dashboards=np.concatenate([shown[::2], jobs[:2]]),
        models=shown[1::2],
    )


def reached(lineage: Lineage, node: int) -> tuple[set[int], set[int], set[int]]:
    """(datasets, fields, jobs) downstream of a field, in plain Python, from the words of blast-radius.md."""
    dataset_of = dict(zip(lineage.fields.tolist(), lineage.field_dataset.tolist(), strict=True))
    inside: dict[int, list[int]] = {}
    for one, of in dataset_of.items():
        inside.setdefault(of, []).append(one)
    edges: dict[int, list[tuple[int, int]]] = {}
    for source, target, owner in zip(
        lineage.source.tolist(), lineage.target.tolist(), lineage.owner.tolist(), strict=True
    ):
        if source & 3 != Kind.JOB and (source & 3 == Kind.FIELD or target & 3 == Kind.FIELD):
            edges.setdefault(source, []).append((target, owner))
    seen, frontier, jobs = {node}, [node], set[int]()
    while frontier:
        here = frontier.pop()
        touched = [here, dataset_of[here]] if here in dataset_of else [here]
        nexts = inside.get(here, []) if here & 3 == Kind.DATASET else []
        for end in touched:
            for target, owner in edges.get(end, ()):
                jobs |= {owner, *([target] if target & 3 == Kind.JOB else [])}
                nexts = [*nexts, *([target] if target & 3 != Kind.JOB else [])]
        frontier += set(nexts) - seen
        seen |= set(nexts)
    fields = {one for one in seen if one in dataset_of}
    datasets = {one for one in seen if one not in dataset_of} | {dataset_of[one] for one in fields}
    return datasets - {dataset_of[node]}, fields - {node}, jobs


def store_lineage(engine: Engine, lineage: Lineage) -> None:
    """Put it into the tables of an empty store."""
    dataset_of = dict(zip(lineage.fields.tolist(), lineage.field_dataset.tolist(), strict=True))
    seen = {"first_seen": 0, "last_seen": 0}
    _insert(engine, progress, [{"name": "log", "position": POSITION}])
    for table, some in ((dataset, lineage.datasets), (job, lineage.jobs)):
        _insert(engine, table, [{"id": one, "namespace": "n", "name": str(one), **seen} for one in some.tolist()])
    _insert(
        engine,
        field,
        [{"id": one, "dataset_id": of, "name": str(one), "declared": 1} for one, of in dataset_of.items()],
    )
    ends = np.stack([lineage.source, lineage.target, lineage.owner], axis=1).tolist()
    same = {"aspect": 0, "set_id": 1, "type": "DIRECT", "subtype": "", "masking": False, "description": ""}
    same |= {"origin": "explicit", "confirmed": True}
    rows = [
        {
            "ordinal": place,
            "source_id": source,
            "target_id": target,
            "owner_id": owner,
            "source_dataset_id": dataset_of.get(source, 0 if source & 3 == Kind.JOB else source),
            "target_dataset_id": dataset_of.get(target, 0 if target & 3 == Kind.JOB else target),
            **same,
        }
        for place, (source, target, owner) in enumerate(ends)
    ]
    _insert(engine, edge, rows)
    _insert(engine, facet_body, [_type(one, "DASHBOARD") for one in lineage.dashboards.tolist()])
    _insert(engine, facet_body, [_type(one, "MODEL") for one in lineage.models.tolist()])


def _type(node: int, type_: str) -> dict[str, object]:
    name = "jobType" if node & 3 == Kind.JOB else "datasetType"
    payload = f'{{"{name}": "{type_}"}}'
    return {"subject_id": node, "name": name, "body_id": 1, "payload": payload}


def _insert(engine: Engine, table: Table, rows: list[dict[str, object]]) -> None:
    with writing(engine) as connection:
        connection.execute(insert(table), rows)


def _sizes(datasets: int, columns: int) -> dict[Kind, int]:
    return {Kind.DATASET: datasets, Kind.FIELD: datasets * columns, Kind.JOB: max(datasets // 2, 3)}


def _ids(rng: np.random.Generator, count: int, kind: Kind) -> NDArray[np.int64]:
    return np.unique(rng.integers(-(2**62), 2**62, count) & ~3 | kind)
