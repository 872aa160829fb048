"""What the catalog asks goes by an index, before and after ANALYZE: no table is scanned for a page or a thing."""

from collections.abc import Sequence

import pytest
from sqlalchemy import Engine, event, text

from query.traversal.test_query_plans import _is_parameter, store_with_rows
from whence.model.catalog import EntryFilter, EventFilter, RegistryKind, Window
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, JobName
from whence.store.connection.engine import reading, writing
from whence.store.snapshots.catalog import StoreCatalog

__all__ = ["store_with_rows"]

WIDE, JOB = DatasetName("wide", "t7"), JobName("wide", "j7")


def ask(catalog: StoreCatalog) -> None:
    page = Window(limit=5)
    for kind in (Kind.DATASET, Kind.JOB):
        for wanted in (EntryFilter(), EntryFilter(namespace="wide")):
            entries = catalog.listed(kind, wanted, page)
            catalog.listed(kind, wanted, Window(limit=5, after=("wide", entries[-1].name.name, entries[-1].id)))
        catalog.namespaces(kind)
        catalog.first_seen(kind, ["wide"])
    ids = [node_id(WIDE), node_id(JOB)]
    catalog.entries(ids)
    catalog.deleted(ids)
    catalog.facets(ids)
    catalog.schemas(ids[:1])
    runs = catalog.latest_runs(ids[1:], 3)[ids[1]]
    catalog.latest_runs(ids[1:], 1)
    catalog.runs_of(ids[1], page)
    catalog.runs([runs[0].name.run_id])
    catalog.touched([runs[0].id])
    catalog.run_facets([runs[0].id])
    catalog.containers([runs[0].id])
    catalog.last_writes(ids[:1])
    catalog.last_write_times(ids[:1])
    catalog.writes(ids[0], page)
    catalog.versions(ids[1])
    catalog.declaration(ids[1])
    catalog.registered(RegistryKind.TAG)
    catalog.tags()
    catalog.events(EventFilter(after=0, before=1 << 60), page)
    catalog.event("0" * 32)


@pytest.mark.parametrize("analyzed", [False, True])
def test_no_page_scans_a_table(store_with_rows: Engine, analyzed: bool) -> None:
    if analyzed:
        with writing(store_with_rows) as connection:
            connection.execute(text("ANALYZE"))
    asked: list[tuple[str, Sequence[object]]] = []
    event.listen(store_with_rows, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
    with reading(store_with_rows) as connection:
        ask(StoreCatalog(connection))
    selects = [one for one in asked if not one[0].startswith("BEGIN")]
    with store_with_rows.connect() as connection:
        for statement, parameters in selects:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            scans = [row.detail for row in rows if row.detail.startswith("SCAN") and not _is_allowed(row.detail)]
            built = [row.detail for row in rows if "AUTOMATIC" in row.detail]
            assert not scans + built, f"{statement}\n{[row.detail for row in rows]}"


def _is_allowed(detail: str) -> bool:
    """An index that is walked in its order until the page is full, or that has the few rows of one facet only; or the
    few datasets that were dropped.
    """
    ordered = "USING INDEX dataset_listed" in detail or "USING INDEX job_listed" in detail
    return _is_parameter(detail) or ordered or "INDEX facet_body_" in detail or detail == "SCAN dropped_dataset"
