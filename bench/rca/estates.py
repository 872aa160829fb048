"""Random estates: datasets in layers, with columns, schedules, noise, and what is observed of them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Column = tuple[int, int]
"""A dataset, and the number of one of its columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The parameters of an estate. The defaults are those of the published benchmark; shares are of 1, rates by day."""

    datasets: int = 200
    layers: int = 7
    columns: int = 6
    days: int = 36
    cron: float = 0.4
    rows_known: float = 0.7
    columns_known: float = 0.4
    commits_known: float = 0.85
    schemas_known: float = 0.95
    lineage_known: float = 0.9
    checked: float = 0.3
    commit_rate: float = 0.04
    schema_rate: float = 0.01
    failure_rate: float = 0.01
    late_rate: float = 0.02
    dip_rate: float = 0.02
    noise: float = 0.04
    weekly: float = 0.3
    aggregated: float = 0.3
    incremental: float = 0.5
    kept: float = 0.85
    """The share of an effect that survives a hop."""
    faults: tuple[float, ...] = (1, 1, 1, 1, 1, 1)
    """Relative rates of the kinds of faults, in the order of `faults.FAULTS`."""
    strength: float = 1.0
    hops: int = 2
    """The minimum number of hops from the cause to the symptom, where the estate has such a path."""


PUBLISHED = Setting()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset: what it is derived from, when it is written, and what is observed of it.

    `driver`: the parent whose rows become its rows. `sources` of each column; `filters`: the columns that decide which
    rows it has. `start`: hours after midnight at which its cron job starts, None if it starts after its parents.
    """

    parents: tuple[int, ...]
    driver: int
    sources: tuple[tuple[Column, ...], ...]
    filters: tuple[Column, ...]
    elasticity: float
    is_incremental: bool
    start: float | None
    hours: float
    rows: float
    noise: float
    weekend: float
    nulls: NDArray[np.float64]
    means: NDArray[np.float64]
    has_rows: bool
    has_columns: bool
    has_commits: bool
    has_schema: bool
    has_lineage: bool
    has_checks: bool


def random_setting(random: Generator) -> Setting:
    """A setting from wide ranges, for training: no estate of a user is like the published one."""

    def between(low: float, high: float) -> float:
        return float(random.uniform(low, high))

    return replace(
        PUBLISHED,
        datasets=int(random.integers(40, 240)),
        layers=int(random.integers(4, 9)),
        columns=int(random.integers(3, 10)),
        days=int(random.integers(3, 8) if random.random() < 0.1 else random.integers(12, 45)),
        cron=between(0, 0.9),
        rows_known=between(0.3, 1),
        columns_known=between(0.05, 1),
        commits_known=0.0 if random.random() < 0.4 else between(0.3, 1),
        lineage_known=between(0.3, 1),
        checked=between(0, 0.6),
        schemas_known=between(0.7, 1),
        commit_rate=float(np.exp(random.uniform(np.log(0.01), np.log(0.15)))),
        schema_rate=float(np.exp(random.uniform(np.log(0.003), np.log(0.03)))),
        failure_rate=between(0, 0.03),
        late_rate=between(0, 0.06),
        dip_rate=between(0, 0.06),
        noise=float(np.exp(random.uniform(np.log(0.01), np.log(0.12)))),
        weekly=between(0, 0.7),
        aggregated=between(0.1, 0.5),
        incremental=between(0.1, 0.9),
        kept=between(0.6, 1),
        faults=tuple(random.dirichlet(np.full(6, 3.0)).tolist()),
        strength=between(0.5, 1.5),
        hops=int(random.choice([0, 1, 2, 2])),
    )


def make_estate(setting: Setting, random: Generator) -> tuple[Dataset, ...]:
    """The datasets of an estate, parents before children."""
    shares = np.linspace(1.4, 0.6, setting.layers)
    layers = np.sort(random.choice(setting.layers, setting.datasets, p=shares / shares.sum()))
    made: list[Dataset] = []
    for layer in layers.tolist():
        earlier = [at for at in range(len(made)) if layers[at] < layer]
        nearest = [at for at in earlier if layers[at] == layer - 1]
        made.append(_dataset(setting, random, layer, earlier, nearest or earlier))
    return tuple(made)


def _dataset(setting: Setting, random: Generator, layer: int, earlier: list[int], nearest: list[int]) -> Dataset:
    wanted = int(random.choice([1, 2, 3, 4], p=[0.15, 0.4, 0.3, 0.15])) if earlier else 0
    drawn = (int(random.choice(nearest if random.random() < 0.75 else earlier)) for _ in range(wanted))
    parents = list(dict.fromkeys(drawn))
    is_cron = not parents or random.random() < setting.cron
    is_aggregated = bool(parents) and random.random() < setting.aggregated
    inner = [one for one in parents[1:] if random.random() < 0.6]
    return Dataset(
        parents=tuple(parents),
        driver=parents[0] if parents else -1,
        sources=tuple(_sources(setting, random, parents) for _ in range(setting.columns)),
        filters=tuple((one, int(random.integers(setting.columns))) for one in [*parents[:1], *inner]),
        elasticity=float(random.uniform(0, 0.3)) if is_aggregated else float(random.uniform(0.7, 1)),
        is_incremental=bool(random.random() < setting.incremental),
        start=1 + 1.6 * layer + float(random.uniform(0, 1.5)) if is_cron else None,
        hours=float(random.uniform(0.1, 0.9)),
        rows=float(10 ** random.uniform(2.5, 7)),
        noise=setting.noise * float(np.exp(random.normal(0, 0.5))),
        weekend=float(random.uniform(-1.2, 0)) if random.random() < setting.weekly else 0.0,
        nulls=np.where(random.random(setting.columns) < 0.5, 0, random.uniform(0, 0.1, setting.columns)),
        means=np.exp(random.normal(3, 2, setting.columns)),
        has_rows=bool(random.random() < setting.rows_known),
        has_columns=bool(random.random() < setting.columns_known),
        has_commits=bool(random.random() < setting.commits_known),
        has_schema=bool(random.random() < setting.schemas_known),
        has_lineage=bool(random.random() < setting.lineage_known),
        has_checks=bool(random.random() < setting.checked),
    )


def _sources(setting: Setting, random: Generator, parents: list[int]) -> tuple[Column, ...]:
    if not parents:
        return ()
    several = 1 if random.random() < 0.6 else 2
    return tuple({(int(random.choice(parents)), int(random.integers(setting.columns))) for _ in range(several)})
