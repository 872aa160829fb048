"""`policies.json` of a pack: the policies that are about its datasets, and what they decide of each node."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from whence.govern.evidence.content.sources import Sources
from whence.govern.policies.documents import evaluation_document, policy_row
from whence.govern.policies.evaluation import Evaluation, evaluate, merge_evaluations
from whence.govern.policies.policy import PolicyFile
from whence.govern.policies.reading import read_estate
from whence.govern.policies.records import group_policies, held_policies
from whence.govern.rule_states.records import RuleTransition, certifications_at, list_rule_transitions
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.answers.instants import iso
from whence.query.answers.values import dataset_of

Json = dict[str, Any]


def policy_document(sources: Sources, datasets: Collection[DatasetName], at: int) -> Json:
    """The policies that held at a time (µs), what they say of the datasets and their columns then, and the recorded
    changes of what policies and rules of certification said.
    """
    namespaces = {one.namespace for one in datasets}
    held = [one for one in held_policies(sources.whole, at, sources.catalog) if one.namespace in namespaces]
    files = group_policies(one.rule for one in held if one.rule is not None)
    found = _evaluate(files, sources, datasets, at) if files else None
    return {
        "policies": [{**policy_row(one, is_whole=sources.is_whole)} for one in held],
        "decisions": None if found is None else {**evaluation_document(found, at)},
        "transitions": list(_transitions(sources, datasets, at)),
    }


def _evaluate(files: Sequence[PolicyFile], sources: Sources, datasets: Collection[DatasetName], at: int) -> Evaluation:
    ids = [node_id(one) for one in datasets]
    certified = certifications_at(sources.whole, at)
    found = []
    for one in files:
        estate = read_estate(sources.graph, ids, one.categories, at, certified, one.functions)
        only = frozenset(node for node in estate.subjects if dataset_of(node) in datasets)
        found.append(evaluate(one.at(at).policies, estate, only))
    return merge_evaluations(found)


def _transitions(sources: Sources, datasets: Collection[DatasetName], at: int) -> Iterator[Json]:
    for one in list_rule_transitions(sources.whole, at):
        if one.dataset in datasets:
            yield _transition(one, is_whole=sources.is_whole)


def _transition(one: RuleTransition, *, is_whole: bool) -> Json:
    """Who does not see everything gets no columns and reasons, as in `/api/v2/rule-states`."""
    record = one.record
    return {
        "time": iso(one.time),
        "kind": record.rule_kind,
        "rule": record.rule or None,
        "node": record.dataset,
        "before": record.before or None,
        "after": record.after,
        "blocks": record.blocks,
        "columns": list(record.columns) if is_whole else [],
        "reason": (record.reason or None) if is_whole else None,
    }
