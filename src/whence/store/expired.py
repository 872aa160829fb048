"""What a horizon lets go of: the keys of all rows that are to be deleted, marked in temporary tables of a connection.

Marking only reads the store. What is marked: runs that are old, and not among the last of their job, and contain no
run that stays; what these runs said and did; declarations and static events that are replaced; statements that can
never be folded again; spans that ended before the horizon; content that nothing refers to then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    MetaData,
    Row,
    Select,
    Table,
    and_,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    true,
    union,
)
from sqlalchemy.schema import CreateTable, DropTable

from whence.model.events import EventKind
from whence.model.ids import baseline_id
from whence.store.arrays import integers
from whence.store.summary import Horizon
from whence.store.tables import (
    containment,
    declaration,
    event,
    facet,
    lineage_set,
    receipt,
    run,
    run_lineage,
    schema_version,
    span,
    statement,
    version,
)

LANE_BITS = 36
"""A position counts within a lane in these bits."""

_marks = MetaData()


def _marked(name: str, *columns: Column[Any]) -> Table:
    return Table(f"gone_{name}", _marks, *columns, prefixes=["TEMPORARY"])


def _key(name: str) -> Column[int]:
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


gone_run = _marked("run", _key("id"))
gone_declaration = _marked("declaration", _key("event_id"))
gone_event = _marked("event", _key("id"))
gone_receipt = _marked("receipt", _key("position"))
gone_statement = _marked("statement", _key("owner_id"), _key("aspect"), _key("id"), Column("place", BigInteger))
"""`place` counts back from the last statement of its owner that goes: that one's word becomes the baseline."""

gone_span = _marked("span", _key("owner_id"), _key("aspect"), _key("valid_from"))
live_version = Table("live_version", _marks, _key("id"), prefixes=["TEMPORARY"])
gone_version = _marked("version", _key("id"))
gone_set = _marked("lineage_set", _key("id"))
gone_schema = _marked("schema_version", _key("dataset_id"), _key("body_id"))

MARKS: Mapping[str, Table] = {
    "run": gone_run,
    "declaration": gone_declaration,
    "event": gone_event,
    "receipt": gone_receipt,
    "statement": gone_statement,
    "span": gone_span,
    "version": gone_version,
    "lineage_set": gone_set,
    "schema_version": gone_schema,
}
"""By the table whose rows they mark. What belongs to these rows goes with them."""


def mark(connection: Connection, horizon: Horizon, reached: Mapping[str, int]) -> None:
    """Mark what the horizon lets go of in a settled store that has read the log up to `reached`."""
    unmark(connection)
    for table in _marks.sorted_tables:
        connection.execute(CreateTable(table))
    _mark_runs(connection, horizon)
    _mark_declarations(connection, horizon)
    _mark_events(connection, horizon)
    _mark_receipts(connection, horizon, reached)
    _mark_statements(connection, horizon)
    _fill(connection, gone_span, select(*_keys(span)).where(span.c.valid_to <= horizon.history))
    _mark_content(connection)
    _mark_schemas(connection, horizon)


def unmark(connection: Connection) -> None:
    """Leave nothing behind."""
    for table in _marks.sorted_tables:
        connection.execute(DropTable(table, if_exists=True))


def keys(connection: Connection, table: Table, size: int) -> Iterator[Sequence[Row[Any]]]:
    """The marked keys of a table (a value of MARKS), in order, some at a time; the caller may end its transaction in
    between.
    """
    columns = list(table.primary_key.columns)
    after: Row[Any] | None = None
    while True:
        later = true() if after is None else _after(columns, after)
        some = connection.execute(select(*columns).where(later).order_by(*columns).limit(size)).all()
        if not some:
            return
        yield some
        after = some[-1]


def _after(columns: Sequence[Column[Any]], key: Sequence[Any]) -> ColumnElement[bool]:
    first, *rest = columns
    beyond: ColumnElement[bool] = first > key[0]
    return or_(beyond, and_(first == key[0], _after(rest, key[1:]))) if rest else beyond


