"""Contracts of datasets with their evaluations, over the ports of `query`: for the API and the command line alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whence.govern.contracts.evaluation.judge import judge_rules
from whence.govern.contracts.evaluation.observations import Observed, ObservedData, observe
from whence.govern.contracts.evaluation.schema import Evaluation, evaluate_contract
from whence.govern.contracts.evaluation.silent_sources import read_silent_times, reason_at
from whence.govern.contracts.evaluation.transitions import Transition, find_transitions
from whence.govern.contracts.evaluation.verdicts import Outcome, RuleVerdict
from whence.model.catalog import Entry, entry_sort_key
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName
from whence.query.answers.instants import iso
from whence.query.lookup.contracts import (
    CARRIERS,
    ContractedDataset,
    ContractVersion,
    contract_versions,
    contracted_datasets,
)
from whence.query.ports.catalog import Catalog
from whence.query.rendering.contracts import (
    ContractEvaluation,
    ContractHistory,
    ContractRule,
    ContractTransition,
    ContractTransitions,
    DatasetContract,
    contract_document,
    history_document,
)


def list_contracts(catalog: Catalog, graph: Observed, entries: Sequence[Entry], now: int) -> list[DatasetContract]:
    """The contracts that hold now (µs) for these datasets, each with the number of its violations."""
    return list(_contracts(catalog, contracted_datasets(catalog, entries), graph, now))


def _contracts(
    catalog: Catalog, datasets: Sequence[ContractedDataset], graph: Observed, now: int
) -> Iterator[DatasetContract]:
    held = {one.name: version for one in datasets if (version := one.at()) is not None}
    named = {one.name: one for one in datasets}
    for name, data in observe(graph, held, None).items():
        found = evaluate(held[name], with_silence(catalog, named[name], data, now), now)
        yield contract_document(name, held[name], count_violations(found), count_unevaluated(found))


def contract_history(
    catalog: Catalog, graph: Observed, name: DatasetName, at: int | None, now: int, *, transitions: bool = False
) -> ContractHistory:
    """The contract of a dataset at a time (µs), or now; its evaluation over what was reported until then; its versions;
    and if wanted, when a rule began or ended to be violated.
    """
    id_ = node_id(name)
    dataset = ContractedDataset(name=name, versions=contract_versions(catalog.facets([id_]).get(id_, {})))
    held, until = dataset.at(at), now if at is None else at
    found = None
    if held is not None:
        data = with_silence(catalog, dataset, observe(graph, {name: held}, at)[name], until)
        found = _document(evaluate(held, data, until))
    changes = _transitions(catalog, graph, dataset, until) if transitions else None
    return history_document(dataset, at, found, changes)


def with_silence(catalog: Catalog, dataset: ContractedDataset, data: ObservedData, at: int) -> ObservedData:
    """The observations, and whether the source of the dataset is silent at a time (µs)."""
    if data.written is None:
        return data
    return replace(data, silent=reason_at(read_silent_times(catalog, dataset, [data.written], at), at))


def _transitions(catalog: Catalog, graph: Observed, dataset: ContractedDataset, until: int) -> ContractTransitions:
    found = find_transitions(catalog, graph, dataset, until)
    known_from = None if found.known_from is None else iso(found.known_from)
    return {
        "complete": known_from is None,
        "known_from": known_from,
        "changes": [_transition(one) for one in found.found],
    }


def _transition(one: Transition) -> ContractTransition:
    return {
        "time": iso(one.time),
        "rule": one.rule,
        "column": one.column or None,
        "before": None if one.before is None else one.before.value,
        "after": None if one.after is None else one.after.value,
        "expected": one.verdict.expected or None,
        "observed": one.verdict.observed or None,
        "run": None if one.verdict.run is None else str(one.verdict.run),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractCounts:
    """The contracts that hold now. `violated`: those with a violation; `violations`: of all of them; `not_evaluated`:
    those of which it is not known whether they are violated; `unevaluated_rules`: rules that nothing decides.
    """

    contracts: int = 0
    violated: int = 0
    violations: int = 0
    not_evaluated: int = 0
    unevaluated_rules: int = 0


def count_contracts(catalog: Catalog, graph: Observed, now: int) -> ContractCounts:
    """Count all contracts by what their evaluations say now (µs)."""
    found = list_contracts(catalog, graph, contracted_entries(catalog), now)
    violations = [one["violations"] for one in found]
    return ContractCounts(
        contracts=len(found),
        violated=sum(bool(one) for one in violations),
        violations=sum(one or 0 for one in violations),
        not_evaluated=violations.count(None),
        unevaluated_rules=sum(one["unevaluated"] for one in found),
    )


def contracted_entries(catalog: Catalog) -> list[Entry]:
    """The datasets that may have a contract, by namespace and name; deleted ones are left out."""
    carriers = {one for facet in CARRIERS for one in catalog.carrying(facet)}
    datasets = [one for one in carriers if kind_of(one) is Kind.DATASET]
    alive = set(datasets) - catalog.deleted(datasets)
    return sorted(catalog.entries(alive).values(), key=entry_sort_key)


Evaluated = tuple[Evaluation, tuple[RuleVerdict, ...]]
"""The evaluation of a contract: of the columns that it promises, and of its rules and service levels."""


def evaluate(held: ContractVersion, data: ObservedData, at: int) -> Evaluated:
    """Evaluate a version of a contract against the observations of its dataset until a time (µs)."""
    return evaluate_contract(held, data.columns), judge_rules(held, data, at)


def count_violations(found: Evaluated) -> int | None:
    """The violations of columns, rules and service levels; None if there are none, and the columns are not known."""
    columns, rules = found
    count = len(columns.violations) + sum(one.outcome is Outcome.VIOLATED for one in rules)
    return None if columns.not_evaluated and not count else count


def count_unevaluated(found: Evaluated) -> int:
    """The rules and service levels that are not evaluated."""
    return sum(one.outcome is Outcome.NOT_EVALUATED for one in found[1])


def _document(found: Evaluated) -> ContractEvaluation:
    columns, rules = found
    return {
        "violations": [
            {"rule": one.rule, "column": one.column, "expected": one.expected, "observed": one.observed or None}
            for one in columns.violations
        ],
        "not_evaluated": columns.not_evaluated or None,
        "rules": [_rule_document(one) for one in rules],
    }


def _rule_document(one: RuleVerdict) -> ContractRule:
    return {
        "rule": one.rule,
        "column": one.column or None,
        "outcome": one.outcome.value,
        "expected": one.expected or None,
        "observed": one.observed or None,
        "reason": one.reason or None,
        "time": None if one.time is None else iso(one.time),
        "run": None if one.run is None else str(one.run),
    }
