"""The recorded transitions of what rules say, as OpenLineage events and back: their fold is the state at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from whence.govern.assertions import assert_facets
from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind, namespace_of_registered
from whence.model.names import DatasetName, parse_node
from whence.model.records.certification import CertificationText
from whence.model.records.rule_transitions import (
    RULE_TRANSITION,
    RuleTransitionRecord,
    rule_transition_dataset,
    rule_transition_id,
)
from whence.openlineage.write import PRODUCER, own_facet
from whence.query.lookup.standings import Standings, read_standings
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Past
from whence.query.visibility.rule_records import read_rule_transition

Json = dict[str, Any]
_STATUSES: frozenset[str] = frozenset(get_args(CertificationText))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTransition:
    """A recorded change of what a rule says of a dataset, at a time (µs)."""

    id: str
    time: int
    dataset: DatasetName
    record: RuleTransitionRecord


def rule_transition_event(one: RuleTransition) -> Json:
    """The event that records a transition. The same transition is the same event, byte for byte."""
    members = {key: value for key, value in msgspec.to_builtins(one.record).items() if value}
    facets = {RULE_TRANSITION: own_facet("RuleTransitionDatasetFacet", **members)}
    return assert_facets(rule_transition_dataset(one.dataset.namespace, one.record), one.time, PRODUCER, facets)


def list_rule_transitions(catalog: Catalog, until: int | None = None) -> Sequence[RuleTransition]:
    """The transitions until a time (µs), in order."""
    wanted = RegisteredFilter(RegistryKind.RULE_TRANSITION, RULE_TRANSITION)
    read = (_transition(one) for one in catalog.registered_facets(wanted) if until is None or one.time <= until)
    return sorted((one for one in read if one), key=lambda one: (one.time, one.id))


def last_by_subject(transitions: Iterable[RuleTransition]) -> Mapping[str, RuleTransition]:
    """The state of each rule and dataset: the fold of transitions in order."""
    return {one.record.subject: one for one in transitions}


def certifications_of(transitions: Iterable[RuleTransition]) -> Mapping[DatasetName, CertificationText]:
    """What the rules of certification say of each dataset that has one."""
    found: dict[DatasetName, CertificationText] = {}
    for one in last_by_subject(transitions).values():
        if one.record.rule_kind == "certification" and one.record.after in _STATUSES:
            found[one.dataset] = msgspec.convert(one.record.after, CertificationText)
    return {dataset: status for dataset, status in found.items() if status != "no rule"}


def certifications_at(catalog: Catalog, until: int | None = None) -> Mapping[DatasetName, CertificationText]:
    """The same, as it was recorded until a time (µs), or now. A running server records it within seconds."""
    return certifications_of(list_rule_transitions(catalog, until))


def read_current_standings(catalog: Catalog, graph: Past) -> Standings:
    """Which datasets may be relied on now: by the recorded certifications, and by tags."""
    return read_standings(catalog, graph, certifications_at(catalog))


def _transition(one: RegisteredFacet) -> RuleTransition | None:
    record = read_rule_transition(one.payload)
    dataset = parse_node(record.dataset) if record else None
    if record is None or not isinstance(dataset, DatasetName):
        return None
    if dataset.namespace != namespace_of_registered(one.name):
        return None
    return RuleTransition(id=rule_transition_id(record), time=one.time, dataset=dataset, record=record)
