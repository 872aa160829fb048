"""From lineage to digraphs in which plain reachability is what `whence downstream` answers (blast-radius.md).

Two digraphs, one for each grain of a walk. At field grain a dataset has two vertices: *whole*, from which all its
fields are reached, and *part*, which is reached from each of its fields, and has the edges of the dataset itself: so
edges follow each other where they touch, and siblings do not mix. Jobs are elements of the vertices whose edges they
say, never on the way.
"""

from dataclasses import dataclass

import numpy as np

from whence.derive.blast_radius.elements import Elements, chosen, elements
from whence.derive.blast_radius.ragged_arrays import Ints
from whence.errors import StoreError
from whence.model.blast_radius import COUNTED
from whence.model.ids import Kind

KIND_BITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The current graph as arrays of ids, each thing under one name.

    An edge leads from `source` to `target`; `owner` asserts it. `field_dataset` is the dataset of each of `fields`.
    `dashboards` are datasets and jobs, `models` datasets. `fields`, `datasets` and `jobs` are sorted, and hold all ends
    of edges and all jobs that own one.
    """

    source: Ints
    target: Ints
    owner: Ints
    fields: Ints
    field_dataset: Ints
    datasets: Ints
    jobs: Ints
    dashboards: Ints
    models: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """A digraph over the vertices 0 … vertices - 1, and what is counted at them: one Elements for each of COUNTED."""

    vertices: int
    source: Ints
    target: Ints
    counted: tuple[Elements, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What is to be counted for which node.

    `nodes`: fields, then datasets, then jobs. Vertex i of `by_field` stands for node i, vertex i of `by_dataset` for
    node `fields` + i. `own`: how much of each count is the node itself, or in it, or what it is in: not downstream.
    """

    nodes: Ints
    fields: int
    by_field: Reach
    by_dataset: Reach
    own: Ints


def build_survey(lineage: Lineage) -> Survey:
    """The two digraphs of a lineage."""
    of = _places(lineage.datasets, lineage.field_dataset)
    return Survey(
        nodes=np.concatenate([lineage.fields, lineage.datasets, lineage.jobs]),
        fields=len(lineage.fields),
        by_field=_by_field(lineage, of),
        by_dataset=_by_dataset(lineage, of),
        own=_own(lineage, of),
    )


def _by_field(lineage: Lineage, of: Ints) -> Reach:
    fields, datasets, jobs = len(lineage.fields), len(lineage.datasets), len(lineage.jobs)
    whole, job, part = fields, fields + datasets, fields + datasets + jobs
    each = np.arange(fields)
    fine = (_kinds(lineage.source) == Kind.FIELD) | (_kinds(lineage.target) == Kind.FIELD)
    edges = np.flatnonzero(fine & (_kinds(lineage.source) != Kind.JOB))
    near = _vertices(lineage, lineage.source[edges], part)
    on = _kinds(lineage.target[edges]) != Kind.JOB
    from_part = np.unique(near[near >= part]) - part
    inside = np.flatnonzero(np.isin(of, from_part))
    written_by, written = _written(lineage, of)
    return Reach(
        vertices=part + datasets,
        source=np.concatenate([near[on], whole + of, inside, whole + from_part, job + written_by]),
        target=np.concatenate(
            [
                _vertices(lineage, lineage.target[edges][on], whole),
                each,
                part + of[inside],
                part + from_part,
                whole + written,
            ]
        ),
        counted=_counted(
            lineage,
            elements(
                np.concatenate([lineage.datasets[of], lineage.datasets]),
                np.concatenate([each, whole + np.arange(datasets)]),
            ),
            elements(lineage.fields, each),
            _jobs_at(lineage, edges, near),
        ),
    )


def _by_dataset(lineage: Lineage, of: Ints) -> Reach:
    datasets, jobs = len(lineage.datasets), len(lineage.jobs)
    each, job = np.arange(datasets), datasets
    source, target = _kinds(lineage.source), _kinds(lineage.target)
    coarse = (source != Kind.FIELD) & (target != Kind.FIELD)
    edges = np.flatnonzero(coarse | (source == Kind.JOB))
    is_job = source[edges] == Kind.JOB
    near = np.empty(len(edges), np.int64)
    near[~is_job] = _places(lineage.datasets, lineage.source[edges][~is_job])
    near[is_job] = job + _places(lineage.jobs, lineage.source[edges][is_job])
    on = (source[edges] == Kind.DATASET) & (target[edges] == Kind.DATASET)
    written_by, written = _written(lineage, of)
    own = elements(lineage.jobs, job + np.arange(jobs))
    at_ends = _jobs_at(lineage, edges, near)
    return Reach(
        vertices=datasets + jobs,
        source=np.concatenate([near[on], job + written_by]),
        target=np.concatenate([_places(lineage.datasets, lineage.target[edges][on]), written]),
        counted=_counted(
            lineage,
            elements(lineage.datasets, each),
            _NOTHING,
            elements(
                np.concatenate([own.ids[own.element], at_ends.ids[at_ends.element]]),
                np.concatenate([own.at, at_ends.at]),
            ),
        ),
    )


