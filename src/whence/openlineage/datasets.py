"""The inputs and outputs of an event: read whole, or from split parts that were mostly read before."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from whence.model.events import Dataset, Facet
from whence.model.lineage import Edge
from whence.model.names import DatasetName
from whence.openlineage.facets.assertions import ASSERTIONS
from whence.openlineage.facets.column_lineage import list_reported_columns, read_column_edges
from whence.openlineage.facets.facets import Facets, active_facet, encode_run_facets, encode_static_facets, read_facets
from whence.openlineage.facets.measurements import METRICS
from whence.openlineage.facets.schema_fields import read_schema_fields
from whence.openlineage.facets.source_matching import match_sources
from whence.openlineage.facets.symlinks import read_symlinks
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.interning import FACETS, decode_interned
from whence.openlineage.json.split_event import DatasetKeys, FacetTexts, PartKey, SplitEvent
from whence.openlineage.json.wire import Json, text_of
from whence.openlineage.lineage_sets.column_evidence import list_incomplete_columns
from whence.openlineage.lineage_sets.lifecycle import read_lifecycle
from whence.openlineage.names.entity_names import read_dataset_name
from whence.openlineage.names.placeholders import fold_placeholders
from whence.openlineage.run_facets import Place, read_run_facets

Datasets = tuple[Dataset, ...]

_CACHED_BYTES = 32_768
"""The results of longer facets are not cached, so that large events do not fill the memory."""


def read_inputs_and_outputs(event: Json, notes: Notes) -> tuple[Datasets, Datasets]:
    """Read the inputs and outputs of an event."""
    producer = text_of(event.get("producer"))
    inputs, outputs = (_read_list(event.get(f"{role}s"), role, notes, producer) for role in ("input", "output"))
    known = _without_none(inputs)
    return known, _relate(_without_none(outputs), known, notes)


def read_split_inputs_and_outputs(event: SplitEvent, notes: Notes) -> tuple[Datasets, Datasets]:
    """Read the inputs and outputs of a split event, with what is known of their facets from other events.

    Their names are read without the event's producer: an event of `has_corrected_paths` is read whole.
    """
    inputs, outputs, warnings = read_repeated_datasets(event.datasets)
    notes.add_all(warnings)
    return (
        _add_run_facets(inputs, event.input_facets, "input", notes),
        _add_run_facets(outputs, event.output_facets, "output", notes),
    )


_Listed = tuple[Dataset | None, ...]
"""A dataset for each member of a list; None for a member that is ignored."""


def read_repeated_datasets(keys: DatasetKeys) -> tuple[_Listed, _Listed, tuple[Note, ...]]:
    """Read the inputs and outputs without their run facets, and the warnings about them."""
    read = _read_static_cached if keys.size < _CACHED_BYTES else _read_static
    return read(keys.inputs, keys.outputs)


def _read_static(
    inputs: tuple[PartKey, ...], outputs: tuple[PartKey, ...]
) -> tuple[_Listed, _Listed, tuple[Note, ...]]:
    """Read inputs and outputs without their run facets. A job repeats all of them in most of its events."""
    notes = Notes()
    static_inputs, static_outputs = (
        [_read_static_part_of(key, role, f"/{role}s/{index}", notes) for index, key in enumerate(keys)]
        for role, keys in (("input", inputs), ("output", outputs))
    )
    related = iter(_relate(_without_none(static_outputs), _without_none(static_inputs), notes))
    outputs_or_none = tuple([None if one is None else next(related) for one in static_outputs])
    return tuple(static_inputs), outputs_or_none, notes.taken()


_read_static_cached = lru_cache(maxsize=2_048)(_read_static)


def _read_static_part_of(key: PartKey, role: str, at: str, notes: Notes) -> Dataset | None:
    read = _read_static_part_cached if len(key[-1]) < _CACHED_BYTES else _read_static_part
    dataset, warnings = read(*key, role, at)
    notes.add_all(warnings)
    return dataset


def _read_static_part(
    namespace: str, name: str, source: bytes, role: str, at: str
) -> tuple[Dataset | None, tuple[Note, ...]]:
    notes, source = Notes(), source or b"{}"
    entity = {"namespace": namespace, "name": name, "facets": decode_interned(source, FACETS)}
    dataset = _read_listed(entity, role, at, notes)
    return replace(dataset, source=source) if dataset else None, notes.taken()


_read_static_part_cached = lru_cache(maxsize=4_096)(_read_static_part)


def _read_listed(value: object, role: str, at: str, notes: Notes, producer: str = "") -> Dataset | None:
    name = read_dataset_name(value, at, producer) if type(value) is dict else None
    if name is None or type(value) is not dict:
        notes.add(at, "a dataset needs a namespace and a name, both non-empty texts; ignored")
        return None
    facets = read_facets(value, "facets", at, notes)
    kept = encode_static_facets(facets)
    return Dataset(
        name=name,
        raw=DatasetName(value["namespace"], value["name"]),
        facets=kept,
        run_facets=_merge_facets(_read_run_facets(value, role, at, notes), _quality_reports(kept)),
        fields=read_schema_fields(kept, at, notes),
        symlinks=read_symlinks(facets, name, f"{at}/facets", notes),
        edges=_read_edges_of_columns(facets, kept, name, at, notes) if role == "output" else (),
        reported_columns=list_reported_columns(active_facet(facets, "columnLineage") or {}) if role == "output" else (),
        incomplete_columns=list_incomplete_columns(facets) if role == "output" else (),
        lifecycle=read_lifecycle(facets, name, at, notes) if role == "output" else None,
    )


def _read_run_facets(entity: Json, role: str, at: str, notes: Notes) -> tuple[Facet, ...]:
    facets = read_facets(entity, f"{role}Facets", at, notes)
    return encode_run_facets(facets, f"{at}/{role}Facets", notes) if facets else ()


def _quality_reports(facets: tuple[Facet, ...]) -> tuple[Facet, ...]:
    """Check results and metrics among the facets of the dataset: Airflow's provider reports them there."""
    return tuple([facet for facet in facets if facet.key in (ASSERTIONS, METRICS) and not facet.deleted])