def _keys(table: Table) -> list[Column[Any]]:
    return list(table.primary_key.columns)


def _fill(connection: Connection, table: Table, rows: Select[Any]) -> None:
    names = [column.name for column in table.columns][: len(rows.selected_columns)]
    connection.execute(insert(table).from_select(names, rows))


def _is_gone(marks: Table, *pairs: tuple[str, ColumnElement[Any]]) -> ColumnElement[bool]:
    return exists().where(*(marks.c[name] == column for name, column in pairs)).correlate_except(marks)


def _mark_runs(connection: Connection, horizon: Horizon) -> None:
    newest = (run.c.seen_to.desc(), run.c.id.desc())
    place = func.row_number().over(partition_by=run.c.job_id, order_by=newest).label("place")
    seen = select(run.c.id, run.c.seen_to, place).where(run.c.seen_to.is_not(None)).subquery()
    _fill(connection, gone_run, select(seen.c.id).where(seen.c.seen_to < horizon.runs, seen.c.place > horizon.keep))
    _fill(connection, gone_run, select(run.c.id).where(run.c.seen_to.is_(None)))
    # What contains a run that stays, stays too, and so does what contains that.
    stays = ~_is_gone(gone_run, ("id", containment.c.run_id))
    held = select(containment.c.container_id).where(stays)
    while connection.execute(delete(gone_run).where(gone_run.c.id.in_(held))).rowcount:
        pass


def _mark_declarations(connection: Connection, horizon: Horizon) -> None:
    newest = (declaration.c.time.desc(), declaration.c.event_id.desc())
    place = func.row_number().over(partition_by=declaration.c.owner_id, order_by=newest).label("place")
    ranked = select(declaration.c.event_id, declaration.c.time, place).subquery()
    replaced = and_(ranked.c.time < horizon.runs, ranked.c.place > 1)
    _fill(connection, gone_declaration, select(ranked.c.event_id).where(replaced))


def _mark_events(connection: Connection, horizon: Horizon) -> None:
    of_run = event.c.kind == int(EventKind.RUN)
    _fill(connection, gone_event, select(event.c.id).where(of_run, _is_gone(gone_run, ("id", event.c.subject_id))))
    stays = ~_is_gone(gone_declaration, ("event_id", declaration.c.event_id))
    replaced = (
        ~of_run,
        event.c.time < horizon.runs,
        event.c.id.not_in(select(facet.c.event_id)),
        event.c.id.not_in(select(declaration.c.event_id).where(stays)),
    )
    _fill(connection, gone_event, select(event.c.id).where(*replaced))


def _mark_receipts(connection: Connection, horizon: Horizon, reached: Mapping[str, int]) -> None:
    """Repeats go with their event. What was refused has no time of its own: it goes if it came before the first event
    that is young enough. In a lane without such an event nothing proves it old.
    """
    again = receipt.c.reason == ""
    stays = exists().where(event.c.id == receipt.c.event_id, ~_is_gone(gone_event, ("id", event.c.id)))
    _fill(connection, gone_receipt, select(receipt.c.position).where(again, ~stays))
    for lane in lane_ranges(reached):
        young = select(func.min(event.c.position)).where(event.c.time >= horizon.runs, lane(event.c.position))
        floor = connection.execute(young).scalar()
        early = false() if floor is None else receipt.c.position < floor
        _fill(connection, gone_receipt, select(receipt.c.position).where(~again, early, lane(receipt.c.position)))


def lane_ranges(reached: Mapping[str, int]) -> list[Callable[[ColumnElement[int]], ColumnElement[bool]]]:
    """For each lane of the log, whether a position is in it. Where there are several, they differ in their high bits
    (`log.Position`).
    """
    if len(reached) < 2:
        return [lambda _: true()]
    return [partial(_in_lane, position >> LANE_BITS) for position in reached.values()]


