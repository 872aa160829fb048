"""Alias groups: datasets that symlinks make one (docs/state.md, "Aliases"; rule 30 of the OpenLineage reference)."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, insert, select, union

from whence.openlineage.facets import CUT, JOINED
from whence.store.arrays import integers
from whence.store.editions import GROUP, note_changes
from whence.store.tables import alias, alias_group, dataset

TABLE = "TABLE"

Alias = tuple[int, int, str, tuple[int, int]]
"""A dataset, its symlink, the symlink's type, and when it was said last (time, event)."""

Pair = tuple[int, int, str]


def settle_groups(connection: Connection, touched: Sequence[int]) -> None:
    """Compute again the groups of every dataset that aliases connect, however far, to a touched one."""
    if not touched:
        return
    members, aliases = _connected(connection, set(touched))
    names = _names(connection, members)
    _replace(connection, members, groups(aliases, names))


def groups(aliases: Iterable[Alias], names: dict[int, tuple[str, str]]) -> dict[int, int]:
    """Dataset → representative, for members of groups of two or more. `names` gives (namespace, name) of each id.
    Pure.
    """
    distinct = uncut(aliases)
    joining = [pair for pair in distinct if not _is_shared_location(pair, distinct)]
    parent: dict[int, int] = {}
    for one, other, _ in joining:
        parent[_root(parent, one)] = _root(parent, other)
    linked_as_table = {other for _, other, kind in distinct if kind == TABLE}
    members: dict[int, list[int]] = {}
    for one in {end for pair in joining for end in pair[:2]}:
        members.setdefault(_root(parent, one), []).append(one)
    chosen = {
        root: min(ids, key=lambda id_: (id_ not in linked_as_table, *names[id_])) for root, ids in members.items()
    }
    return {id_: chosen[root] for root, ids in members.items() if len(ids) > 1 for id_ in ids}


def uncut(aliases: Iterable[Alias]) -> set[Pair]:
    """What was said of names, but for those that a person cut apart, and did not join again since."""
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
        wanted = select(integers(connection, ("id",), [(one,) for one in frontier]).c.id)
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
    wanted = integers(connection, ("id",), [(one,) for one in members])
    rows = connection.execute(
        select(dataset.c.id, dataset.c.namespace, dataset.c.name).join(wanted, wanted.c.id == dataset.c.id)
    )
    return {id_: (namespace, name) for id_, namespace, name in rows}


def _replace(connection: Connection, members: Iterable[int], grouped: dict[int, int]) -> None:
    leaving = integers(connection, ("id",), [(one,) for one in members])
    stored = select(alias_group.c.dataset_id, alias_group.c.representative_id)
    old = dict(connection.execute(stored.where(alias_group.c.dataset_id.in_(select(leaving.c.id)))).all())
    if old == grouped:
        return
    note_changes(connection, GROUP, {id_ for id_, _ in old.items() ^ grouped.items()})
    connection.execute(delete(alias_group).where(alias_group.c.dataset_id.in_(select(leaving.c.id))))
    if grouped:
        rows = [{"dataset_id": id_, "representative_id": chosen} for id_, chosen in grouped.items()]
        connection.execute(insert(alias_group), rows)
