"""What an event reports of a dataset's life: the lifecycleStateChange facet (docs/state.md, "Life of a dataset")."""

from collections.abc import Iterable, Iterator, Sequence

from whence.model.events import Change, Dataset, Lifecycle
from whence.model.lineage import Edge, Level, LineageSet, Origin
from whence.model.names import DatasetName, FieldName
from whence.openlineage.facets import CUT, JOINED, Facets, alive, dataset_name
from whence.openlineage.lineage_sets import lineage_set, set_levels
from whence.openlineage.notes import Notes

FACET = "lifecycleStateChange"
_NEVER_WRITES = (Change.DROP, Change.RENAME)
_DEFINES = (Change.ALTER, Change.CREATE, Change.TRUNCATE)
"""Changes that write data only if the event has inputs: `create table … as select`."""
_CHANGES = {change.name: change for change in Change}


def lifecycle(facets: Facets, own: DatasetName, at: str, notes: Notes) -> Lifecycle | None:
    """The change that a dataset's facets report; None if they report none. `at` is the pointer of the dataset."""
    facet = alive(facets, FACET)
    if facet is None:
        return None
    word = facet.get(FACET)
    change = _CHANGES.get(word) if type(word) is str else None
    if change is None:
        notes.add(f"{at}/facets/{FACET}", f"{str(word)[:40]!r} is no change of state; ignored")
        return None
    if change is not Change.RENAME:
        return Lifecycle(change=change)
    return Lifecycle(change=change, previous=_previous(facet, own, f"{at}/facets/{FACET}/previousIdentifier", notes))


def _previous(facet: dict[str, object], own: DatasetName, at: str, notes: Notes) -> DatasetName | None:
    one = facet.get("previousIdentifier")
    if one is None:
        return None
    name = dataset_name(one, at) if type(one) is dict else None
    if name is None:
        notes.add(at, "a previous identifier needs a namespace and a name; ignored")
    return None if name == own else name


def written_outputs(inputs: Sequence[Dataset], outputs: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
    """The outputs that an event writes data to: not those that it only creates, alters, truncates, renames or drops."""
    if all(one.lifecycle is None for one in outputs):
        return outputs
    edged = {one.name for one in outputs if one.edges}
    unwritten = {one.name for one in outputs if one.lifecycle and one.lifecycle.change in _NEVER_WRITES}
    if not inputs:
        defined = {one.name for one in outputs if one.lifecycle and one.lifecycle.change in _DEFINES}
        unwritten |= defined - edged
    return tuple(one for one in outputs if one.name not in unwritten)


def lifecycle_sets(datasets: Sequence[Dataset]) -> Iterator[LineageSet]:
    """The sets of an event that renames or drops some of these datasets."""
    if all(one.lifecycle is None for one in datasets):
        return
    renamed = {(one.lifecycle.previous, one.name) for one in datasets if one.lifecycle and one.lifecycle.previous}
    for output in sorted({output for _, output in renamed}):
        columns = {field.name for one in datasets if one.name == output for field in one.fields}
        edges = [edge for old, new in renamed if old and new == output for edge in _identity(old, new, columns)]
        yield from set_levels(output, Origin.RENAMED, edges)
    alive = {one.name for one in datasets if not (one.lifecycle and one.lifecycle.change is Change.DROP)}
    ended = {old for old, new in renamed if old and old not in alive and old.namespace == new.namespace}
    for output in sorted(ended | {name for one in datasets for name in _dropped(one)}):
        yield lineage_set(output, Level.DATASET, Origin.DROPPED, ())


def ends_or_renames(one: Dataset) -> bool:
    """Whether the dataset is reported as dropped, or as renamed from another name."""
    return one.lifecycle is not None and (one.lifecycle.change is Change.DROP or one.lifecycle.previous is not None)


def _identity(old: DatasetName, new: DatasetName, columns: Iterable[str]) -> Iterator[Edge]:
    yield Edge(source=old, target=new, type="DIRECT")
    for column in columns:
        yield Edge(source=FieldName(old, column), target=FieldName(new, column), type="DIRECT", subtype="IDENTITY")


def _dropped(one: Dataset) -> Iterator[DatasetName]:
    """A dropped dataset, by all the names that the event has for it in its namespace: what is in another is not the
    sender's to drop.
    """
    if one.lifecycle and one.lifecycle.change is Change.DROP:
        yield one.name
        links = (link for link in one.symlinks if link.type not in (CUT, JOINED))
        yield from (link.name for link in links if link.name.namespace == one.name.namespace)