def _in_lane(number: int, position: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(position >= number << LANE_BITS, position < number + 1 << LANE_BITS)


def _mark_statements(connection: Connection, horizon: Horizon) -> None:
    """Those before the first that an event may still change: before the horizon, only what a run that stays says."""
    may_change = or_(
        exists().where(run.c.id == statement.c.id, ~_is_gone(gone_run, ("id", run.c.id))),
        exists().where(
            declaration.c.event_id == statement.c.id, ~_is_gone(gone_declaration, ("event_id", statement.c.id))
        ),
    )
    owner = (statement.c.owner_id, statement.c.aspect)
    first = (
        select(*owner, func.min(statement.c.at).label("at"))
        .where(statement.c.at < horizon.runs, may_change)
        .group_by(*owner)
        .subquery()
    )
    of_owner = and_(first.c.owner_id == statement.c.owner_id, first.c.aspect == statement.c.aspect)
    before = statement.c.at < func.coalesce(first.c.at, horizon.runs)
    place = func.row_number().over(partition_by=owner, order_by=(statement.c.at.desc(), statement.c.id.desc()))
    rows = select(*owner, statement.c.id, place).select_from(statement.outerjoin(first, of_owner)).where(before)
    _fill(connection, gone_statement, rows)
    _keep_baselines(connection)


def _keep_baselines(connection: Connection) -> None:
    """A baseline with nothing after it is all that it was."""
    same = (gone_statement.c.owner_id, gone_statement.c.aspect)
    alone = select(*same, func.min(gone_statement.c.id).label("id")).group_by(*same).having(func.count() == 1)
    found = connection.execute(alone).all()
    kept = [tuple(row) for row in found if row.id == baseline_id(row.owner_id, row.aspect)]
    wanted = integers(connection, ("owner_id", "aspect", "id"), kept)
    connection.execute(delete(gone_statement).where(gone_statement.c.id.in_(select(wanted.c.id))))


def _mark_content(connection: Connection) -> None:
    """Versions that nothing refers to any more, and lineage sets that are in no version then."""
    gone_here = _is_gone(
        gone_statement, ("owner_id", statement.c.owner_id), ("aspect", statement.c.aspect), ("id", statement.c.id)
    )
    becomes_baseline = and_(
        exists()
        .where(gone_statement.c.owner_id == statement.c.owner_id, gone_statement.c.aspect == statement.c.aspect)
        .where(gone_statement.c.id == statement.c.id, gone_statement.c.place == 1)
    )
    of_span = _is_gone(
        gone_span, ("owner_id", span.c.owner_id), ("aspect", span.c.aspect), ("valid_from", span.c.valid_from)
    )
    live = union(
        select(span.c.version).where(~of_span),
        select(statement.c.own_version).where(~gone_here),
        select(statement.c.held_version).where(or_(~gone_here, becomes_baseline)),
        select(run_lineage.c.version).where(~_is_gone(gone_run, ("id", run_lineage.c.run_id))),
        select(declaration.c.version).where(~_is_gone(gone_declaration, ("event_id", declaration.c.event_id))),
    ).subquery()
    _fill(connection, live_version, select(live))
    dead = version.c.id.not_in(select(live_version.c.id))
    _fill(connection, gone_version, select(version.c.id).where(dead).distinct())
    held = select(version.c.set_id).where(version.c.id.not_in(select(gone_version.c.id)))
    _fill(connection, gone_set, select(lineage_set.c.id).where(lineage_set.c.id.not_in(held)))


def _mark_schemas(connection: Connection, horizon: Horizon) -> None:
    newest = (schema_version.c.last_time.desc(), schema_version.c.last_event.desc())
    place = func.row_number().over(partition_by=schema_version.c.dataset_id, order_by=newest).label("place")
    ranked = select(schema_version, place).subquery()
    replaced = and_(ranked.c.last_time < horizon.history, ranked.c.place > 1)
    _fill(connection, gone_schema, select(ranked.c.dataset_id, ranked.c.body_id).where(replaced))
