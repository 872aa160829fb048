"""Rules that were declared (of certification, and policies), as OpenLineage events and back.

Nothing is replaced: the rules at a time are the last declarations until then.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from whence.govern.assertions import assert_facets
from whence.model.catalog import RegisteredFilter, RegistryKind, namespace_of_registered
from whence.model.records.rules import RuleRecord, rule_dataset, rule_id, rule_version
from whence.openlineage.write import own_facet
from whence.query.ports.catalog import Catalog
from whence.query.visibility.rule_records import read_rule_record

Json = dict[str, Any]
Rule = TypeVar("Rule")


class Declarable(Protocol):
    """A rule of a file. `texts`: by namespace, the rule as it is declared there."""

    @property
    def name(self) -> str:
        """The name: unique in a namespace."""
        ...

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a namespace and a text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind(Generic[Rule]):
    """What tells one kind of rules from others. `read`: the rule of a text; None if this version cannot read it."""

    registry: RegistryKind
    facet: str
    facet_class: str
    read: Callable[[str], Rule | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredRule(Generic[Rule]):
    """A rule of a namespace that was declared, changed or ended at a time (µs), and by which producer. `rule`: None if
    it was ended, or if its text is hidden, or of another version of Whence.
    """

    namespace: str
    record: RuleRecord
    time: int
    producer: str = ""
    rule: Rule | None = None

    @property
    def version(self) -> str:
        """The version of its text."""
        return rule_version(self.record.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRule:
    """A rule that holds in a namespace, as far as it matters for whether another takes its place."""

    namespace: str
    name: str
    version: str


def held_rules(kind: RuleKind[Rule], catalog: Catalog, until: int | None = None) -> Sequence[DeclaredRule[Rule]]:
    """The rules that hold at a time (µs), or now, by namespace and name."""
    last: dict[str, DeclaredRule[Rule]] = {}
    for one in reversed(catalog.registered_facets(RegisteredFilter(kind.registry, kind.facet))):
        record, namespace = read_rule_record(one.payload), namespace_of_registered(one.name)
        if record is not None and (until is None or one.time <= until):
            rule = kind.read(record.text) if record.text else None
            last[rule_id(namespace, record.name)] = DeclaredRule(
                namespace=namespace, record=record, time=one.time, producer=one.producer, rule=rule
            )
    held = (one for one in last.values() if not one.record.ended)
    return sorted(held, key=lambda one: (one.namespace, one.record.name))


def rule_event(kind: RuleKind[Rule], record: RuleRecord, namespace: str, at: int, producer: str) -> Json:
    """The event by which a producer declares or ends a rule of a namespace at a time (µs)."""
    members = {key: value for key, value in msgspec.to_builtins(record).items() if value}
    facets = {kind.facet: own_facet(kind.facet_class, **members)}
    return assert_facets(rule_dataset(kind.registry, namespace, record, at), at, producer, facets)


def find_rule_changes(
    wanted: Sequence[Declarable], held: Iterable[HeldRule], *, prune: bool
) -> Iterator[tuple[RuleRecord, str]]:
    """The declarations, each with its namespace, that make these rules hold.

    A rule that leaves a namespace ends there. `prune`: what else the namespaces of the file have ends, too.
    """
    known = frozenset(held)
    new = {(namespace, rule.name): text for rule in wanted for namespace, text in rule.texts}
    for (namespace, name), text in new.items():
        if HeldRule(namespace=namespace, name=name, version=rule_version(text)) not in known:
            yield RuleRecord(name=name, text=text), namespace
    names, namespaces = {one.name for one in wanted}, {namespace for namespace, _ in new}
    for old in sorted(known, key=lambda one: (one.namespace, one.name)):
        is_left = old.name in names or (prune and old.namespace in namespaces)
        if is_left and (old.namespace, old.name) not in new:
            yield RuleRecord(name=old.name, ended=True), old.namespace
