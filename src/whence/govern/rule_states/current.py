"""What the declared rules and lineage baselines in a store say at a time, and which transitions are to be recorded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whence.govern.certification.current import CertifiedDataset, certify, list_named, rules_by_namespace
from whence.govern.certification.records import CERTIFICATION
from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.declared_rules import held_rules
from whence.govern.lineage_baselines.current import compare_baselines
from whence.govern.policies.evaluation import Evaluation
from whence.govern.policies.proposed_estate import evaluate_graph
from whence.govern.policies.records import declared_files, held_policies
from whence.govern.rule_states.records import (
    RuleTransition,
    last_by_subject,
    list_rule_transitions,
    rule_transition_event,
)
from whence.govern.rule_states.states import (
    certification_states,
    find_new_transitions,
    lineage_states,
    policy_states,
)
from whence.model.access import ReadingRestriction
from whence.model.names import DatasetName
from whence.model.records.certification import CertificationText
from whence.query.ports.catalog import Catalog

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedRules:
    """The transitions of rules until a time (µs) that the store lacks. `restrictions`: the columns that policies hide
    from readers; None if not all lineage was read.
    """

    at: int
    new: tuple[RuleTransition, ...] = ()
    restrictions: tuple[ReadingRestriction, ...] | None = ()

    @property
    def events(self) -> Sequence[Json]:
        """The events of the new transitions."""
        return [rule_transition_event(one) for one in self.new]


def evaluate_rules(catalog: Catalog, graph: Observed, now: int) -> EvaluatedRules:
    """Evaluate all declared rules at a time (µs)."""
    last = last_by_subject(list_rule_transitions(catalog))
    certified = list(_certify(catalog, graph, now))
    statuses = {one.name: one.found.status for one in certified if one.found.rules}
    found = _evaluate_policies(catalog, graph, now, statuses)
    drift = lineage_states(compare_baselines(catalog, graph, now))
    states = [*certification_states(certified), *(policy_states(found.findings) if found else ()), *drift]
    held = {(one.namespace, one.record.name) for one in held_policies(catalog, now)}
    are_all = found is None or found.complete
    restrictions = found.restrictions if found else ()
    return EvaluatedRules(
        at=now,
        new=tuple(find_new_transitions(states, last, now, held, are_all=are_all)),
        restrictions=restrictions if are_all else None,
    )


def _certify(catalog: Catalog, graph: Observed, now: int) -> Iterator[CertifiedDataset]:
    namespaces = rules_by_namespace(held_rules(CERTIFICATION, catalog, now))
    names = [one.name for one in list_named(catalog, namespaces, now)]
    return certify(catalog, graph, [one for one in names if isinstance(one, DatasetName)], now)


def _evaluate_policies(
    catalog: Catalog, graph: Observed, now: int, certified: Mapping[DatasetName, CertificationText]
) -> Evaluation | None:
    """What the declared policies say; None without one, so that nothing is read."""
    files = declared_files(catalog, now)
    return evaluate_graph(files, catalog, graph, certified=certified, now=now) if files else None
