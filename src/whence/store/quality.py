"""What data quality checks found, as runs said of the datasets that they read."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from whence.model.catalog import distinct
from whence.model.lineage import Origin
from whence.store.arrays import integers
from whence.store.keyring import keys_in, open_pack
from whence.store.packed import unpack_facets
from whence.store.tables import lineage_edge, lineage_set, run_facets, run_lineage, version

FACET = "dataQualityAssertions"
MOST_RUNS = 500
"""Runs looked at for one question, the latest first."""


class Checked(NamedTuple):
    """The checks of a dataset that a run made last: how many held and how many did not, and when (µs)."""

    run_id: int
    time: int
    held: int
    failed: int


def read_quality(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, Checked]:
    """The last checks of each dataset that has any among the latest runs that read one of them."""
    ids = distinct(dataset_ids)
    runs = _readers(connection, ids)
    wanted = integers(connection, ("id",), [(one,) for one in distinct(runs)])
    packs = select(run_facets.c.run_id, run_facets.c.content).join(wanted, wanted.c.id == run_facets.c.run_id)
    find = keys_in(connection)
    found: dict[int, Checked] = {}
    for run_id, content in connection.execute(packs.order_by(run_facets.c.time)).all():
        for role, dataset_id, key, payload in unpack_facets(open_pack(find, run_id, content)):
            if role and key == FACET and dataset_id in ids and (seen := _checked(run_id, runs[run_id], payload)):
                known = found.get(dataset_id, seen)
                found[dataset_id] = max(known, seen, key=lambda one: one.time)
    return found


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


def _checked(run_id: int, time: int, payload: str) -> Checked | None:
    facet: Any = json.loads(payload) if payload else {}
    said = facet.get("assertions") if isinstance(facet, dict) else None
    results = [bool(one["success"]) for one in said or () if isinstance(one, dict) and "success" in one]
    return Checked(run_id, time, sum(results), len(results) - sum(results)) if results else None
