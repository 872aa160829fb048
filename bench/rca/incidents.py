"""One incident in an estate: weeks of days with noise and harmless changes, and at the end one fault that spreads."""

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bench.rca.estates import Dataset, Setting

FAULTS = ("schema", "late", "rows lost", "nulls", "code", "duplicates")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What breaks where: from day `day` on. `columns` are those that are damaged; `size` is relative."""

    kind: str
    dataset: int
    day: int
    columns: tuple[int, ...]
    size: float
    fails: bool
    moves_edges: bool


@dataclass(slots=True)
class Chance:
    """All that chance decides about an estate's days, so that they can be lived with and without the fault."""

    rows: Floats
    nulls: Floats
    values: Floats
    distinct: Floats
    hours: Floats
    late: Floats
    dips: Floats
    stale_loss: Floats
    failed: NDArray[np.bool_]
    commits: NDArray[np.bool_]
    schema_beside: NDArray[np.bool_]
    check: Floats


@dataclass(slots=True)
class Days:
    """What happened: datasets × days, and × columns. `finish` in hours from the first midnight; `written`: the run
    succeeded. `rows` is a log, `nulls` a share, `values` a relative deviation, `distinct` a log of a share.
    """

    finish: Floats
    written: NDArray[np.bool_]
    rows: Floats
    nulls: Floats
    values: Floats
    distinct: Floats
    failed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))


def roll(setting: Setting, estate: tuple[Dataset, ...], random: Generator) -> Chance:
    """The dice of one incident."""
    n, days, columns = len(estate), setting.days, setting.columns
    noise = np.array([one.noise for one in estate])[:, None]
    return Chance(
        rows=random.normal(0, 1, (n, days)) * noise,
        nulls=random.normal(0, 0.15, (n, days, columns)),
        values=random.normal(0, 1, (n, days, columns)) * noise[:, :, None] * 0.7,
        distinct=random.normal(0, 0.01, (n, days, columns)),
        hours=np.exp(random.normal(0, 0.25, (n, days))),
        late=np.where(random.random((n, days)) < setting.late_rate, random.uniform(0.5, 6, (n, days)), 0),
        dips=np.where(random.random((n, days)) < setting.dip_rate, np.log(random.uniform(0.6, 0.95, (n, days))), 0),
        stale_loss=np.log(random.uniform(0.2, 0.95, n)),
        failed=random.random((n, days)) < setting.failure_rate,
        commits=random.random((n, days)) < setting.commit_rate,
        schema_beside=random.random((n, days)) < setting.schema_rate,
        check=random.random((n, days)),
    )


