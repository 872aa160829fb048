"""The quality score of a dataset in a store at a time: reads its inputs along DIRECT lineage, and facts about each."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from whence.govern.certification.facts import HeldContract, LastCheck
from whence.govern.certification.observations import read_facts
from whence.govern.contracts.evaluation.observations import Observed, ids_of
from whence.govern.quality_scores.score import OwnQuality, QualityScore, score_of
from whence.govern.slos.declared import EvaluatedSlo, evaluate_declared
from whence.govern.slos.evaluation.judge import Outcome
from whence.govern.slos.records import held_declarations
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.answers.values import DIRECT, Question
from whence.query.history.changes.scope import Scope, scope_of
from whence.query.ports.catalog import Catalog

MOST_DATASETS = 500
"""Datasets that count: the nearest."""


def read_score(catalog: Catalog, graph: Observed, dataset: DatasetName, now: int, at: int | None) -> QualityScore:
    """The score of a dataset at a time (µs), None: at `now`, by the current lineage."""
    scope = scope_of(graph, dataset, Question(at=at, types=DIRECT), [at])
    distances = _distances(scope, dataset)
    nearest = sorted(distances, key=lambda name: (distances[name], str(name)))[:MOST_DATASETS]
    facts = read_facts(catalog, graph, dict.fromkeys(nearest, ()), now, at)
    objectives = _objectives(catalog, graph, nearest, now if at is None else at)
    known = {
        name: OwnQuality(
            distance=distances[name],
            checks=_checks(facts[name].checks) if facts[name].are_all_checks else None,
            contract=_contract(facts[name].contract),
            objectives=objectives.get(name),
        )
        for name in nearest
    }
    is_cut = scope.completeness.stopped_by not in (None, "columns", "beginning") or len(nearest) < len(distances)
    return score_of(nearest[0], known, is_whole=not is_cut)


def _distances(scope: Scope, dataset: DatasetName) -> Mapping[DatasetName, int]:
    """The datasets of a scope with their hops, under the names by which they are in lineage."""
    found: dict[DatasetName, int] = {}
    for id_ in scope.datasets:
        name = scope.names[id_]
        assert isinstance(name, DatasetName)
        found[name] = min(found.get(name, scope.distances[id_]), scope.distances[id_])
    return found or {dataset: 0}


def _checks(checks: Sequence[LastCheck]) -> Fraction | None:
    return Fraction(sum(one.held for one in checks), len(checks)) if checks else None


def _contract(held: HeldContract | None) -> Fraction | None:
    """A rule that nothing decides leaves open whether it holds, unless another one is violated."""
    if held is None or held.violations is None:
        return None
    if held.violations:
        return Fraction(0)
    return None if held.unevaluated else Fraction(1)


def _objectives(
    catalog: Catalog, graph: Observed, names: Iterable[DatasetName], at: int
) -> Mapping[DatasetName, Fraction]:
    """The share of the evaluated objectives that hold, by all names of each dataset."""
    owners = {id_: name for name, ids in ids_of(graph, list(names)).items() for id_ in ids}
    declared = [one for one in held_declarations(catalog, at).values() if node_id(one.dataset) in owners]
    holds: dict[DatasetName, list[bool]] = {}
    for one in evaluate_declared(catalog, graph, declared, at):
        if (verdict := _verdict(one)) is not None:
            holds.setdefault(owners[node_id(one.declaration.dataset)], []).append(verdict)
    return {name: Fraction(sum(some), len(some)) for name, some in holds.items()}


def _verdict(one: EvaluatedSlo) -> bool | None:
    match None if one.judgement is None else one.judgement.outcome:
        case Outcome.HOLDS:
            return True
        case Outcome.VIOLATED:
            return False
    return None
