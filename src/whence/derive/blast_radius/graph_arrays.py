"""The current graph as arrays, in which each dataset, field and job has one representative name."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from itertools import chain
from typing import Any, Protocol

import numpy as np

from whence.derive.blast_radius.digraphs import Lineage
from whence.derive.blast_radius.ragged_arrays import Ints
from whence.model.ids import Kind, kind_of

Rows = Iterable[Sequence[Sequence[Any]]]
"""Rows, some at a time."""


class Tables(Protocol):
    """The current graph of one snapshot, as `store.graph.blast_radius.GraphTables` reads it."""

    def edges(self) -> Rows:
        """(source, target, owner)."""
        ...

    def fields(self) -> Rows:
        """(field, dataset)."""
        ...

    def datasets(self) -> Rows:
        """(dataset,)."""
        ...

    def jobs(self) -> Rows:
        """(job,)."""
        ...

    def aliases(self) -> Rows:
        """(dataset, its representative)."""
        ...

    def alias_fields(self) -> Rows:
        """(field of a dataset with aliases, the field's representative)."""
        ...

    def types(self) -> Rows:
        """(dataset or job, facet name, payload)."""
        ...


@dataclass(frozen=True, slots=True)
class Renaming:
    """Maps sorted ids to their new ids; other ids stay the same."""

    old: Ints
    new: Ints

    def __call__(self, ids: Ints) -> Ints:
        if not len(self.old):
            return ids
        place = np.minimum(np.searchsorted(self.old, ids), len(self.old) - 1)
        return np.where(self.old[place] == ids, self.new[place], ids)


def read_lineage(tables: Tables) -> Lineage:
    """Read the current graph. Which nodes are dashboards and models: docs/explanation/blast-radius.md."""
    renamed = _renaming(chain(tables.aliases(), tables.alias_fields()))
    source, target, owner = (renamed(ids) for ids in _columns(tables.edges(), 3))
    field, field_dataset = (renamed(ids) for ids in _columns(tables.fields(), 2))
    known, first = np.unique(field, return_index=True)
    (datasets,), (jobs,) = _columns(tables.datasets(), 1), _columns(tables.jobs(), 1)
    dashboards, models = _shown(tables.types())
    return Lineage(
        source=source,
        target=target,
        owner=owner,
        fields=known,
        field_dataset=field_dataset[first],
        datasets=np.unique(renamed(datasets)),
        jobs=np.unique(jobs),
        dashboards=np.unique(renamed(dashboards)),
        models=np.unique(renamed(models)),
    )


def fingerprint(lineage: Lineage) -> str:
    """A hash of the graph: the same for the same edges, nodes and types, in any order."""
    edges = np.stack([lineage.source, lineage.target, lineage.owner], axis=1)
    edges = edges[np.lexsort(edges.T)]
    kept = np.ones(len(edges), bool)
    kept[1:] = (edges[1:] != edges[:-1]).any(axis=1)
    digest = sha256(edges[kept].tobytes())
    for part in fields(lineage):
        if part.name not in ("source", "target", "owner"):
            array = getattr(lineage, part.name)
            digest.update(f"{part.name} {len(array)}\n".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def _columns(rows: Rows, width: int) -> tuple[Ints, ...]:
    parts = [np.fromiter(chain.from_iterable(some), np.int64).reshape(-1, width) for some in rows]
    table = np.concatenate(parts) if parts else np.empty((0, width), np.int64)
    return tuple(np.ascontiguousarray(table[:, place]) for place in range(width))


def _renaming(rows: Rows) -> Renaming:
    old, new = _columns(rows, 2)
    order = np.argsort(old, kind="stable")
    return Renaming(old[order], new[order])


def _shown(rows: Rows) -> tuple[Ints, Ints]:
    """The dashboards and the models."""
    typed = [(id_, type_) for some in rows for id_, name, payload in some if (type_ := _type(id_, name, payload))]
    dashboards = [id_ for id_, type_ in typed if type_ == "DASHBOARD"]
    models = [id_ for id_, type_ in typed if type_ == "MODEL" and kind_of(id_) is Kind.DATASET]
    return np.array(dashboards, np.int64), np.array(models, np.int64)


def _type(id_: int, name: str, payload: str | None) -> str:
    key = {Kind.DATASET: "datasetType", Kind.JOB: "jobType"}.get(kind_of(id_))
    facet = json.loads(payload) if payload and name == key else None
    value = facet.get(name) if isinstance(facet, dict) else None
    return value.upper() if isinstance(value, str) else ""
