"""Runs that report one attempt: dbt-ol and `whence capture dbt` each report a node of one dbt invocation, under their
own run ids (docs/how-to/dbt.md).
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection, and_, select

from whence.store.graph.run_facets import read_reported_facets
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import run

INVOCATIONS: Mapping[str, str] = {"dbt_run": "invocation_id", "whence_dbtRun": "invocationId"}
"""Run facets that name the invocation of dbt, and their member for it."""
_NEAR = 3_600_000_000
"""The greatest distance of runs of one attempt (µs): their times are those of the node."""


def read_invocations(connection: Connection, run_ids: Iterable[int]) -> Mapping[int, str]:
    """The invocation of dbt that each run belongs to; other runs are left out."""
    found: dict[int, str] = {}
    for reported in read_reported_facets(connection, run_ids):
        for role, _, key, payload in reported.facets:
            if not role and key in INVOCATIONS and (name := _member(payload, INVOCATIONS[key])):
                found[reported.run_id] = name
    return found


def group_attempts(run_ids: Sequence[int], invocations: Mapping[int, str]) -> Sequence[tuple[int, ...]]:
    """Group the runs of one job by attempt, in the order of the first run of each."""
    groups: dict[str | int, list[int]] = {}
    for run_id in run_ids:
        groups.setdefault(invocations.get(run_id, run_id), []).append(run_id)
    return [tuple(group) for group in groups.values()]


def read_twins(connection: Connection, run_ids: Iterable[int]) -> Mapping[int, frozenset[int]]:
    """The other runs that report the same attempt as each run; most runs have none."""
    invocations = read_invocations(connection, run_ids)
    wanted = integers(connection, ("id",), [(invocation,) for invocation in sorted(invocations)])
    other = run.alias("other")
    is_near = other.c.seen_to.between(run.c.seen_to - _NEAR, run.c.seen_to + _NEAR)
    pairs = connection.execute(
        select(run.c.id, other.c.id.label("other"))
        .join(wanted, wanted.c.id == run.c.id)
        .join(other, and_(other.c.job_id == run.c.job_id, other.c.id != run.c.id, is_near))
    ).all()
    known = {**read_invocations(connection, {row.other for row in pairs}), **invocations}
    found: dict[int, set[int]] = {}
    for id_, near in pairs:
        if known.get(near) == invocations[id_]:
            found.setdefault(id_, set()).add(near)
    return {id_: frozenset(some) for id_, some in found.items()}


def _member(payload: str, name: str) -> str:
    facet = msgspec.json.decode(payload) if payload else None
    value = facet.get(name) if isinstance(facet, dict) else None
    return value if isinstance(value, str) else ""
