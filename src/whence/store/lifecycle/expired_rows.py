"""The rows that a horizon deletes: their keys, marked in temporary tables of a connection.

Marking only reads the store. It marks runs that are old, not among the last of their job, and contain no kept run;
everything these runs asserted; replaced declarations and static events; statements that can never be folded again;
intervals that ended before the horizon; replaced schemas and tags; and content without references.
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
from whence.model.ids import baseline_statement_id
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import (
    containment,
    declaration,
    event,
    facet,
    facet_template,
    lineage_set,
    lineage_version,
    receipt,
    run,
    run_facets,
    run_lineage,
    schema_version,
    statement,
    tag_body,
    tag_report,
    validity_interval,
)

LANE_BITS = 36
"""The low bits of a position count within a lane."""

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
"""`place` counts back from the last deleted statement of its owner, which becomes the baseline."""

gone_interval = _marked("interval", _key("owner_id"), _key("aspect"), _key("valid_from"))
live_version = Table("live_version", _marks, _key("id"), prefixes=["TEMPORARY"])
gone_version = _marked("version", _key("id"))
gone_set = _marked("lineage_set", _key("id"))
gone_template = _marked("facet_template", _key("id"))
gone_schema = _marked("schema_version", _key("dataset_id"), _key("body_id"))
gone_tag_report = _marked("tag_report", *map(_key, ("subject_id", "facet", "time", "rank", "event_id")))
gone_tag_body = _marked("tag_body", *map(_key, ("subject_id", "facet", "body_id")))

MARKS: Mapping[str, Table] = {
    "run": gone_run,
    "declaration": gone_declaration,
    "event": gone_event,
    "receipt": gone_receipt,
    "statement": gone_statement,
    "validity_interval": gone_interval,
    "lineage_version": gone_version,
    "lineage_set": gone_set,
    "facet_template": gone_template,
    "schema_version": gone_schema,
    "tag_report": gone_tag_report,
    "tag_body": gone_tag_body,
}
"""By the table whose rows they mark. Dependent rows are deleted with these rows."""


def mark_expired(connection: Connection, horizon: RetentionHorizon, reached: Mapping[str, int]) -> None:
    """Mark the rows that the horizon deletes, in a store without pending changes that has read the log up to
    `reached`.
    """
    drop_marks(connection)
    for table in _marks.sorted_tables:
        connection.execute(CreateTable(table))
    _mark_runs(connection, horizon)
    _mark_declarations(connection, horizon)
    _mark_events(connection, horizon)
    _mark_receipts(connection, horizon, reached)
    _mark_statements(connection, horizon)
    _fill(
        connection,
        gone_interval,
        select(*_keys(validity_interval)).where(validity_interval.c.valid_to <= horizon.history),
    )
    _mark_content(connection)
    _mark_templates(connection)
    _mark_schemas(connection, horizon)
    _mark_tags(connection, horizon)


def drop_marks(connection: Connection) -> None:
    """Drop the temporary tables."""
    for table in _marks.sorted_tables:
        connection.execute(DropTable(table, if_exists=True))


def marked_keys(connection: Connection, table: Table, size: int) -> Iterator[Sequence[Row[Any]]]:
    """Yield the marked keys of a table (a value of MARKS), in order, some at a time.

    The caller may end its transaction in between.
    """
    columns = list(table.primary_key.columns)
    after: Row[Any] | None = None
    while True:
        later = true() if after is None else _is_after(columns, after)
        some = connection.execute(select(*columns).where(later).order_by(*columns).limit(size)).all()
        if not some:
            return
        yield some
        after = some[-1]


def _is_after(columns: Sequence[Column[Any]], key: Sequence[Any]) -> ColumnElement[bool]:
    first, *rest = columns
    beyond: ColumnElement[bool] = first > key[0]
    return or_(beyond, and_(first == key[0], _is_after(rest, key[1:]))) if rest else beyond


def _keys(table: Table) -> list[Column[Any]]:
    return list(table.primary_key.columns)


def _fill(connection: Connection, table: Table, rows: Select[Any]) -> None:
    names = [column.name for column in table.columns][: len(rows.selected_columns)]
    connection.execute(insert(table).from_select(names, rows))


def _is_gone(marks: Table, *pairs: tuple[str, ColumnElement[Any]]) -> ColumnElement[bool]:
    return exists().where(*(marks.c[name] == column for name, column in pairs)).correlate_except(marks)


def _mark_runs(connection: Connection, horizon: RetentionHorizon) -> None:
    newest = (run.c.seen_to.desc(), run.c.id.desc())
    place = func.row_number().over(partition_by=run.c.job_id, order_by=newest).label("place")
    seen = select(run.c.id, run.c.seen_to, place).where(run.c.seen_to.is_not(None)).subquery()
    _fill(connection, gone_run, select(seen.c.id).where(seen.c.seen_to < horizon.runs, seen.c.place > horizon.keep))
    _fill(connection, gone_run, select(run.c.id).where(run.c.seen_to.is_(None)))
    # A run that contains a kept run is kept too, at any depth.
    stays = ~_is_gone(gone_run, ("id", containment.c.run_id))
    held = select(containment.c.container_id).where(stays)
    while connection.execute(delete(gone_run).where(gone_run.c.id.in_(held))).rowcount:
        pass


def _mark_declarations(connection: Connection, horizon: RetentionHorizon) -> None:
    newest = (declaration.c.time.desc(), declaration.c.event_id.desc())
    place = func.row_number().over(partition_by=declaration.c.owner_id, order_by=newest).label("place")
    ranked = select(declaration.c.event_id, declaration.c.time, place).subquery()
    replaced = and_(ranked.c.time < horizon.runs, ranked.c.place > 1)
    _fill(connection, gone_declaration, select(ranked.c.event_id).where(replaced))


def _mark_events(connection: Connection, horizon: RetentionHorizon) -> None:
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


def _mark_receipts(connection: Connection, horizon: RetentionHorizon, reached: Mapping[str, int]) -> None:
    """Mark receipts. Duplicates are deleted with their event. A rejected record has no time: it is deleted if it
    arrived before the first kept event.

    In a lane without a kept event nothing proves its age.
    """
    is_duplicate = receipt.c.reason == ""
    stays = exists().where(event.c.id == receipt.c.event_id, ~_is_gone(gone_event, ("id", event.c.id)))
    _fill(connection, gone_receipt, select(receipt.c.position).where(is_duplicate, ~stays))
    for lane in lane_ranges(reached):
        young = select(func.min(event.c.position)).where(event.c.time >= horizon.runs, lane(event.c.position))
        floor = connection.execute(young).scalar()
        early = false() if floor is None else receipt.c.position < floor
        _fill(
            connection, gone_receipt, select(receipt.c.position).where(~is_duplicate, early, lane(receipt.c.position))
        )


def lane_ranges(reached: Mapping[str, int]) -> list[Callable[[ColumnElement[int]], ColumnElement[bool]]]:
    """For each lane of the log, the test whether a position is in it. Several lanes differ in the high bits
    (`log.Position`).
    """
    if len(reached) < 2:
        return [lambda _: true()]
    return [partial(_in_lane, position >> LANE_BITS) for position in reached.values()]


def _in_lane(number: int, position: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(position >= number << LANE_BITS, position < number + 1 << LANE_BITS)


def _mark_statements(connection: Connection, horizon: RetentionHorizon) -> None:
    """Mark the statements before the first that an event may still change: before the horizon, only those of
    kept runs.
    """
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
    """Keep a baseline that no other marked statement follows: it would be replaced by itself."""
    same = (gone_statement.c.owner_id, gone_statement.c.aspect)
    alone = select(*same, func.min(gone_statement.c.id).label("id")).group_by(*same).having(func.count() == 1)
    found = connection.execute(alone).all()
    kept = [tuple(row) for row in found if row.id == baseline_statement_id(row.owner_id, row.aspect)]
    wanted = integers(connection, ("owner_id", "aspect", "id"), kept)
    connection.execute(delete(gone_statement).where(gone_statement.c.id.in_(select(wanted.c.id))))


def _mark_content(connection: Connection) -> None:
    """Mark versions without references, and lineage sets that are in no other version."""
    gone_here = _is_gone(
        gone_statement, ("owner_id", statement.c.owner_id), ("aspect", statement.c.aspect), ("id", statement.c.id)
    )
    becomes_baseline = and_(
        exists()
        .where(gone_statement.c.owner_id == statement.c.owner_id, gone_statement.c.aspect == statement.c.aspect)
        .where(gone_statement.c.id == statement.c.id, gone_statement.c.place == 1)
    )
    of_interval = _is_gone(
        gone_interval,
        ("owner_id", validity_interval.c.owner_id),
        ("aspect", validity_interval.c.aspect),
        ("valid_from", validity_interval.c.valid_from),
    )
    live = union(
        select(validity_interval.c.version).where(~of_interval),
        select(statement.c.own_version).where(~gone_here),
        select(statement.c.held_version).where(or_(~gone_here, becomes_baseline)),
        select(run_lineage.c.version).where(~_is_gone(gone_run, ("id", run_lineage.c.run_id))),
        select(declaration.c.version).where(~_is_gone(gone_declaration, ("event_id", declaration.c.event_id))),
    ).subquery()
    _fill(connection, live_version, select(live))
    dead = lineage_version.c.id.not_in(select(live_version.c.id))
    _fill(connection, gone_version, select(lineage_version.c.id).where(dead).distinct())
    held = select(lineage_version.c.set_id).where(lineage_version.c.id.not_in(select(gone_version.c.id)))
    _fill(connection, gone_set, select(lineage_set.c.id).where(lineage_set.c.id.not_in(held)))


def _mark_templates(connection: Connection) -> None:
    """Mark the templates that no kept run uses."""
    used = select(run_facets.c.template_id).where(~_is_gone(gone_run, ("id", run_facets.c.run_id)))
    _fill(connection, gone_template, select(facet_template.c.id).where(facet_template.c.id.not_in(used)))


def _mark_schemas(connection: Connection, horizon: RetentionHorizon) -> None:
    newest = (schema_version.c.last_time.desc(), schema_version.c.last_event.desc())
    place = func.row_number().over(partition_by=schema_version.c.dataset_id, order_by=newest).label("place")
    ranked = select(schema_version, place).subquery()
    replaced = and_(ranked.c.last_time < horizon.history, ranked.c.place > 1)
    _fill(connection, gone_schema, select(ranked.c.dataset_id, ranked.c.body_id).where(replaced))


def _mark_tags(connection: Connection, horizon: RetentionHorizon) -> None:
    """Mark the reports that others replaced by the horizon, those that repeat the previous one, if no event can come
    between any more, and the tags that no other report contains.
    """
    keys = _keys(tag_report)
    later = func.lead(tag_report.c.time).over(partition_by=keys[:2], order_by=keys[2:]).label("later")
    before = func.lag(tag_report.c.body_id).over(partition_by=keys[:2], order_by=keys[2:]).label("before")
    placed = select(*keys, tag_report.c.body_id, later, before).where(tag_report.c.time < horizon.runs).subquery()
    is_replaced = placed.c.later <= horizon.history
    is_repeated = and_(placed.c.time > horizon.history, placed.c.body_id == placed.c.before)
    names = [column.name for column in keys]
    expired = select(*(placed.c[name] for name in names)).where(or_(is_replaced, is_repeated))
    _fill(connection, gone_tag_report, expired)
    stays = ~_is_gone(gone_tag_report, *((name, tag_report.c[name]) for name in names))
    same = [tag_report.c[column.name] == column for column in _keys(tag_body)]
    unused = ~exists().where(*same, stays).correlate(tag_body)
    _fill(connection, gone_tag_body, select(*_keys(tag_body)).where(unused))