def _merge_facets(first: tuple[Facet, ...], second: tuple[Facet, ...]) -> tuple[Facet, ...]:
    if not second:
        return first
    keys = {facet.key for facet in first}
    return (*first, *(facet for facet in second if facet.key not in keys))


def _read_edges_of_columns(
    facets: Facets, kept: tuple[Facet, ...], output: DatasetName, at: str, notes: Notes
) -> tuple[Edge, ...]:
    facet = active_facet(facets, "columnLineage")
    if facet is None:
        return ()
    payload = next(kept_facet.payload for kept_facet in kept if kept_facet.key == "columnLineage")
    return read_column_edges(payload, facet, output, f"{at}/facets/columnLineage", notes)


def _relate(outputs: Datasets, inputs: Datasets, notes: Notes) -> Datasets:
    """The outputs, with what depends on the event's other datasets."""
    return tuple([fold_placeholders(output) for output in match_sources(outputs, inputs, notes)])


def _add_run_facets(datasets: _Listed, texts: Sequence[FacetTexts], role: str, notes: Notes) -> Datasets:
    return tuple(
        [
            _with_run_facets(dataset, own, (f"/{role}s/{index}", f"{role}Facets"), notes) if own else dataset
            for index, (dataset, own) in enumerate(zip(datasets, texts, strict=True))
            if dataset is not None
        ]
    )


def _with_run_facets(dataset: Dataset, texts: FacetTexts, place: Place, notes: Notes) -> Dataset:
    facets = tuple([facet for one in read_run_facets(texts, place, notes) for facet in one.facets])
    return dataset.with_run_facets(_merge_facets(facets, dataset.run_facets)) if facets else dataset


def _read_list(values: object, role: str, notes: Notes, producer: str) -> _Listed:
    if values is None:
        return ()
    if type(values) is not list:
        notes.add(f"/{role}s", "is not a list; ignored")
        return ()
    return tuple(
        [_read_listed(value, role, f"/{role}s/{index}", notes, producer) for index, value in enumerate(values)]
    )


def _without_none(datasets: Sequence[Dataset | None]) -> Datasets:
    return tuple([one for one in datasets if one is not None])
