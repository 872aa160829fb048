"""Rows of an event's facets: those of datasets and jobs hold until they are replaced, those of a run apply once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whence.derive.rows.bounded_cache import BoundedCache
from whence.derive.rows.dataset_rows import DatasetRows, FacetRow, make_facet_rows
from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import node_id
from whence.openlineage.facets.facet_keys import SQL_COMPARISON, SQL_LINEAGE
from whence.store.schema.facet_templates import (
    RunFacet,
    SplitPayload,
    Template,
    TemplateParts,
    encode_variables,
    make_template,
    split_facets,
    split_payload,
)


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


@dataclass(frozen=True, slots=True)
class PackedFacets:
    """The facets that an event reports of its run."""

    template: Template
    variables: bytes


def pack_run_facets(event: Event) -> tuple[PackedFacets, ...]:
    """Pack the facets of one run: its own, and those of its inputs and outputs. Empty if there are none."""
    if not isinstance(event, RunEvent):
        return ()
    payloads = {("", 0, facet.key): facet.payload for facet in event.run.facets}
    for role, datasets in (("input", event.inputs), ("output", event.outputs)):
        for dataset in datasets:
            for facet in dataset.run_facets:
                key = (role, node_id(dataset.name), facet.key)
                payloads[key] = max(payloads.get(key, ""), facet.payload)
    return (_pack([(*key, payloads[key]) for key in sorted(payloads)]),) if payloads else ()


def _pack(facets: Sequence[RunFacet]) -> PackedFacets:
    parts, variables = split_facets(facets, _split)
    template = _templates.get_or_make(parts, lambda: make_template(parts))
    return PackedFacets(template, encode_variables(variables))


def _split(payload: str) -> SplitPayload:
    if len(payload) > _CACHED_PAYLOAD:
        return split_payload(payload)
    return _split_payloads.get_or_make(payload, lambda: split_payload(payload))


_CACHED_PAYLOAD = 4_096
"""Characters of a payload whose template is cached. Longer ones, such as plans, hardly repeat."""

_split_payloads: BoundedCache[str, SplitPayload] = BoundedCache(4 * 2**20, lambda payload, _: 2 * len(payload))
_templates: BoundedCache[TemplateParts, Template] = BoundedCache(
    4 * 2**20, lambda parts, _: sum(len(text) for *_, text, _ in parts)
)
"""Bytes per process that reads events."""
