"""Edges that appeared, disappeared or changed their transformations on the way to a node."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

from whence.model.graph import Grain, SetEdge, SpanRow
from whence.model.ids import Kind, kind_of
from whence.model.lineage import Origin
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.transformations import Transformation
from whence.query.history.changes.scope import Scope
from whence.query.history.changes.values import Change, ChangeKind, Part, Proof, UpstreamChange, joint_change
from whence.query.history.edge_changes import Content, Differing, compare, content_of
from whence.query.ports.graph import Past
from whence.query.traversal.witnesses import Link

Ends = tuple[int, int]
"""The source and the target of an edge."""
_DIRECT = "DIRECT"

Changed = tuple[SpanRow, Content, Content]
"""An interval that began in the period, with the edges before and in it."""


def lineage_changes(graph: Past, scope: Scope, since: int, until: int) -> list[UpstreamChange]:
    """The changes of edges that end at nodes of the scope, one for each job, time and end."""
    owners = {*graph.owners(scope.edge_ends), *scope.jobs}
    overlapping = [one for one in graph.spans(owners) if one.valid_to > since and one.valid_from <= until]
    # Most owners did not change in the period: their lineage is not read.
    begun = {(one.owner_id, one.aspect) for one in overlapping if one.valid_from > since}
    spans = [one for one in overlapping if (one.owner_id, one.aspect) in begun]
    contents = _contents(graph, scope, spans)
    changed = list(_changed(spans, contents, since))
    renaming = _find_renaming(graph, contents, changed)
    ids = {id_ for _, *several in changed for content in several for link in content for id_ in link}
    names = graph.nodes(sorted({*ids, *(span.owner_id for span, _, _ in changed)}))
    return [one for found in changed for one in _entries(scope, names, renaming, *found)]


def _contents(graph: Past, scope: Scope, spans: Sequence[SpanRow]) -> Mapping[int, Sequence[SetEdge]]:
    """Version → its edges that are on the way."""
    sets = graph.versions({span.version for span in spans})
    edges: dict[int, list[SetEdge]] = {}
    for edge in graph.content({set_id for several in sets.values() for set_id in several}):
        if is_on_the_way(scope, edge):
            edges.setdefault(edge.set_id, []).append(edge)
    return {version: [one for set_id in several for one in edges.get(set_id, ())] for version, several in sets.items()}


def is_on_the_way(scope: Scope, edge: SetEdge) -> bool:
    """Whether an edge is part of a way to the requested node."""
    if scope.grain is not Grain.FIELD:
        return edge.target_dataset_id in scope.columns
    if edge.target_id not in scope.edge_ends:
        return False
    # Influence on a whole dataset reaches each of its columns; lineage of whole datasets says nothing of a column.
    is_whole = scope.columns.get(edge.target_id, frozenset()) is None
    return is_whole or kind_of(edge.target_id) is Kind.FIELD or kind_of(edge.source_id) is Kind.FIELD


def _changed(spans: Iterable[SpanRow], contents: Mapping[int, Sequence[SetEdge]], since: int) -> Iterator[Changed]:
    for (owner, _), of_owner in groupby(spans, key=lambda span: (span.owner_id, span.aspect)):
        before: Content = {}
        for span in of_owner:
            after = content_of((owner, edge) for edge in contents.get(span.version, ()))
            if span.valid_from > since and before != after:
                yield span, before, after
            before = after


def _find_renaming(
    graph: Past, contents: Mapping[int, Sequence[SetEdge]], changed: Iterable[Changed]
) -> AbstractSet[Ends]:
    """Of the new edges, those from the former name of a dataset to its new one."""
    new = {(link.source, link.target) for _, before, after in changed for link in after.keys() - before.keys()}
    sets: dict[int, set[Ends]] = {}
    for edge in (edge for several in contents.values() for edge in several):
        ends = edge.source_id, edge.target_id
        if ends in new and edge.type == _DIRECT and 0 != edge.source_dataset_id != edge.target_dataset_id:
            sets.setdefault(edge.set_id, set()).add(ends)
    origins = graph.evidence(sets, None, 1) if sets else {}
    return {ends for id_, one in origins.items() if one.origin == Origin.RENAMED for ends in sets[id_]}


def _entries(
    scope: Scope, names: Mapping[int, Node], renaming: AbstractSet[Ends], span: SpanRow, before: Content, after: Content
) -> Iterator[UpstreamChange]:
    differing = compare(before, after)
    owner = names[span.owner_id]
    by_end: dict[Node, list[Part]] = {}
    for change, links in zip((Change.ADDED, Change.REMOVED, Change.CHANGED), differing.each, strict=True):
        for link in _without_writers(differing, links):
            end, part = _part(scope, names, link, change, before, after)
            is_renamed = change is Change.ADDED and (link.source, link.target) in renaming
            by_end.setdefault(end, []).append(_renamed(part) if is_renamed else part)
    is_run = kind_of(span.statement_id) is Kind.RUN
    proof = Proof(
        run_id=span.statement_id if is_run else 0,
        event_id=0 if is_run else span.statement_id,
        time=span.valid_from,
    )
    for end, every in by_end.items():
        parts = _without_renamed_columns(every)
        yield UpstreamChange(
            time=span.valid_from,
            kind=ChangeKind.LINEAGE,
            change=joint_change(parts),
            node=end,
            distance=scope.distance(end),
            parts=tuple(sorted(parts, key=lambda one: one.order)),
            job=owner if isinstance(owner, JobName) else None,
            proof=proof,
        )


def _renamed(part: Part) -> Part:
    """A renamed dataset, or one of its columns, that came from its former name."""
    return Part(change=Change.RENAMED, name=part.name, end=part.end)


def _without_renamed_columns(parts: Sequence[Part]) -> Sequence[Part]:
    """The parts without the columns of a renamed dataset: all of them have the name of the dataset."""
    whole = {one.end for one in parts if one.change is Change.RENAMED and isinstance(one.end, DatasetName)}
    return [
        one
        for one in parts
        if not (one.change is Change.RENAMED and isinstance(one.end, FieldName) and one.end.dataset in whole)
    ]


def _without_writers(differing: Differing, links: Iterable[Link]) -> Iterator[Link]:
    """The links but for those from a job to what it writes, if its inputs are known: those say more."""
    fed = {link.target for link in differing.links if kind_of(link.source) is not Kind.JOB}
    return (link for link in links if kind_of(link.source) is not Kind.JOB or link.target not in fed)


def _part(
    scope: Scope, names: Mapping[int, Node], link: Link, change: Change, before: Content, after: Content
) -> tuple[Node, Part]:
    target = names[link.target]
    end: Node = target.dataset if scope.grain is not Grain.FIELD and isinstance(target, FieldName) else target
    part = Part(
        change=change,
        name=target.field if isinstance(target, FieldName) and end != target else "",
        end=names[link.source],
        before=_text(before.get(link, ())),
        after=_text(after.get(link, ())),
    )
    return end, part


def _text(transformations: Iterable[Transformation]) -> str:
    return "; ".join(sorted(map(_transformation_text, transformations)))


def _transformation_text(one: Transformation) -> str:
    words = " ".join(filter(None, (one.type, one.subtype, "masked" if one.masking else "")))
    return f"{words}: {one.description}" if one.description else words
