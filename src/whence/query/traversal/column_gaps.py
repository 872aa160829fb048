"""Gaps in lineage at the nodes of a traversal: who wrote or read a dataset without reporting which columns, or without
knowing its sources.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from whence.model.graph import Direction, GapRow, Grain, Hop
from whence.model.ids import Kind, kind_of
from whence.query.answers.values import GapReason
from whence.query.traversal.traversal import Traversal


def _probes_of(walk: Traversal, nodes: Sequence[int]) -> dict[int, list[int]]:
    """The ids at which each node probes for gaps, as id → nodes: as for edges, and also at fields without an edge."""
    wholes = [node for node in nodes if kind_of(node) is Kind.DATASET]
    members = {node: walk.identity.members(node) for node in wholes}
    fields: dict[int, list[int]] = {}
    if wholes and walk.spec.grain is Grain.FIELD:
        for row in walk.graph.fields(sorted(id_ for ids in members.values() for id_ in ids)):
            fields.setdefault(row.dataset_id, []).append(row.id)
    nodes_by_probe: dict[int, list[int]] = {}
    for node in nodes:
        ids = list(walk.identity.members(node))
        if node in members:
            ids += [inner for id_ in ids for inner in fields.get(id_, ())]
        elif kind_of(node) is Kind.FIELD:
            ids += walk.identity.members(walk.identity.dataset_of[node])
        for id_ in ids:
            nodes_by_probe.setdefault(id_, []).append(node)
    return nodes_by_probe


class GapKey(NamedTuple):
    """The node where the traversal ends, the owner without column lineage there, and the reason."""

    at: int
    owner: int
    reason: GapReason


def read_gaps(walk: Traversal, nodes: set[int]) -> dict[GapKey, list[int]]:
    """Gaps in lineage at one of these nodes: of columns, and of what an owner does not know. Upstream of a job there is
    a gap at the job itself, if it does not know all sources of what it writes.
    """
    is_upstream = walk.spec.direction is Direction.UPSTREAM
    ended = (node for node in nodes - walk.unfinished if is_upstream or kind_of(node) is not Kind.JOB)
    probes = _probes_of(walk, sorted(ended))
    limit = walk.spec.question.max_edges
    rows = _read_rows(walk, list(probes), limit + 1)
    if len(rows) > limit:
        walk.stopped_by = walk.stopped_by or "edges"
        walk.unfinished |= {node for nodes in probes.values() for node in nodes}
    _learn_others(walk, rows)
    gaps: dict[GapKey, list[int]] = {}
    for row, reason in rows[:limit]:
        others = [walk.identity.canonical(row.other_id)] if row.other_id else []
        for node in probes[row.near_id]:
            gaps.setdefault(GapKey(node, row.owner_id, reason), []).extend(others)
    return _without_checks(walk, gaps)


def _read_rows(walk: Traversal, probes: Sequence[int], most: int) -> list[tuple[GapRow, GapReason]]:
    hop = Hop(walk.spec.direction, walk.spec.grain, walk.spec.question.at)
    rows = [(row, GapReason.INCOMPLETE) for row in walk.graph.incomplete(probes, hop, most)]
    if walk.spec.grain is not Grain.FIELD:
        _learn_others(walk, rows)
        return [(row, reason) for row, reason in rows if not _is_reached(walk, row)]
    if len(rows) < most:
        datasets = [id_ for id_ in probes if kind_of(id_) is Kind.DATASET]
        rows += [(row, GapReason.NO_COLUMNS) for row in walk.graph.gaps(datasets, hop, most)]
    if len(rows) < most:
        rows += [(row, GapReason.UNREPORTED) for row in walk.graph.unreported(probes, hop, most)]
    return rows


def _learn_others(walk: Traversal, rows: Iterable[tuple[GapRow, GapReason]]) -> None:
    walk.identity.learn((row.other_id, row.other_id) for row, _ in rows if row.other_id)


def _is_reached(walk: Traversal, row: GapRow) -> bool:
    """Whether the dataset downstream, whose lineage is incomplete, is in the answer anyway."""
    return walk.spec.direction is Direction.DOWNSTREAM and walk.identity.canonical(row.other_id) in walk.depth


def _without_checks(walk: Traversal, gaps: dict[GapKey, list[int]]) -> dict[GapKey, list[int]]:
    """The gaps without jobs that only check data: nothing depends on the columns that they read."""
    readers = {key.owner for key, others in gaps.items() if not others and kind_of(key.owner) is Kind.JOB}
    if walk.spec.direction is not Direction.DOWNSTREAM or not readers:
        return gaps
    checks = walk.graph.check_jobs(sorted(readers), walk.spec.question.at)
    return {key: others for key, others in gaps.items() if others or key.owner not in checks}
