"""Alias groups: datasets that symlinks make one (state.md, "Aliases"; rule 30 of the OpenLineage reference)."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Delete, Select, delete, insert, select, union

from whence.openlineage.facets.facet_keys import CUT, JOINED
from whence.store.ingest.change_log import GROUP, note_changes
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.tables import alias, alias_group, dataset

TABLE, LOCATION = "TABLE", "LOCATION"

Alias = tuple[int, int, str, tuple[int, int]]
"""A dataset, its symlink, the symlink's type, and its last assertion (time, event)."""

Pair = tuple[int, int, str]


def recompute_groups(connection: Connection, touched: Sequence[int]) -> None:
    """Recompute the groups of every dataset that aliases connect to a touched one, directly or not."""
    if not touched:
        return
    members, aliases = _connected(connection, set(touched))
    names = _names(connection, members)
    _replace(connection, members, compute_groups(aliases, names))


def compute_groups(aliases: Iterable[Alias], names: dict[int, tuple[str, str]]) -> dict[int, int]:
    """Map datasets to representatives, for groups of two or more. `names`: (namespace, name) of each id. Pure."""
    distinct = active_aliases(aliases)
    joining = [pair for pair in distinct if not _is_shared_location(pair, distinct)]
    parent: dict[int, int] = {}
    for one, other, _ in joining:
        parent[_root(parent, one)] = _root(parent, other)
    ranks = _ranks(distinct)
    members: dict[int, list[int]] = {}
    for one in {end for pair in joining for end in pair[:2]}:
        members.setdefault(_root(parent, one), []).append(one)
    chosen = {root: min(ids, key=lambda id_: (ranks.get(id_, 1), *names[id_])) for root, ids in members.items()}
    return {id_: chosen[root] for root, ids in members.items() if len(ids) > 1 for id_ in ids}


def active_aliases(aliases: Iterable[Alias]) -> set[Pair]:
    """The aliases without those that a person cut, and did not join since."""
    stamped = set(aliases)
    words: dict[frozenset[int], tuple[tuple[int, int], str]] = {}
    for one, other, kind, stamp in stamped:
        if kind in (CUT, JOINED):
            ends = frozenset((one, other))
            words[ends] = max(words.get(ends, (stamp, kind)), (stamp, kind))
    cut = {ends for ends, (_, kind) in words.items() if kind == CUT}
    return {
        (one, other, kind)
        for one, other, kind, _ in stamped
        if kind not in (CUT, JOINED) and frozenset((one, other)) not in cut
    }


def _ranks(aliases: set[Pair]) -> dict[int, int]:
    """How names rank as representatives, if symlinks lead to them: 0 a table's name, 2 a path; any other name ranks 1.

    Producers disagree on which of the two is the dataset's own name and which is the symlink, so only types count.
    """
    tables, places = ({other for _, other, kind in aliases if kind == type_} for type_ in (TABLE, LOCATION))
    return dict.fromkeys(places, 2) | dict.fromkeys(tables, 0)


def _is_shared_location(pair: Pair, aliases: set[Pair]) -> bool:
    dataset_id, _, kind = pair
    return kind == TABLE and len({other for one, other, type_ in aliases if one == dataset_id and type_ == TABLE}) > 1


def _root(parent: dict[int, int], one: int) -> int:
    while (above := parent.get(one, one)) != one:
        parent[one] = one = parent.get(above, above)
    return one


def _connected(connection: Connection, seen: set[int]) -> tuple[set[int], set[Alias]]:
    """Everything that aliases, joining or not, connect with `seen`: more than a group, never less."""
    frontier, aliases = set(seen), set[Alias]()
    dialect = connection.dialect.name
    while frontier:
        rows = connection.execute(_select_aliases(dialect), giving(dialect, ("id",), [(node,) for node in frontier]))
        found = {(one, other, kind, (time, event)) for one, other, kind, time, event in rows}
        aliases |= found
        frontier = {end for pair in found for end in pair[:2]} - seen
        seen = seen | frontier
    return seen, aliases


@cache
def _select_aliases(dialect: str) -> CompoundSelect[Any]:
    """The aliases at datasets, in either direction."""
    wanted = select(given(dialect, "id").c.id)
    columns = (alias.c.dataset_id, alias.c.alias_id, alias.c.type, alias.c.last_time, alias.c.last_event)
    return union(
        select(*columns).where(alias.c.dataset_id.in_(wanted)), select(*columns).where(alias.c.alias_id.in_(wanted))
    )


def _names(connection: Connection, members: Iterable[int]) -> dict[int, tuple[str, str]]:
    dialect = connection.dialect.name
    rows = connection.execute(_select_names(dialect), giving(dialect, ("id",), [(member,) for member in members]))
    return {id_: (namespace, name) for id_, namespace, name in rows}


@cache
def _select_names(dialect: str) -> Select[int, str, str]:
    wanted = given(dialect, "id")
    return select(dataset.c.id, dataset.c.namespace, dataset.c.name).join(wanted, wanted.c.id == dataset.c.id)


def _replace(connection: Connection, members: Iterable[int], grouped: dict[int, int]) -> None:
    dialect = connection.dialect.name
    leaving = giving(dialect, ("id",), [(member,) for member in members])
    old = dict(connection.execute(_select_groups(dialect), leaving).all())
    if old == grouped:
        return
    note_changes(connection, GROUP, {id_ for id_, _ in old.items() ^ grouped.items()})
    connection.execute(_delete_groups(dialect), leaving)
    if grouped:
        rows = [{"dataset_id": id_, "representative_id": chosen} for id_, chosen in grouped.items()]
        connection.execute(insert(alias_group), rows)


@cache
def _select_groups(dialect: str) -> Select[int, int]:
    columns = (alias_group.c.dataset_id, alias_group.c.representative_id)
    return select(*columns).where(alias_group.c.dataset_id.in_(select(given(dialect, "id").c.id)))


@cache
def _delete_groups(dialect: str) -> Delete:
    return delete(alias_group).where(alias_group.c.dataset_id.in_(select(given(dialect, "id").c.id)))
