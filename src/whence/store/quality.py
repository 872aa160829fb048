"""What data quality checks found, as runs said of the datasets that they read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select, tuple_

from whence.model.catalog import Window, distinct
from whence.model.lineage import Origin
from whence.openlineage.assertions import WARN, Assertion, assertions_in, is_assertions
from whence.store.arrays import integers
from whence.store.attempts import read_twins
from whence.store.keyring import keys_in, open_pack
from whence.store.packed import unpack_facets
from whence.store.tables import lineage_edge, lineage_set, run_facets, run_lineage, version

MOST_RUNS = 500
"""Runs looked at for one question about datasets, the latest first."""
MOST_LOOKED = 5_000
"""Runs looked at for one page of failed checks."""
_TOGETHER = 500
_LEAST = -(1 << 63)


class Checked(NamedTuple):
    """The checks of a dataset that a run made last: how many held and how many did not, and when (µs). `warned`: how
    many did not hold that only warn.
    """

    run_id: int
    time: int
    held: int
    failed: int
    warned: int


class Failed(NamedTuple):
    """The checks of a dataset that did not hold in a run; `held`: how many did. `time` (µs): when it said so last."""

    time: int
    run_id: int
    dataset_id: int
    failed: tuple[Assertion, ...]
    held: int


class Failures(NamedTuple):
    """Some of them, the latest run first. `looked`: the sort key of the last one looked at if there is more to see."""

    found: tuple[Failed, ...]
    looked: tuple[int, int, int] | None


def read_quality(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, Checked]:
    """The last checks of each dataset that has any among the latest runs that read one of them."""
    ids = distinct(dataset_ids)
    runs = _readers(connection, ids)
    found: dict[int, Checked] = {}
    for run_id, said in _said(connection, runs).items():
        for dataset_id, results in said.items():
            if dataset_id in ids and results:
                seen = _counted(run_id, runs[run_id], results)
                found[dataset_id] = max(found.get(dataset_id, seen), seen, key=lambda one: one.time)
    return found


def failed_checks(connection: Connection, window: Window) -> Failures:
    """A page of what did not hold, by run and dataset; looks at MOST_LOOKED runs at most. Groups all that runs said:
    a second for millions.
    """
    runs = _runs_until(connection, window.after)
    found: list[Failed] = []
    for start in range(0, len(runs), _TOGETHER):
        some = dict(runs[start : start + _TOGETHER])
        found += [one for one in _failed(connection, some) if window.after is None or one[:3] < window.after]
        if len(found) >= window.limit:
            return Failures(tuple(found[: window.limit]), None)
    last = (runs[-1][1], runs[-1][0], _LEAST) if len(runs) == MOST_LOOKED else None
    return Failures(tuple(found), last)


def _runs_until(connection: Connection, after: tuple[str | int, ...] | None) -> Sequence[tuple[int, int]]:
    """Runs and when they spoke last, the latest first, from the one of a sort key on."""
    last = func.max(run_facets.c.time).label("last")
    runs = select(run_facets.c.run_id, last).group_by(run_facets.c.run_id).subquery()
    order = (runs.c.last, runs.c.run_id)
    query = select(runs.c.run_id, runs.c.last)
    if after is not None:
        query = query.where(tuple_(*order) <= tuple_(*after[:2]))
    rows = connection.execute(query.order_by(*(one.desc() for one in order)).limit(MOST_LOOKED))
    return [(run_id, time) for run_id, time in rows]


def _failed(connection: Connection, runs: Mapping[int, int]) -> Iterator[Failed]:
    """Of these runs, in order."""
    said = _said(connection, runs)
    twins = read_twins(connection, said)
    others = {one for some in twins.values() for one in some} - set(runs)
    times, said = {**runs, **_last_said(connection, others)}, {**said, **_said(connection, others)}
    for run_id, time in runs.items():
        for dataset_id in sorted(said.get(run_id, {}), reverse=True):
            same = [one for one in twins.get(run_id, ()) if dataset_id in said.get(one, {})]
            if any((times[one], one) > (time, run_id) for one in same):
                continue  # the run of the same attempt that spoke last says it
            results = _merged([said[one][dataset_id] for one in (run_id, *sorted(same))])
            failed = tuple(one for one in results if not one.held)
            if failed:
                yield Failed(time, run_id, dataset_id, failed, len(results) - len(failed))


def _merged(reports: Sequence[Sequence[Assertion]]) -> Sequence[Assertion]:
    """The first report, and what only the others say."""
    first, *others = reports
    known = {(one.name, one.column) for one in first}
    more = {(one.name, one.column): one for some in others for one in some}
    return (*first, *(one for which, one in more.items() if which not in known))


def _last_said(connection: Connection, runs: Iterable[int]) -> Mapping[int, int]:
    """When each run spoke last."""
    wanted = integers(connection, ("id",), [(one,) for one in distinct(runs)])
    last = func.max(run_facets.c.time).label("last")
    query = select(run_facets.c.run_id, last).join(wanted, wanted.c.id == run_facets.c.run_id)
    return {row.run_id: row.last for row in connection.execute(query.group_by(run_facets.c.run_id))}


def _said(connection: Connection, runs: Iterable[int]) -> Mapping[int, Mapping[int, Sequence[Assertion]]]:
    """What runs checked of which dataset, as each said it last."""
    wanted = integers(connection, ("id",), [(one,) for one in distinct(runs)])
    packs = select(run_facets.c.run_id, run_facets.c.content).join(wanted, wanted.c.id == run_facets.c.run_id)
    order = (run_facets.c.time, run_facets.c.rank, run_facets.c.event_id)
    find = keys_in(connection)
    found: dict[int, dict[int, Sequence[Assertion]]] = {}
    for run_id, content in connection.execute(packs.order_by(*order)).all():
        for role, dataset_id, key, payload in unpack_facets(open_pack(find, run_id, content)):
            if is_assertions(role, key):
                found.setdefault(run_id, {})[dataset_id] = assertions_in(payload)
    return found


def _counted(run_id: int, time: int, results: Sequence[Assertion]) -> Checked:
    held = sum(one.held for one in results)
    warned = sum(one.severity == WARN and not one.held for one in results)
    return Checked(run_id, time, held, len(results) - held - warned, warned)


def _readers(connection: Connection, dataset_ids: Sequence[int]) -> dict[int, int]:
    """The latest runs that read one of these datasets, and when they last said so."""
    wanted = integers(connection, ("id",), [(one,) for one in dataset_ids])
    of_sets = (
        select(version.c.id)
        .distinct()
        .join(lineage_edge, lineage_edge.c.set_id == version.c.set_id)
        .join(wanted, wanted.c.id == lineage_edge.c.source_id)
        .join(lineage_set, lineage_set.c.id == version.c.set_id)
        .where(lineage_set.c.origin == Origin.BOUNDARY)
        .subquery()
    )
    last = func.max(run_lineage.c.time).label("last")
    query = select(run_lineage.c.run_id, last).join(of_sets, of_sets.c.id == run_lineage.c.version)
    rows = connection.execute(query.group_by(run_lineage.c.run_id).order_by(last.desc()).limit(MOST_RUNS)).all()
    return {row.run_id: row.last for row in rows}
