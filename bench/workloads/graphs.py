"""A large lineage graph, as arrays: layers of datasets, hubs that very many consume, some cycles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.model.ids import Kind

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Datasets, each with fields and written by a job of its own; column and dataset edges, and those of jobs."""

    datasets: Ints
    fields: Ints
    field_dataset: Ints
    jobs: Ints
    edges: Ints
    """(source, target, owner, source's dataset, target's dataset); 0 where an end is a job."""
    column_edges: int
    dashboards: Ints
    models: Ints


def layered(fields: int, edges: int, *, columns: int = 10, layers: int = 15, seed: int = 1) -> Graph:
    """A layered graph with `fields` columns in datasets of `columns`, and at most `edges` column edges.

    Most sources are in the layer before, some in any earlier one; popularity is a power law, so hubs have very many
    consumers. One edge in ten thousand leads back, which makes cycles.
    """
    rng = np.random.default_rng(seed)
    count = fields // columns
    layer = np.sort(rng.integers(0, layers, count))
    begins = np.searchsorted(layer, np.arange(layers + 1))
    writing = np.flatnonzero(layer > 0)
    inputs = _inputs(rng, layer, begins, writing)
    tried = edges * 5 // 4  # some come twice
    target = rng.choice(writing, tried) * columns + rng.integers(0, columns, tried)
    of = inputs[target // columns, rng.integers(0, inputs.shape[1], tried)]
    source = of * columns + (rng.random(tried) ** 2 * columns).astype(np.int64)
    back = rng.random(tried) < 1e-4
    source[back], target[back] = target[back], source[back]
    distinct = np.unique(source * fields + target)
    source, target = np.divmod(rng.choice(distinct, min(edges, len(distinct)), replace=False), fields)
    owner = np.maximum(source // columns, target // columns)  # who writes the later one says a way back, too
    return _named(rng, count, columns, source, target, owner)


def _inputs(rng: np.random.Generator, layer: Ints, begins: Ints, writing: Ints) -> Ints:
    """The datasets that each dataset is made from: three, by popularity."""
    inputs = np.zeros((len(layer), 3), np.int64)
    for place in range(3):
        from_layer = np.where(rng.random(len(writing)) < 0.8, layer[writing] - 1, 0)
        low = np.where(from_layer > 0, begins[from_layer], 0)
        high = np.where(from_layer > 0, begins[from_layer + 1], begins[layer[writing]])
        inputs[writing, place] = low + (rng.random(len(writing)) ** 3 * (high - low)).astype(np.int64)
    return inputs


def _named(rng: np.random.Generator, count: int, columns: int, source: Ints, target: Ints, owner: Ints) -> Graph:
    datasets, jobs = _ids(rng, count, Kind.DATASET), _ids(rng, count, Kind.JOB)
    fields = _ids(rng, count * columns, Kind.FIELD)
    inner = np.stack(
        [fields[source], fields[target], jobs[owner], datasets[source // columns], datasets[target // columns]]
    )
    whole = np.unique(np.stack([source // columns, target // columns, owner]), axis=1)
    of_datasets = np.stack(
        [datasets[whole[0]], datasets[whole[1]], jobs[whole[2]], datasets[whole[0]], datasets[whole[1]]]
    )
    read = np.unique(whole[[0, 2]], axis=1)
    none = np.zeros(read.shape[1], np.int64)
    reads = np.stack([datasets[read[0]], jobs[read[1]], jobs[read[1]], datasets[read[0]], none])
    written = np.unique(whole[[2, 1]], axis=1)
    none = np.zeros(written.shape[1], np.int64)
    writes = np.stack([jobs[written[0]], datasets[written[1]], jobs[written[0]], none, datasets[written[1]]])
    shown = datasets[-rng.choice(count // 7, count // 60, replace=False) - 1]
    return Graph(
        datasets=datasets,
        fields=fields,
        field_dataset=np.repeat(datasets, columns),
        jobs=jobs,
        edges=np.concatenate([inner, of_datasets, reads, writes], axis=1).T,
        column_edges=len(source),
        dashboards=shown[len(shown) // 10 :],
        models=shown[: len(shown) // 10],
    )


def _ids(rng: np.random.Generator, count: int, kind: Kind) -> Ints:
    return np.unique(rng.integers(-(2**63), 2**63 - 1, count) & ~3 | kind)
