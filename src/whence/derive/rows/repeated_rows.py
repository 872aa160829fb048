"""The rows that a job's events repeat: names, static facets, schemas, aliases and lineage, all without a time or a run.

Most events repeat all of them, so they are made once, and the same object stands for all events that repeat it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from whence.derive.rows.bounded_cache import BoundedCache
from whence.derive.rows.dataset_rows import CACHED_CHARACTERS, FacetRow, Flat, SchemaRow, make_dataset_rows
from whence.derive.rows.facet_rows import SQL, collect_static_facets, list_datasets
from whence.derive.rows.lineage_rows import SetRow, make_lineage_rows
from whence.derive.rows.sql_selection import has_sql
from whence.model.events import Dataset, Event, RunEvent
from whence.model.names import DatasetName, JobName
from whence.openlineage.facets.steward_tags import TAG_FACETS

TagRow = tuple[int, int, int]
"""Subject, place of the facet in TAG_FACETS, hash of the payload."""

_TAGS = {name: place for place, name in enumerate(TAG_FACETS)}
_Sources = tuple[tuple[DatasetName, bytes], ...]


@dataclass(frozen=True, slots=True)
class _Key:
    """Everything that decides the repeated rows of a run event. `Dataset.source` decides all of a dataset but its run
    facets, and edges that depend on the event's other datasets. `sql` is the job's masked query, and its dialect.
    """

    producer: str
    job: JobName
    facets: tuple[tuple[str, str, bool], ...]
    is_partial: bool
    sql: tuple[str, str] | None
    inputs: _Sources
    outputs: _Sources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedRows:
    """What an event asserts, but for its job's SQL text and what is of its run alone.

    `version`: of the lineage sets, together; 0: none. The tuples:
    - `datasets`, `jobs`: id, namespace, name
    - `facets`: subject, name, hash of the payload, payload
    - `tags`: subject, place of the facet in TAG_FACETS, hash of the payload; they are among the facets
    - `aliases`: dataset, alias, type; `schemas`: dataset, hash of the payload, packed content
    - `sets`: id, digest, owner, output, level, origin, packed content
    """

    version: int
    datasets: tuple[Flat, ...]
    jobs: tuple[Flat, ...]
    facets: tuple[FacetRow, ...]
    tags: tuple[TagRow, ...]
    aliases: tuple[Flat, ...]
    schemas: tuple[SchemaRow, ...]
    sets: tuple[SetRow, ...]


def make_repeated_rows(event: Event, owner: JobName | DatasetName, *, reads_sql: bool) -> RepeatedRows:
    """Make the repeated rows of an event, whose lineage `owner` asserts: the same object for equal descriptions."""
    key = _key(event, reads_sql=reads_sql) if isinstance(event, RunEvent) else None
    if key is None:
        return _make_rows(event, owner, reads_sql=reads_sql)
    return _cached.get_or_make(key, lambda: _make_rows(event, owner, reads_sql=reads_sql))


def _key(event: RunEvent, *, reads_sql: bool) -> _Key | None:
    """The key of an event; None if its rows should not be cached."""
    size = sum([len(dataset.source) or CACHED_CHARACTERS for dataset in (*event.inputs, *event.outputs)])
    if size >= CACHED_CHARACTERS:
        return None
    return _Key(
        producer=event.producer,
        job=event.job.name,
        facets=tuple([(facet.key, facet.payload, facet.deleted) for facet in event.job.facets if facet.key != SQL]),
        is_partial=event.run.partial,
        sql=_masked_query(event) if reads_sql and has_sql(event) else None,
        inputs=_sources(event.inputs),
        outputs=_sources(event.outputs),
    )


def _masked_query(event: RunEvent) -> tuple[str, str]:
    from whence.derive.rows.sql_lineage import find_query  # imported only if used: it costs memory

    return find_query(event)


def _sources(datasets: Iterable[Dataset]) -> _Sources:
    return tuple([(dataset.name, dataset.source) for dataset in datasets])


def _make_rows(event: Event, owner: JobName | DatasetName, *, reads_sql: bool) -> RepeatedRows:
    lineage = make_lineage_rows(event, owner, reads_sql=reads_sql)
    dataset_rows = [make_dataset_rows(dataset) for dataset in list_datasets(event)]
    facets = (*collect_static_facets(event, dataset_rows), *lineage.facets)
    return RepeatedRows(
        version=lineage.version,
        datasets=tuple({*lineage.datasets, *(row for dataset in dataset_rows for row in dataset.datasets)}),
        jobs=lineage.jobs,
        facets=facets,
        tags=tuple([(subject, _TAGS[name], body) for subject, name, body, _ in facets if name in _TAGS]),
        aliases=tuple({row for dataset in dataset_rows for row in dataset.aliases}),
        schemas=tuple({row for dataset in dataset_rows for row in dataset.schemas}),
        sets=lineage.sets,
    )


def _weigh(key: _Key, rows: RepeatedRows) -> int:
    sources = [source for _, source in (*key.inputs, *key.outputs)]
    contents = [*(content for *_, content in rows.sets), *(content for *_, content in rows.schemas)]
    payloads = [payload for *_, payload in rows.facets]
    return sum(map(len, sources)) + sum(map(len, contents)) + sum(map(len, payloads))


_cached: BoundedCache[_Key, RepeatedRows] = BoundedCache(32 * 2**20, _weigh)
"""The cached rows: bytes per process that reads events."""
