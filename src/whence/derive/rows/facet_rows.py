"""Rows of an event's facets: those of datasets and jobs hold until they are replaced, those of a run apply once."""

from collections.abc import Iterable
from functools import lru_cache

from whence.derive.rows.dataset_rows import DatasetRows, FacetRow, Flat, make_facet_rows
from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import hash64, netstrings, node_id
from whence.openlineage.facets.facet_keys import SQL_COMPARISON, SQL_LINEAGE
from whence.store.schema.packed import RunFacet, pack_facets


def list_datasets(event: Event) -> tuple[Dataset, ...]:
    """The datasets that an event mentions."""
    match event:
        case RunEvent():
            return (*event.inputs, *event.outputs)
        case JobEvent():
            return (*event.inputs, *event.outputs, *((event.dataset,) if event.dataset else ()))
        case DatasetEvent():
            return (event.dataset,)


SQL = "sql"
"""The one static facet whose text differs from run to run: a query often names its day."""

_NOT_REPEATED = (SQL, SQL_LINEAGE, SQL_COMPARISON)


def collect_static_facets(event: Event, datasets: Iterable[DatasetRows]) -> tuple[FacetRow, ...]:
    """The facets of datasets and jobs, which hold until replaced, but for `sql`. Of duplicates in one event, the
    largest payload counts.

    Facets that only the pipeline writes are skipped.
    """
    rows: dict[tuple[int, str], FacetRow] = {}
    job_rows: Iterable[FacetRow] = ()
    if not isinstance(event, DatasetEvent):
        own = tuple(facet for facet in event.job.facets if facet.key not in _NOT_REPEATED)
        job_rows = make_facet_rows(node_id(event.job.name), own)
    for row in (*job_rows, *(row for dataset in datasets for row in dataset.facets)):
        kept = rows.setdefault(row[:2], row)
        if kept is not row and kept[3] < row[3]:
            rows[row[:2]] = row
    return tuple(rows.values())


def make_sql_facet_row(event: Event) -> tuple[FacetRow, ...]:
    """The row of a job's `sql` facet, if the event has one."""
    if isinstance(event, DatasetEvent):
        return ()
    return make_facet_rows(node_id(event.job.name), tuple(facet for facet in event.job.facets if facet.key == SQL))


def pack_run_facets(event: Event) -> tuple[Flat, ...]:
    """The facets of one run, packed: its own, and those of its inputs and outputs."""
    if not isinstance(event, RunEvent):
        return ()
    own = tuple(sorted([("", 0, facet.key, facet.payload) for facet in event.run.facets]))
    others: dict[tuple[str, int, str], str] = {}
    for role, datasets in (("input", event.inputs), ("output", event.outputs)):
        for dataset in datasets:
            for facet in dataset.run_facets:
                key = (role, node_id(dataset.name), facet.key)
                others[key] = max(others.get(key, ""), facet.payload)
    # Packed separately, because the run's own facets are mostly the same from its start to its end.
    groups = (own, tuple((*key, others[key]) for key in sorted(others)))
    return tuple(_pack_cached(facets) for facets in groups if facets)


def _pack(facets: tuple[RunFacet, ...]) -> Flat:
    # A facet is replaced whole: of two packs of one shape, the later one leaves nothing of the earlier (rule 17).
    shape = netstrings(part for role, dataset, key, _ in facets for part in (role, str(dataset), key))
    return hash64(shape), pack_facets(facets)


_pack_cached = lru_cache(maxsize=256)(_pack)
