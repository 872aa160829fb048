"""What an event's facets say, as rows: of datasets and jobs until it is said anew, of a run once."""

from collections.abc import Iterable
from functools import lru_cache

from whence.derive.dataset_rows import DatasetRows, FacetRow, Flat, facet_rows
from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import hash64, netstrings, node_id
from whence.openlineage.facets import SQL_COMPARISON, SQL_LINEAGE
from whence.store.packed import RunFacet, pack_facets


def mentioned(event: Event) -> tuple[Dataset, ...]:
    """The datasets that an event speaks of."""
    match event:
        case RunEvent():
            return (*event.inputs, *event.outputs)
        case JobEvent():
            return (*event.inputs, *event.outputs, *((event.dataset,) if event.dataset else ()))
        case DatasetEvent():
            return (event.dataset,)


def static_facets(event: Event, of_datasets: Iterable[DatasetRows]) -> tuple[FacetRow, ...]:
    """What holds of datasets and jobs until it is said anew. Said twice in one event, the largest payload counts.

    What only the pipeline says of a job is passed over.
    """
    said: dict[tuple[int, str], FacetRow] = {}
    of_job: Iterable[FacetRow] = ()
    if not isinstance(event, DatasetEvent):
        own = tuple(facet for facet in event.job.facets if facet.key not in (SQL_LINEAGE, SQL_COMPARISON))
        of_job = facet_rows(node_id(event.job.name), own)
    for row in (*of_job, *(row for one in of_datasets for row in one.facets)):
        known = said.setdefault(row[:2], row)
        if known is not row and known[3] < row[3]:
            said[row[:2]] = row
    return tuple(said.values())


def run_facets(event: Event) -> tuple[Flat, ...]:
    """What is said of one run only, packed: of the run, and of its inputs and outputs."""
    if not isinstance(event, RunEvent):
        return ()
    own = tuple(sorted([("", 0, facet.key, facet.payload) for facet in event.run.facets]))
    others: dict[tuple[str, int, str], str] = {}
    for role, datasets in (("input", event.inputs), ("output", event.outputs)):
        for one in datasets:
            for facet in one.run_facets:
                key = (role, node_id(one.name), facet.key)
                others[key] = max(others.get(key, ""), facet.payload)
    # Apart, because what is said of the run is mostly the same from its start to its end.
    apart = (own, tuple((*key, others[key]) for key in sorted(others)))
    return tuple(_packed_once(facets) for facets in apart if facets)


def _packed(facets: tuple[RunFacet, ...]) -> Flat:
    # A facet is replaced whole: of two packs of one shape, the later one leaves nothing of the earlier (rule 17).
    shape = netstrings(part for role, dataset, key, _ in facets for part in (role, str(dataset), key))
    return hash64(shape), pack_facets(facets)


_packed_once = lru_cache(maxsize=256)(_packed)
