"""Lifecycle changes of datasets: the lifecycleStateChange facet (state.md, "Life of a dataset")."""

from collections.abc import Iterable, Iterator, Sequence

from whence.model.events import Change, Dataset, Lifecycle
from whence.model.lineage import Edge, Level, LineageSet, Origin
from whence.model.names import DatasetName, FieldName
from whence.openlineage.facets.facet_keys import CUT, JOINED
from whence.openlineage.facets.facets import Facets, active_facet
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.lineage_sets.sets import make_lineage_set, split_levels
from whence.openlineage.names.entity_names import read_dataset_name

FACET = "lifecycleStateChange"
_NEVER_WRITES = (Change.DROP, Change.RENAME)
_DEFINES = (Change.ALTER, Change.CREATE, Change.TRUNCATE)
"""Changes that write data only if the event has inputs: `create table … as select`."""
_CHANGES = {change.name: change for change in Change}


def read_lifecycle(facets: Facets, own: DatasetName, at: str, notes: Notes) -> Lifecycle | None:
    """The change in a dataset's facets, or None if there is none. `at` is the dataset's JSON pointer."""
    facet = active_facet(facets, FACET)
    if facet is None:
        return None
    word = facet.get(FACET)
    change = _CHANGES.get(word) if type(word) is str else None
    if change is None:
        notes.add(f"{at}/facets/{FACET}", f"{str(word)[:40]!r} is no change of state; ignored")
        return None
    if change is not Change.RENAME:
        return Lifecycle(change=change)
    return Lifecycle(
        change=change, previous=_read_previous_name(facet, own, f"{at}/facets/{FACET}/previousIdentifier", notes)
    )


def _read_previous_name(facet: dict[str, object], own: DatasetName, at: str, notes: Notes) -> DatasetName | None:
    identifier = facet.get("previousIdentifier")
    if identifier is None:
        return None
    name = read_dataset_name(identifier, at) if type(identifier) is dict else None
    if name is None:
        notes.add(at, "a previous identifier needs a namespace and a name; ignored")
    return None if name == own else name


def written_outputs(inputs: Sequence[Dataset], outputs: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
    """The outputs that an event writes data to: not those it only creates, alters, truncates, renames or drops."""
    if all(output.lifecycle is None for output in outputs):
        return outputs
    with_edges = {output.name for output in outputs if output.edges}
    unwritten = {output.name for output in outputs if output.lifecycle and output.lifecycle.change in _NEVER_WRITES}
    if not inputs:
        defined = {output.name for output in outputs if output.lifecycle and output.lifecycle.change in _DEFINES}
        unwritten |= defined - with_edges
    return tuple(output for output in outputs if output.name not in unwritten)


def lifecycle_sets(datasets: Sequence[Dataset]) -> Iterator[LineageSet]:
    """The sets of an event that renames or drops some of these datasets."""
    if all(dataset.lifecycle is None for dataset in datasets):
        return
    renamed = {
        (dataset.lifecycle.previous, dataset.name)
        for dataset in datasets
        if dataset.lifecycle and dataset.lifecycle.previous
    }
    for output in sorted({output for _, output in renamed}):
        columns = {field.name for dataset in datasets if dataset.name == output for field in dataset.fields}
        edges = [edge for old, new in renamed if old and new == output for edge in _identity_edges(old, new, columns)]
        yield from split_levels(output, Origin.RENAMED, edges)
    remaining = {
        dataset.name for dataset in datasets if not (dataset.lifecycle and dataset.lifecycle.change is Change.DROP)
    }
    ended = {old for old, new in renamed if old and old not in remaining and old.namespace == new.namespace}
    for output in sorted(ended | {name for dataset in datasets for name in _dropped_names(dataset)}):
        yield make_lineage_set(output, Level.DATASET, Origin.DROPPED, ())


def is_dropped_or_renamed(dataset: Dataset) -> bool:
    """Whether the event drops the dataset, or renames it from another name."""
    return dataset.lifecycle is not None and (
        dataset.lifecycle.change is Change.DROP or dataset.lifecycle.previous is not None
    )


def _identity_edges(old: DatasetName, new: DatasetName, columns: Iterable[str]) -> Iterator[Edge]:
    yield Edge(source=old, target=new, type="DIRECT")
    for column in columns:
        yield Edge(source=FieldName(old, column), target=FieldName(new, column), type="DIRECT", subtype="IDENTITY")


def _dropped_names(dataset: Dataset) -> Iterator[DatasetName]:
    """The names of a dropped dataset in its own namespace. Names in other namespaces are not the sender's to drop."""
    if dataset.lifecycle and dataset.lifecycle.change is Change.DROP:
        yield dataset.name
        links = (link for link in dataset.symlinks if link.type not in (CUT, JOINED))
        yield from (link.name for link in links if link.name.namespace == dataset.name.namespace)
