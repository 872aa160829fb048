"""Conditions about nodes: a closed set of attributes, each true, false, or not known of a node (None)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from whence.govern.policies.estate import Estate, Subject
from whence.model.access import matches_pattern
from whence.model.names import FieldName, Node
from whence.model.sensitivity import Grade

Truth = bool | None
"""None: not known."""


@dataclass(frozen=True, slots=True)
class LabelAtLeast:
    """Sensitive data of a category, of at least a grade."""

    category: str
    grade: Grade

    def __str__(self) -> str:
        return f"{self.category}>={self.grade.word}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is to hold of a node: all attributes that are stated; of each, one of its values.

    A `*` in `namespaces`, `names`, `columns` and `owners` matches any characters. `reads`: of some dataset that the
    node's one is made of directly; `derived_from`: of some one upstream, at any distance.
    """

    kinds: frozenset[str] = frozenset()
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    is_owned: bool | None = None
    types: frozenset[str] = frozenset()
    tiers: frozenset[int] = frozenset()
    certified: bool | None = None
    labels: tuple[LabelAtLeast, ...] = ()
    outlives_sources: bool | None = None
    reads: "Condition | None" = None
    derived_from: "Condition | None" = None
    expires: date | None = None
    """The last day (UTC) of an exception; None: it has no end."""

    @property
    def scope(self) -> "Condition":
        """The same without what follows from lineage: which nodes it is about, whatever data they show."""
        return replace(self, labels=(), outlives_sources=None, reads=None, derived_from=None)

    @property
    def categories(self) -> frozenset[str]:
        """The categories of its labels, also of those inside `reads` and `derived_from`."""
        nested = (one.categories for one in (self.reads, self.derived_from) if one is not None)
        return frozenset(one.category for one in self.labels).union(*nested)


def every(truths: Iterable[Truth]) -> Truth:
    """Whether all hold: false if one does not, and not known if one is not known."""
    found: Truth = True
    for one in truths:
        if one is False:
            return False
        found = None if one is None else found
    return found


def some(truths: Iterable[Truth]) -> Truth:
    """Whether one holds."""
    return inverse(every(inverse(one) for one in truths))


def inverse(truth: Truth) -> Truth:
    """Not known stays not known."""
    return None if truth is None else not truth


def holds(condition: Condition, subject: Subject, estate: Estate) -> Truth:
    """Whether a condition holds of a node."""
    return every(_attributes(condition, subject, estate))


def _truth(condition: Condition, subject: Subject, estate: Estate) -> Truth:
    """The same, remembered: a dataset is asked once for each that reads it, and on every level of nesting."""
    known = estate.truths.setdefault(condition, {})
    if subject.node not in known:
        known[subject.node] = holds(condition, subject, estate)
    return known[subject.node]


def _attributes(condition: Condition, subject: Subject, estate: Estate) -> Iterator[Truth]:
    """The truth of each attribute that is stated, the cheapest first."""
    if condition.kinds:
        yield subject.kind in condition.kinds
    if condition.namespaces:
        yield _matches(condition.namespaces, [subject.dataset.namespace])
    if condition.names:
        yield _matches(condition.names, [subject.dataset.name])
    if condition.columns:
        yield _matches(condition.columns, [subject.node.field] if isinstance(subject.node, FieldName) else [])
    if condition.types:
        yield not condition.types.isdisjoint(subject.types)
    if condition.tiers:
        yield subject.tier in condition.tiers
    if condition.tags:
        yield not subject.tags.isdisjoint(condition.tags)
    if condition.owners:
        yield _matches(condition.owners, subject.owners)
    if condition.is_owned is not None:
        yield bool(subject.owners) is condition.is_owned
    if condition.certified is not None:
        yield subject.is_certified if condition.certified else inverse(subject.is_certified)
    if condition.labels:
        yield some(_shows(subject, one) for one in condition.labels)
    if condition.outlives_sources is not None:
        truth = _outlives(subject)
        yield truth if condition.outlives_sources else inverse(truth)
    if condition.reads is not None:
        found = some(_truth(condition.reads, one, estate) for one in estate.inputs_of(subject))
        yield None if found is False and subject.unknown else found
    if condition.derived_from is not None:
        yield _derived(condition.derived_from, subject, estate)


def _matches(patterns: Iterable[str], texts: Iterable[str]) -> bool:
    return any(matches_pattern(pattern, text) for text in texts for pattern in patterns)


def _shows(subject: Subject, wanted: LabelAtLeast) -> Truth:
    """Not known where the grade is only assumed, and where sensitive data may pass unseen."""
    shown = subject.labels.get(wanted.category)
    if shown is not None and shown.proven >= wanted.grade:
        return True
    is_open = bool(subject.unknown) or (shown is not None and shown.grade >= wanted.grade)
    return None if is_open else False


def _outlives(subject: Subject) -> Truth:
    """Whether a dataset is kept longer than data that it is made of. Not known if nobody says how long it is kept."""
    own, sources = subject.retention, subject.sources
    if own.is_unreadable:
        return None
    if sources.days is None:
        return None if subject.unknown else False
    if own.days is None:
        return None
    if sources.proven is not None and own.days > sources.proven:
        return True
    return None if own.days > sources.days or subject.unknown else False


def _derived(condition: Condition, subject: Subject, estate: Estate) -> Truth:
    sure, open_ = _reached(condition, estate)
    if subject.dataset in sure:
        return True
    return None if subject.unknown or subject.dataset in open_ else False


def _reached(condition: Condition, estate: Estate) -> tuple[frozenset[Node], frozenset[Node]]:
    """The datasets that are made of some one of which a condition holds, and of which it may: found once for all."""
    if condition not in estate.reached:
        truths = {one.node: holds(condition, one, estate) for one in estate.subjects.values() if one.kind == "dataset"}
        sure, open_ = ([node for node, truth in truths.items() if truth is wanted] for wanted in (True, None))
        estate.reached[condition] = estate.made_of(sure), estate.made_of(open_)
    return estate.reached[condition]


def witness(condition: Condition, subject: Subject, estate: Estate) -> tuple[Node, ...]:
    """The way that shows why a condition holds, or may hold, of a node: that of its data, or from another dataset."""
    for wanted in condition.labels:
        shown = subject.labels.get(wanted.category)
        if shown is not None and shown.grade >= wanted.grade:
            return shown.path
    if condition.outlives_sources and subject.sources.path:
        return subject.sources.path
    for nested, others in ((condition.reads, estate.inputs_of), (condition.derived_from, estate.upstream_of)):
        if nested is not None:
            found = next((one for one in others(subject) if holds(nested, one, estate) is not False), None)
            if found is not None:
                return found.node, subject.node
    return ()
