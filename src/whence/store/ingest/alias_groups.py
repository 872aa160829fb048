"""Alias groups: datasets that symlinks make one (state.md, "Aliases"; rule 30 of the OpenLineage reference)."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, insert, select, union

from whence.openlineage.facets.interpreted_facets import CUT, JOINED
from whence.store.ingest.change_log import GROUP, note_changes
from whence.store.schema.array_parameters import integers
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
    """The aliases without those that a person cut, and did not join again since."""
    said = set(aliases)
    words: dict[frozenset[int], tuple[tuple[int, int], str]] = {}
    for one, other, kind, stamp in said:
        if kind in (CUT, JOINED):
            ends = frozenset((one, other))
            words[ends] = max(words.get(ends, (stamp, kind)), (stamp, kind))
    cut = {ends for ends, (_, kind) in words.items() if kind == CUT}
    return {
        (one, other, kind)
        for one, other, kind, _ in said
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
    while frontier:
        wanted = select(integers(connection, ("id",), [(node,) for node in frontier]).c.id)
        columns = (alias.c.dataset_id, alias.c.alias_id, alias.c.type, alias.c.last_time, alias.c.last_event)
        forward = select(*columns).where(alias.c.dataset_id.in_(wanted))
        backward = select(*columns).where(alias.c.alias_id.in_(wanted))
        rows = connection.execute(union(forward, backward))
        found = {(one, other, kind, (time, event)) for one, other, kind, time, event in rows}
        aliases |= found
        frontier = {end for pair in found for end in pair[:2]} - seen
        seen = seen | frontier
    return seen, aliases


def _names(connection: Connection, members: Iterable[int]) -> dict[int, tuple[str, str]]:
    wanted = integers(connection, ("id",), [(member,) for member in members])
    rows = connection.execute(
        select(dataset.c.id, dataset.c.namespace, dataset.c.name).join(wanted, wanted.c.id == dataset.c.id)
    )
    return {id_: (namespace, name) for id_, namespace, name in rows}


def _replace(connection: Connection, members: Iterable[int], grouped: dict[int, int]) -> None:
    leaving = integers(connection, ("id",), [(member,) for member in members])
    stored = select(alias_group.c.dataset_id, alias_group.c.representative_id)
    old = dict(connection.execute(stored.where(alias_group.c.dataset_id.in_(select(leaving.c.id)))).all())
    if old == grouped:
        return
    note_changes(connection, GROUP, {id_ for id_, _ in old.items() ^ grouped.items()})
    connection.execute(delete(alias_group).where(alias_group.c.dataset_id.in_(select(leaving.c.id))))
    if grouped:
        rows = [{"dataset_id": id_, "representative_id": chosen} for id_, chosen in grouped.items()]
        connection.execute(insert(alias_group), rows)
