"""From edges and tags to what policies judge: pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from whence.govern.policies.estate import NO_SOURCE_RETENTION, Estate, Retention, Shown, SourceRetention, Subject
from whence.govern.policies.retention_tags import read_retention
from whence.govern.policies.source_retention import shortest_retentions
from whence.model.names import DatasetName, FieldName, Node
from whence.model.records.certification import CertificationText
from whence.model.traits import Traits
from whence.query.answers.values import dataset_of
from whence.query.sensitivity.disclosures import NONE, Declassifiers, Way, declassify
from whence.query.sensitivity.labels import labels_of, widths_of
from whence.query.sensitivity.marks import Mark, marks_of
from whence.query.sensitivity.propagation import Widths
from whence.query.sensitivity.retention import KEY

Categories = Mapping[str, frozenset[str]]
Pairs = Iterable[tuple[Node, Node]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownGraph:
    """How values pass between nodes, and what is asserted of datasets. `columns`: all that are known. `inputs`: pairs
    of a dataset and one that is made of it. `hidden`: what the viewer may not see. `unknown`: datasets that code reads,
    and of which nothing is known, perhaps because the viewer may not see them. `certified`: what rules of certification
    say of the datasets that have one.
    """

    ways: tuple[Way, ...]
    traits: Mapping[DatasetName, Traits]
    columns: frozenset[FieldName]
    inputs: frozenset[tuple[Node, Node]] = frozenset()
    hidden: frozenset[Node] = frozenset()
    unknown: frozenset[Node] = frozenset()
    certified: Mapping[DatasetName, CertificationText] = field(default_factory=dict)
    complete: bool = True

    @property
    def pairs(self) -> frozenset[tuple[Node, Node]]:
        """The inputs, and those that the ways between columns imply."""
        ends = ((dataset_of(way.source), dataset_of(way.target)) for way in self.ways)
        return self.inputs | {(source, target) for source, target in ends if source and target and source != target}


def make_estate(known: KnownGraph, categories: Categories, declassifiers: Declassifiers = NONE) -> Estate:
    """The nodes that policies judge. `categories`: the tags of each category beside those known everywhere.
    `declassifiers`: functions, with what each leaves of its arguments at most.
    """
    widths, inputs = widths_of(declassify(known.ways, declassifiers)), known.pairs
    labels = _labels(widths, _marked(known, categories), known.columns)
    targets = _targets((*widths[0], *inputs), known.columns)
    unknown = _why_open(_downstream(known.unknown, targets), "is not known, or may not be seen")
    unknown |= _why_open(_downstream(known.hidden, targets), "may not be seen")
    kept = {one: _retention(of) for one, of in known.traits.items()}
    sources = shortest_retentions({one: of.days for one, of in kept.items() if of.days is not None}, widths)
    certified = dict[Node | None, CertificationText](known.certified.items())
    every = set[Node]((*known.traits, *known.columns)) - known.hidden
    return Estate(
        subjects={
            one: replace(
                _subject(one, known.traits, labels, kept, sources, unknown.get(one, "")),
                certification=certified.get(dataset_of(one)),
            )
            for one in sorted(every, key=str)
        },
        inputs=_by_target(inputs),
        hidden=len(known.hidden),
        complete=known.complete,
    )


def _marked(known: KnownGraph, categories: Categories) -> dict[Node, frozenset[Mark]]:
    """The sensitive columns, and the sensitive datasets of which no column is known."""
    with_columns = {name.dataset for name in known.columns}
    found: dict[Node, frozenset[Mark]] = {
        one: _marks(known.traits[one.dataset], one.field, categories) for one in known.columns
    }
    found |= {one: _marks(of, "", categories) for one, of in known.traits.items() if one not in with_columns}
    return {node: marks for node, marks in found.items() if marks}


def _marks(traits: Traits, column: str, categories: Categories) -> frozenset[Mark]:
    if not traits.tags:
        return frozenset()
    found = set(marks_of(traits, column, ()))
    for category, tags in categories.items():
        found |= {Mark(category, mark.of_dataset) for mark in marks_of(traits, column, sorted(tags))}
    return frozenset(found)


def _labels(
    widths: tuple[Widths, Widths], marked: Mapping[Node, frozenset[Mark]], columns: Iterable[FieldName]
) -> dict[Node, dict[str, Shown]]:
    """The labels of nodes by category; a dataset has the highest of its columns."""
    found: dict[Node, dict[str, Shown]] = {}
    for label in labels_of(widths, marked, columns):
        shown = Shown(grade=label.grade, proven=label.proven, path=label.path)
        for node in {label.node, dataset_of(label.node)}:
            if node is not None:
                own = found.setdefault(node, {})
                own[label.category] = _higher(own.get(label.category), shown)
    return found


def _higher(one: Shown | None, other: Shown) -> Shown:
    if one is None:
        return other
    best = max(one, other, key=lambda shown: (shown.grade, shown.proven, -len(shown.path)))
    return Shown(grade=best.grade, proven=max(one.proven, other.proven), path=best.path)


def _why_open(counts: Mapping[Node, int], what: str) -> dict[Node, str]:
    """Why more may reach each node that is downstream of others."""
    return {node: f"{count:,} node{'s' * (count != 1)} upstream {what}" for node, count in counts.items()}


def _targets(pairs: Pairs, columns: Iterable[FieldName]) -> Mapping[Node, set[Node]]:
    """The nodes to which each passes something; a dataset passes it to its columns."""
    targets: dict[Node, set[Node]] = {}
    for source, target in (*pairs, *((one.dataset, one) for one in columns)):
        targets.setdefault(source, set()).add(target)
    return targets


def _downstream(starts: frozenset[Node], targets: Mapping[Node, set[Node]]) -> Mapping[Node, int]:
    """Of how many of some nodes each other node is downstream."""
    counts: Counter[Node] = Counter()
    for start in starts:
        seen, frontier = {start}, [start]
        while frontier:
            beyond = {one for node in frontier for one in targets.get(node, ())}
            frontier = list(beyond - seen)
            seen |= beyond
        counts.update(seen)
    return counts


def _retention(traits: Traits) -> Retention:
    return read_retention(value for key, value, on in traits.tags if key == KEY and not on)


def _subject(
    node: Node,
    traits: Mapping[DatasetName, Traits],
    labels: Mapping[Node, Mapping[str, Shown]],
    kept: Mapping[DatasetName, Retention],
    sources: Mapping[DatasetName, SourceRetention],
    unknown: str,
) -> Subject:
    dataset = dataset_of(node)
    assert dataset is not None
    of = traits[dataset]
    column = node.field if isinstance(node, FieldName) else ""
    return Subject(
        node=node,
        tags=of.tags_of(column),
        owners=of.owners,
        types=of.types,
        tier=int(of.tier) if of.tier.isdecimal() else None,
        labels=labels.get(node, {}),
        retention=kept[dataset],
        sources=sources.get(dataset, NO_SOURCE_RETENTION),
        unknown=unknown,
    )


def _by_target(pairs: Pairs) -> Mapping[Node, frozenset[Node]]:
    found: dict[Node, set[Node]] = {}
    for source, target in pairs:
        found.setdefault(target, set()).add(source)
    return {target: frozenset(sources) for target, sources in found.items()}
