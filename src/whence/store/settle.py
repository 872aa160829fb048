"""Deriving what holds from the facts: statements, spans, current edges. Only what was touched is computed again.

A touched run or declaration changes the history of its owner from its place on. The fold starts at that place from
what held before it, and stops where it agrees again with what is stored. So a late event costs what it changes, and
the result is that of a full fold.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.events import RunState
from whence.model.ids import Kind, kind_of
from whence.store.arrays import integers
from whence.store.engine import writing
from whence.store.groups import settle_groups
from whence.store.history import restate
from whence.store.statements import Aspect, HeldSet, Owner, RunFacts, Statement, Version, run_statement, version_id
from whence.store.tables import declaration, declared_lineage, lineage_set, progress, run, run_lineage, touched

CHUNK = 5_000
"""Touched statements settled at a time; bounds memory, not the transaction."""


def settle(engine: Engine, reached: Mapping[str, int]) -> None:
    """Derive from all facts merged so far, and say up to which position each lane is in the tables. One transaction."""
    with writing(engine) as connection:
        while _settle_touched(connection):
            pass
        _write_progress(connection, reached)


def _settle_touched(connection: Connection) -> int:
    rows = connection.execute(select(touched.c.statement_id, touched.c.key).limit(CHUNK)).all()
    if not rows:
        return 0
    _take(connection, [row.statement_id for row in rows])
    runs = [row.statement_id for row in rows if not row.key and kind_of(row.statement_id) is Kind.RUN]
    aliased = [row.statement_id for row in rows if not row.key and kind_of(row.statement_id) is Kind.DATASET]
    declared = [row.key for row in rows if row.key]
    stated = [*_run_statements(connection, runs), *_declarations(connection, declared)]
    restate(connection, [row.statement_id for row in rows], stated)
    settle_groups(connection, aliased)
    return len(rows)


def _take(connection: Connection, ids: Sequence[int]) -> None:
    taken = integers(connection, ("id",), [(one,) for one in ids])
    connection.execute(delete(touched).where(touched.c.statement_id.in_(select(taken.c.id))))


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
        select(run_lineage.c.run_id, *_HELD)
        .join(wanted, wanted.c.id == run_lineage.c.run_id)
        .join(lineage_set, lineage_set.c.id == run_lineage.c.set_id)
    ).all()
    by_run: dict[int, list[HeldSet]] = {}
    for run_id, *held in said:
        by_run.setdefault(run_id, []).append(HeldSet(*held))
    for id_, job_id, state, state_at, seen_from, streaming in facts:
        if seen_from is not None:
            made = run_statement(
                RunFacts(id_, job_id, RunState(state), state_at, seen_from, bool(streaming)), by_run.get(id_, ())
            )
            if made:
                yield made


_HELD = (lineage_set.c.id, lineage_set.c.output_id, lineage_set.c.level, lineage_set.c.origin)


def _declarations(connection: Connection, keys: Sequence[str]) -> Iterable[tuple[Statement, Version]]:
    if not keys:
        return
    found = connection.execute(select(declaration).where(declaration.c.key.in_(keys))).all()
    rows = connection.execute(
        select(declared_lineage.c.key, *_HELD)
        .join(lineage_set, lineage_set.c.id == declared_lineage.c.set_id)
        .where(declared_lineage.c.key.in_(keys))
    ).all()
    by_key: dict[str, list[HeldSet]] = {}
    for key, *held in rows:
        by_key.setdefault(key, []).append(HeldSet(*held))
    for key, owner_id, time in found:
        sets = tuple(sorted(by_key.get(key, ()), key=lambda one: one.id))
        owner = Owner(owner_id, Aspect.DECLARED)
        yield Statement(id=declaration_id(key), owner=owner, at=time, confirmed=True, own=version_id(sets)), sets


def declaration_id(key: str) -> int:
    """The statement id of a declaring event: the first 64 bits of its key, signed."""
    return int.from_bytes(bytes.fromhex(key[:16]), "big", signed=True)