def _counted(lineage: Lineage, datasets: Elements, fields: Elements, jobs: Elements) -> tuple[Elements, ...]:
    shown = [chosen(among, lineage.dashboards) for among in (datasets, jobs)]
    by_name = {
        "datasets": datasets,
        "fields": fields,
        "jobs": jobs,
        "dashboards": elements(*(np.concatenate(both) for both in zip(*shown, strict=True))),
        "models": elements(*chosen(datasets, lineage.models)),
    }
    return tuple(by_name[name] for name in COUNTED)


def _vertices(lineage: Lineage, ends: Ints, datasets_from: int) -> Ints:
    """The vertices of fields, and of datasets from a number on."""
    is_field = _kinds(ends) == Kind.FIELD
    found = np.empty(len(ends), np.int64)
    found[is_field] = _places(lineage.fields, ends[is_field])
    found[~is_field] = datasets_from + _places(lineage.datasets, ends[~is_field])
    return found


def _written(lineage: Lineage, of: Ints) -> tuple[Ints, Ints]:
    """Jobs, and the datasets at the other end of edges from them, or that the field there is in."""
    some = np.flatnonzero((_kinds(lineage.source) == Kind.JOB) & (_kinds(lineage.target) != Kind.JOB))
    fields = len(lineage.fields)
    ends = _vertices(lineage, lineage.target[some], fields)
    datasets = np.concatenate([of, np.arange(len(lineage.datasets))])[ends]
    return _places(lineage.jobs, lineage.source[some]), datasets


def _jobs_at(lineage: Lineage, edges: Ints, near: Ints) -> Elements:
    """The jobs at the near ends of edges: their owners, and the jobs that they lead to.

    A traversal skips an edge to a job that derives something at the same place, so the owner of *that* edge does not
    count.
    """
    owner, target = lineage.owner[edges], lineage.target[edges]
    to_job = _kinds(target) == Kind.JOB
    by_job = _kinds(owner) == Kind.JOB
    places = int(near.max()) + 1 if len(near) else 1
    deriving = np.unique(_places(lineage.jobs, owner[by_job & ~to_job]) * places + near[by_job & ~to_job])
    passed = np.zeros(len(edges), bool)
    passed[to_job] = np.isin(_places(lineage.jobs, target[to_job]) * places + near[to_job], deriving)
    counts = by_job & ~passed
    return elements(np.concatenate([owner[counts], target[to_job]]), np.concatenate([near[counts], near[to_job]]))


def _own(lineage: Lineage, of: Ints) -> Ints:
    fields, datasets, jobs = len(lineage.fields), len(lineage.datasets), len(lineage.jobs)
    shown, model = (np.isin(lineage.datasets, some) for some in (lineage.dashboards, lineage.models))
    of_node = {
        "datasets": (np.ones(fields), np.ones(datasets), np.zeros(jobs)),
        "fields": (np.ones(fields), np.bincount(of, minlength=datasets), np.zeros(jobs)),
        "jobs": (np.zeros(fields), np.zeros(datasets), np.ones(jobs)),
        "dashboards": (shown[of], shown, np.isin(lineage.jobs, lineage.dashboards)),
        "models": (model[of], model, np.zeros(jobs)),
    }
    return np.stack([np.concatenate(of_node[name]).astype(np.int64) for name in COUNTED], axis=1)


def _places(known: Ints, ids: Ints) -> Ints:
    """Where each id is among the known ones, which are sorted. Raises StoreError if one is not."""
    place = np.searchsorted(known, ids)
    if len(ids) and (not len(known) or (known[np.minimum(place, len(known) - 1)] != ids).any()):
        raise StoreError("the current edges refer to unknown nodes: `whence rebuild` makes the store again")
    return place


def _kinds(ids: Ints) -> Ints:
    return ids & KIND_BITS


_NOTHING = Elements(ids=np.empty(0, np.int64), element=np.empty(0, np.int64), at=np.empty(0, np.int64))