def break_something(setting: Setting, estate: tuple[Dataset, ...], random: Generator) -> Fault:
    """A fault of a random kind, in a dataset that something is derived from."""
    with_children = sorted({parent for one in estate for parent in one.parents})
    rates = np.array(setting.faults, float)
    kind = str(random.choice(FAULTS, p=rates / rates.sum()))
    several = int(random.integers(1, max(setting.columns // 2, 2)))
    return Fault(
        kind=kind,
        dataset=int(random.choice(with_children)),
        day=setting.days - 1 - int(random.choice([0, 1, 2], p=[0.5, 0.35, 0.15])),
        columns=tuple(random.choice(setting.columns, several, replace=False).tolist()),
        size=float(random.uniform(0.15, 0.9)) * setting.strength,
        fails=bool(random.random() < 0.4),
        moves_edges=bool(random.random() < 0.5),
    )


def live(setting: Setting, estate: tuple[Dataset, ...], chance: Chance, fault: Fault | None) -> Days:
    """The days of an estate. A cron job that starts before a parent has finished reads yesterday's data."""
    n, days, columns = len(estate), setting.days, setting.columns
    lived = Days(
        finish=np.zeros((n, days)),
        written=np.ones((n, days), bool),
        rows=np.zeros((n, days)),
        nulls=np.zeros((n, days, columns)),
        values=np.zeros((n, days, columns)),
        distinct=np.zeros((n, days, columns)),
        failed=chance.failed.copy(),
    )
    for at, one in enumerate(estate):
        read = _schedule(at, one, lived, chance, fault if fault and fault.dataset == at else None)
        _derive(setting, at, one, lived, chance, read)
        if fault and fault.dataset == at:
            _damage(at, lived, fault)
    return lived


def _schedule(at: int, one: Dataset, lived: Days, chance: Chance, fault: Fault | None) -> NDArray[np.int64]:
    """When each run ends, and of which day each parent's data is that it reads (parents × days)."""
    today = np.arange(lived.finish.shape[1])
    midnights = 24.0 * today
    parents = list(one.parents)
    ready = lived.finish[parents].max(axis=0) if parents else midnights
    begin = midnights + one.start if one.start is not None else ready
    delay = chance.late[at].copy()
    if fault and fault.kind == "late":
        delay[fault.day :] += 3 + 12 * fault.size
    # A run that failed is repeated some time later.
    delay += np.where(lived.failed[at], 1.0, 0)
    lived.finish[at] = begin + delay + one.hours * chance.hours[at]
    if fault and fault.kind == "late" and fault.fails:
        lived.failed[at, fault.day :] = True
    is_stale = lived.finish[parents] > (begin + delay)[None, :] + 1e-9 if parents else np.zeros((0, len(today)), bool)
    return np.asarray(np.maximum(today[None, :] - is_stale, 0))


def _derive(setting: Setting, at: int, one: Dataset, lived: Days, chance: Chance, read: NDArray[np.int64]) -> None:
    days = np.arange(lived.finish.shape[1])
    of = dict(zip(one.parents, read, strict=True))
    lived.rows[at] = chance.rows[at] + chance.dips[at]
    lived.values[at] = chance.values[at]
    lived.distinct[at] = chance.distinct[at]
    if one.driver < 0:
        lived.rows[at] += np.where(days % 7 >= 5, one.weekend, 0)
        return
    coming = lived.rows[one.driver, of[one.driver]].copy()
    if one.is_incremental:
        coming += np.where(of[one.driver] < days, chance.stale_loss[at], 0)
    for parent, column in one.filters:
        lost = np.clip(lived.nulls[parent, of[parent], column], 0, 0.98)
        coming += np.log1p(-lost) * (0.6 if parent != one.driver else 0.3)
    lived.rows[at] += one.elasticity * coming
    if one.elasticity < 0.5:
        # Groups stay, their sums do not.
        lived.values[at] += (0.8 * coming)[:, None] * (np.arange(setting.columns) % 2 == 0)[None, :]
    for column, sources in enumerate(one.sources):
        for parent, source in sources:
            share = setting.kept / len(sources)
            lived.nulls[at, :, column] += share * lived.nulls[parent, of[parent], source]
            lived.values[at, :, column] += share * lived.values[parent, of[parent], source]
            lived.distinct[at, :, column] += share * lived.distinct[parent, of[parent], source]


def _damage(at: int, lived: Days, fault: Fault) -> None:
    days, columns = slice(fault.day, None), list(fault.columns)
    match fault.kind:
        case "schema":
            lived.nulls[at, days, columns] += min(0.5 + fault.size, 1)
        case "nulls":
            lived.nulls[at, days, columns] += 0.6 * fault.size
        case "rows lost":
            lived.rows[at, days] += np.log(max(1 - 0.8 * fault.size, 0.05))
        case "duplicates":
            lived.rows[at, days] += np.log1p(fault.size)
            lived.distinct[at, days] -= np.log1p(fault.size)
        case "code":
            sign = 1 if fault.columns[0] % 2 else -1
            lived.values[at, days, columns] += sign * fault.size
            if fault.fails:
                lived.rows[at, days] += sign * 0.5 * fault.size
