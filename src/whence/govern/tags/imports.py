"""Which tags of a warehouse Whence has to learn or to forget: one set of tags for each dataset that differs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.tags.exports import TagExport
from whence.govern.tags.known import KnownDataset, KnownTag
from whence.govern.tags.places import Place, Spellings, TagAt, read_spellings
from whence.govern.tags.plan import TagForm
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class TagImport:
    """The tags that a dataset has after an import. `added` and `removed` are those of the warehouse."""

    dataset: DatasetName
    tags: tuple[KnownTag, ...]
    added: tuple[KnownTag, ...]
    removed: tuple[KnownTag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagImports:
    """What to assert. `unchanged`: the datasets whose tags are known; `unknown`: tables that no dataset is."""

    changes: tuple[TagImport, ...]
    unchanged: int
    unknown: tuple[str, ...]


def find_imports(
    known: Iterable[KnownDataset], export: TagExport, form: TagForm, source: str, *, complete: bool
) -> TagImports:
    """Compare the tags of an export with those that Whence has from its system (`source`). Tags of Whence are left out.

    `complete`: the export has every tag of the namespace, so that datasets which it does not name have none.
    """
    spellings = read_spellings(export.places)
    by_table: dict[tuple[str, ...], list[TagAt]] = {one.table: [] for one in export.places}
    for tag in export.tags:
        if not tag.is_ours:
            by_table[tag.place.table].append(tag)
    changes, unchanged, seen = list[TagImport](), 0, set[tuple[str, ...]]()
    for one in sorted(known, key=lambda one: one.name):
        parts = form.split(one.name.name)
        table = None if isinstance(parts, str) else spellings.table(parts)
        if table is None or table in seen or (table not in by_table and not complete):
            continue
        seen.add(table)
        columns = _columns(one, table, spellings, form)
        change = _compare(one, _tags_of(by_table.get(table, ()), columns, source), source)
        if change is None:
            unchanged += bool(by_table.get(table))
        else:
            changes.append(change)
    unknown = sorted(str(Place(table)) for table in by_table.keys() - seen if by_table[table])
    return TagImports(changes=tuple(changes), unchanged=unchanged, unknown=tuple(unknown))


def _columns(one: KnownDataset, table: tuple[str, ...], spellings: Spellings, form: TagForm) -> Mapping[str, str]:
    """The names of columns here, by those of the warehouse."""
    return {spellings.column(table, form.stored(column)): column for column in sorted(one.columns)}


def _tags_of(tags: Sequence[TagAt], columns: Mapping[str, str], source: str) -> tuple[KnownTag, ...]:
    """The tags of a table as those of a dataset. An inherited one is of the dataset, if that has none with its key."""
    direct = [tag for tag in tags if not tag.inherited]
    own = {tag.key for tag in direct if not tag.place.column}
    found = {(tag.key, tag.value, columns.get(tag.place.column, tag.place.column)) for tag in direct}
    found |= {(tag.key, tag.value, "") for tag in tags if tag.inherited and tag.key not in own}
    return tuple(sorted(KnownTag(key=key, value=value or "true", field=on, source=source) for key, value, on in found))


def _compare(one: KnownDataset, new: Sequence[KnownTag], source: str) -> TagImport | None:
    before = {tag for tag in one.tags if tag.source == source}
    if before == set(new):
        return None
    others = tuple(tag for tag in one.tags if tag.source != source)
    added, removed = sorted(set(new) - before), sorted(before - set(new))
    return TagImport(dataset=one.name, tags=(*others, *new), added=tuple(added), removed=tuple(removed))
