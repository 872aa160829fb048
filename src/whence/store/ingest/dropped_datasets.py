"""Dropped datasets, as rows: the last drop of each (docs/explanation/state.md, "Life of a dataset")."""

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Index,
    Table,
    and_,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    union_all,
)

from whence.model.lineage import Origin
from whence.store.schema.columns import COMPACT, plain_column
from whence.store.schema.tables import alias_group, dataset, lineage_set, metadata

_MARKS = text(f"origin = '{Origin.DROPPED}'")
Index("lineage_set_dropped", lineage_set.c.output_id, sqlite_where=_MARKS, postgresql_where=_MARKS)

dropped_dataset = Table(
    "dropped_dataset",
    metadata,
    plain_column("dataset_id", BigInteger, primary_key=True),
    plain_column("at", BigInteger),  # when it was dropped last
    plain_column("statement_id", BigInteger),  # the run or event that dropped it
    **COMPACT,
)

marker = lineage_set.alias("marker")
IS_MARKER = marker.c.origin == text(f"'{Origin.DROPPED}'")  # as literal text, so that the planner recognises the index


def is_dropped(dataset_id: ColumnElement[int], last_seen: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether a dataset was dropped, by any of its names, and no event mentioned it since."""
    own, named, other = dropped_dataset.alias("own"), alias_group.alias("named"), alias_group.alias("other")
    by_name = dropped_dataset.join(named, named.c.dataset_id == dropped_dataset.c.dataset_id)
    by_name = by_name.join(other, other.c.representative_id == named.c.representative_id)
    # Not joins: a planner with old statistics begins with the aliases, which are many.
    groups = select(named.c.representative_id).where(named.c.dataset_id.in_(select(dropped_dataset.c.dataset_id)))
    alike_names = select(other.c.dataset_id).where(other.c.representative_id.in_(groups))
    ended = union_all(select(dropped_dataset.c.dataset_id), alike_names)
    same = exists().where(own.c.dataset_id == dataset_id, own.c.at >= last_seen).correlate_except(own)
    alike = (
        exists()
        .select_from(by_name)
        .where(other.c.dataset_id == dataset_id, dropped_dataset.c.at >= last_seen)
        .correlate_except(dropped_dataset, named, other)
    )
    # Dropped datasets are few: they are looked up once, then their times are compared.
    return and_(dataset_id.in_(ended), or_(same, alike))


def read_dropped(connection: Connection, dataset_id: int, at: int | None) -> int | None:
    """The time at which a dataset was dropped, by any of its names, if it was deleted by a time (µs) or, with None, is
    now.
    """
    ended = is_dropped(dataset.c.id, dataset.c.last_seen)
    own = connection.execute(select(dataset.c.id).where(dataset.c.id == dataset_id, ended)).scalar()
    if own is None:
        return None
    named, other = alias_group.alias("named"), alias_group.alias("other")
    by_name = select(other.c.dataset_id).join(named, named.c.representative_id == other.c.representative_id)
    names = union_all(select(literal(own)), by_name.where(named.c.dataset_id == own))
    last: int | None = connection.execute(
        select(func.max(dropped_dataset.c.at)).where(dropped_dataset.c.dataset_id.in_(names))
    ).scalar()
    return last if last is not None and (at is None or last <= at) else None
