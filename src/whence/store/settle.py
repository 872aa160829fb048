"""Deriving what holds from the facts: statements, spans, current edges. Only what was touched is computed again.

A touched run or declaration changes the history of its owner from its place on. The fold starts at that place from
what held before it, and stops where it agrees again with what is stored. So a late event costs what it changes, and
the result is that of a full fold.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.events import RunState
from whence.store.arrays import integers
from whence.store.engine import writing
from whence.store.groups import settle_groups
from whence.store.history import read_versions, restate
from whence.store.statements import Aspect, HeldSet, Owner, RunFacts, Statement, Version, run_statement, version_of
from whence.store.tables import Touch, declaration, progress, run, run_lineage, touched

CHUNK = 5_000
"""Touched statements settled at a time; bounds memory, not the transaction."""


def settle(engine: Engine, reached: Mapping[str, int]) -> None:
    """Derive from all facts merged so far, and say up to which position each lane is in the tables. One transaction."""
    with writing(engine) as connection:
        while _settle_touched(connection):
            pass
        _write_progress(connection, reached)


def _settle_touched(connection: Connection) -> int:
    rows = connection.execute(select(touched.c.statement_id, touched.c.kind).limit(CHUNK)).all()
    if not rows:
        return 0
    of_kind = {kind: [row.statement_id for row in rows if row.kind == kind] for kind in Touch}
    for kind, ids in of_kind.items():
        _take(connection, kind, ids)
    runs, declared = of_kind[Touch.RUN], of_kind[Touch.DECLARATION]
    stated = [*_run_statements(connection, runs), *_declarations(connection, declared)]
    restate(connection, [*runs, *declared], stated)
    settle_groups(connection, of_kind[Touch.ALIAS])
    return len(rows)


def _take(connection: Connection, kind: Touch, ids: Sequence[int]) -> None:
    if ids:
        taken = integers(connection, ("id",), [(one,) for one in ids])
        is_taken = touched.c.statement_id.in_(select(taken.c.id))
        connection.execute(delete(touched).where(touched.c.kind == kind, is_taken))


def _write_progress(connection: Connection, reached: Mapping[str, int]) -> None:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    given = dialect.insert(progress)
    upsert = given.on_conflict_do_update(index_elements=["name"], set_={"position": given.excluded.position})
    if reached:
        connection.execute(upsert, [{"name": name, "position": position} for name, position in reached.items()])


def _run_statements(connection: Connection, ids: Sequence[int]) -> Iterable[tuple[Statement, Version]]:
    if not ids:
        return
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    facts = connection.execute(
        select(run.c.id, run.c.job_id, run.c.state, run.c.state_at, run.c.seen_from, run.c.streaming).join(
            wanted, wanted.c.id == run.c.id
        )
    ).all()
    said = connection.execute(
        select(run_lineage.c.run_id, run_lineage.c.version).join(wanted, wanted.c.id == run_lineage.c.run_id)
    ).all()
    versions = read_versions(connection, {version for _, version in said})
    by_run: dict[int, list[HeldSet]] = {}
    for run_id, version in said:
        by_run.setdefault(run_id, []).extend(versions[version])
    for id_, job_id, state, state_at, seen_from, streaming in facts:
        if seen_from is not None:
            made = run_statement(
                RunFacts(id_, job_id, RunState(state), state_at, seen_from, bool(streaming)), by_run.get(id_, ())
            )
            if made:
                yield made


def _declarations(connection: Connection, ids: Sequence[int]) -> Iterable[tuple[Statement, Version]]:
    if not ids:
        return
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    found = connection.execute(select(declaration).join(wanted, wanted.c.id == declaration.c.event_id)).all()
    versions = read_versions(connection, {row.version for row in found})
    for event_id, owner_id, time, version in found:
        sets, owner = versions[version], Owner(owner_id, Aspect.DECLARED)
        yield Statement(id=event_id, owner=owner, at=time, confirmed=True, own=version_of(sets)), sets
