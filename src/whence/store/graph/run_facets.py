"""The facets of runs, as their events reported them: templates joined with the variables of each run."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, select

from whence.model.catalog import sorted_distinct
from whence.store.encryption.keyring import keys_in, open_pack, open_template
from whence.store.schema.array_parameters import integers
from whence.store.schema.facet_templates import RunFacet, has_facet, join_facets
from whence.store.schema.tables import facet_template, run_facets


class ReportedFacets(NamedTuple):
    """Facets that an event reported together. `time` is in microseconds UTC, `rank` that of the event's state."""

    run_id: int
    time: int
    rank: int
    event_id: int
    facets: Sequence[RunFacet]


def read_reported_facets(connection: Connection, run_ids: Iterable[int], key: str = "") -> Iterator[ReportedFacets]:
    """Yield the facets of these runs, in the order of their events: of one key, the last counts. `key`: only of this
    one. Raises EncryptionError.
    """
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(run_ids)])
    yield from _join(connection, _select_facets().join(wanted, wanted.c.id == run_facets.c.run_id), key)


def read_facets_between(
    connection: Connection, key: str, since: int, until: int, limit: int
) -> Sequence[ReportedFacets]:
    """The facets of one key that were reported after a time (µs) and not after another, the latest `limit` reports, in
    order. Raises EncryptionError.
    """
    within = (run_facets.c.time > since, run_facets.c.time <= until)
    used = connection.execute(select(run_facets.c.template_id).where(*within).distinct()).all()
    having = [(id_,) for id_, template in _read_templates(connection, used).items() if has_facet(template, key)]
    wanted = integers(connection, ("id",), sorted(having))
    query = _select_facets().join(wanted, wanted.c.id == run_facets.c.template_id).where(*within)
    latest = (run_facets.c.time.desc(), run_facets.c.event_id.desc(), run_facets.c.run_id.desc())
    found = list(_join(connection, query.order_by(None).order_by(*latest).limit(limit), key))
    return sorted(found, key=lambda one: (one.time, one.rank, one.event_id, one.run_id))


def read_all_reported_facets(connection: Connection) -> Iterator[ReportedFacets]:
    """Yield the facets of all runs, like `read_reported_facets`."""
    yield from _join(connection, _select_facets())


@cache
def _select_facets() -> Select[Any]:
    order = (run_facets.c.time, run_facets.c.rank, run_facets.c.event_id)
    columns = (run_facets.c.run_id, *order, run_facets.c.template_id, run_facets.c.content)
    return select(*columns).order_by(*order)


def _join(connection: Connection, query: Select[Any], key: str = "") -> Iterator[ReportedFacets]:
    rows = connection.execute(query).all()
    find = keys_in(connection)
    templates = _read_templates(connection, rows)
    having = {id_ for id_, template in templates.items() if not key or has_facet(template, key)}
    for run_id, time, rank, event_id, template_id, content in rows:
        if template_id not in having:
            continue
        facets = join_facets(templates[template_id], open_pack(find, run_id, content), key)
        yield ReportedFacets(run_id, time, rank, event_id, tuple(facets))


def _read_templates(connection: Connection, rows: Sequence[Row[Any]]) -> dict[int, bytes]:
    """The templates of rows of `run_facets`. They are read apart, because most runs share theirs with others."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(row.template_id for row in rows)])
    query = select(facet_template).join(wanted, wanted.c.id == facet_template.c.id)
    find = keys_in(connection)
    return {id_: open_template(find, id_, content) for id_, content in connection.execute(query)}
