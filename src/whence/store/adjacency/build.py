"""Build of the edge arrays from one snapshot of a store: current edges, and past ones."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from whence.model.graph import ALL_TIME
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, FieldName
from whence.store.adjacency.csr import Csr, Ints, Places
from whence.store.adjacency.node_attributes import order_names, read_classes
from whence.store.adjacency.rows import Flat, Held, read_owned, read_recent
from whence.store.graph.names import fields_named
from whence.store.schema.array_parameters import giving
from whence.store.schema.tables import FOREVER, alias_group, dataset

KIND_BITS = 3

UNSAID: dict[str, Any] = {
    "by_name": np.zeros(0, np.int32),
    "trait": np.zeros(0, np.int32),
    "trait_start": np.zeros(1, np.int64),
    "trait_text": np.zeros(0, np.uint8),
}
"""The trait arrays when no node has traits."""


class Alike(NamedTuple):
    """The names of one alias group: sorted ids, `name` (the id of the representative), and the id of its dataset."""

    name: DatasetName | FieldName
    members: tuple[int, ...]
    dataset: int


def build_csr(connection: Connection) -> Csr:
    """Build the arrays of all current edges and of the most recent past ones.

    Uses about 200 bytes of memory an edge while it reads, then 200 bytes a node.
    """
    held, flat, known_since = read_recent(connection)
    alike = _alike(connection, flat)
    bare = to_csr(held, flat, alike, known_since)
    classes = read_classes(connection, bare.ids, bare.canonical)
    by_name = order_names(connection, bare.ids, {node_id(one.name): one.name for one in alike})
    return replace(bare, by_name=by_name, trait=classes.trait, trait_start=classes.start, trait_text=classes.text)


def build_owned(connection: Connection, owners: Sequence[int], at: int | None) -> Csr:
    """Build the arrays of the edges that some owners assert now, or asserted at a time."""
    return to_csr(*read_owned(connection, owners, at))


def to_csr(held: Held, flat: Flat, alike: Sequence[Alike] = (), known_since: int = ALL_TIME) -> Csr:
    """Build arrays from edges and alias groups. No node gets traits."""
    named = np.array([id_ for one in alike for id_ in (*one.members, one.dataset)], np.int64)
    ids = np.unique(np.concatenate([*(np.unique(one) for one in (flat.source, flat.target, flat.owner)), named]))
    wholes = np.concatenate([one[one != 0] for one in (flat.source_dataset, flat.target_dataset)])
    ids = np.union1d(ids, np.unique(wholes))
    source, target, owner = (_places(ids, one) for one in (flat.source, flat.target, flat.owner))
    past, set_id = (held.until != FOREVER)[flat.held], held.set_id[flat.held]
    down = np.lexsort((flat.ordinal, set_id, owner, target, past, source))
    source, target, owner = source[down], target[down], owner[down]
    past, set_id, ordinal = past[down], set_id[down], flat.ordinal[down]
    up = np.lexsort((ordinal, set_id, owner, source, past, target))
    dataset_of = _datasets(ids, flat, alike)
    canonical, grouped, member_start, member = _members(ids, alike)
    field_start, field = _fields(ids, dataset_of)
    down_start, up_start = starts(source, len(ids)), starts(target[up], len(ids))
    return Csr(
        ids=ids,
        kind=(ids & KIND_BITS).astype(np.int8),
        canonical=canonical,
        dataset=dataset_of,
        field_start=field_start,
        field=field,
        grouped=grouped,
        member_start=member_start,
        member=member,
        down_start=down_start,
        down_now=down_start[:-1] + np.bincount(source[~past], minlength=len(ids)),
        source=source,
        target=target,
        up_start=up_start,
        up_now=up_start[:-1] + np.bincount(target[~past], minlength=len(ids)),
        up_edge=up.astype(np.int32),
        owner=owner,
        held=flat.held[down].astype(np.int32),
        ordinal=ordinal.astype(np.int32),
        rank=flat.rank[down].astype(np.int8),
        set_id=held.set_id,
        since=held.since,
        until=held.until,
        known_since=np.array([known_since], np.int64),
        **UNSAID,
    )


def starts(sorted_places: Places, count: int) -> Ints:
    """The start of each of `count` runs of equal values in a sorted array, then the end of the last one."""
    return np.searchsorted(sorted_places, np.arange(count + 1)).astype(np.int64)


def _alike(connection: Connection, flat: Flat) -> Sequence[Alike]:
    groups = _groups(connection)
    if not groups:
        return ()
    within = np.array(sorted(node_id(name) for group in groups for name in group), np.int64)
    ends = ((flat.source, flat.source_dataset), (flat.target, flat.target_dataset))
    fields = [end[((end & KIND_BITS) == Kind.FIELD) & np.isin(of, within)] for end, of in ends]
    known = set(np.unique(np.concatenate(fields)).tolist())
    of_group = {name: group for group in groups for name in group}
    wholes = [Alike(group[0], tuple(map(node_id, group)), node_id(group[0])) for group in groups]
    return [*wholes, *_alike_fields(_field_names(connection, known), of_group, known)]


def _alike_fields(
    names: Sequence[FieldName], of_group: Mapping[DatasetName, tuple[DatasetName, ...]], known: AbstractSet[int]
) -> Sequence[Alike]:
    firsts = {FieldName(of_group[name.dataset][0], name.field): of_group[name.dataset] for name in names}
    found = []
    for first, group in firsts.items():
        others = [node_id(FieldName(member, first.field)) for member in group[1:]]
        members = (node_id(first), *(id_ for id_ in others if id_ in known))
        found.append(Alike(first, members, node_id(group[0])))
    return found


def _groups(connection: Connection) -> Sequence[tuple[DatasetName, ...]]:
    first = alias_group.c.dataset_id == alias_group.c.representative_id
    query = select(alias_group.c.representative_id, first, dataset.c.namespace, dataset.c.name)
    found: dict[int, list[tuple[bool, DatasetName]]] = {}
    for representative, is_first, namespace, name in connection.execute(
        query.join(dataset, dataset.c.id == alias_group.c.dataset_id)
    ):
        found.setdefault(representative, []).append((not is_first, DatasetName(namespace, name)))
    return [tuple(name for _, name in sorted(group)) for group in found.values() if len(group) > 1]


def _field_names(connection: Connection, ids: AbstractSet[int]) -> Sequence[FieldName]:
    dialect = connection.dialect.name
    rows = connection.execute(fields_named(dialect), giving(dialect, ("id",), [(one,) for one in sorted(ids)]))
    return [FieldName(DatasetName(namespace, of), name) for _, name, namespace, of in rows]


def _places(ids: Ints, wanted: Ints) -> Places:
    return np.searchsorted(ids, wanted).astype(np.int32)


def _datasets(ids: Ints, flat: Flat, alike: Sequence[Alike]) -> Places:
    found = np.full(len(ids), -1, np.int32)
    whole = (ids & KIND_BITS) == Kind.DATASET
    found[whole] = np.flatnonzero(whole)
    for end, of in ((flat.source, flat.source_dataset), (flat.target, flat.target_dataset)):
        known = (end & KIND_BITS) == Kind.FIELD
        found[_places(ids, end[known])] = _places(ids, of[known])
    firsts = np.array([one.members[0] for one in alike], np.int64)
    found[_places(ids, firsts)] = _places(ids, np.array([one.dataset for one in alike], np.int64))
    return found


def _fields(ids: Ints, dataset_of: Places) -> tuple[Ints, Places]:
    """The fields of each dataset, sorted by id."""
    fields = np.flatnonzero((ids & KIND_BITS) == Kind.FIELD)
    order = fields[np.argsort(dataset_of[fields], kind="stable")]
    return starts(dataset_of[order], len(ids)), order.astype(np.int32)


def _members(ids: Ints, alike: Sequence[Alike]) -> tuple[Places, Places, Ints, Places]:
    canonical = np.arange(len(ids), dtype=np.int32)
    ordered = sorted(alike, key=lambda one: one.members[0])
    grouped = _places(ids, np.array([one.members[0] for one in ordered], np.int64))
    counts = np.array([len(one.members) for one in ordered], np.int64)
    member = _places(ids, np.array([id_ for one in ordered for id_ in one.members], np.int64))
    canonical[member] = np.repeat(grouped, counts)
    return canonical, grouped, np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), member
