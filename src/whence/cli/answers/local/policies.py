"""Policies evaluated in a store on this machine."""

import time

import msgspec

from whence.client.values.sensitivity import PolicyEvaluation, PolicyOptions, Proposal
from whence.govern.policies.documents import evaluation_document, read_proposal
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.proposed_estate import evaluate_graph
from whence.govern.policies.records import declared_files, group_policies
from whence.govern.rule_states.records import certifications_at
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph


def evaluate_policies(
    graph: StoreGraph, text: str, proposal: Proposal | None, options: PolicyOptions, at: int | None
) -> PolicyEvaluation:
    """Of which nodes the policies of a text, and if wanted declared ones, do not hold at a time (µs), None: now. Raises
    RulesFileError, QuestionError.
    """
    files = [read_policies(text, options.get("file", "policies.yaml"))] if text else []
    proposed = read_proposal(msgspec.to_builtins(proposal))
    catalog = StoreCatalog(graph.connection)
    files += declared_files(catalog, at) if options.get("declared") else []
    certified, now = certifications_at(catalog, at), time.time_ns() // 1_000
    found = evaluate_graph(group_policies(files), catalog, graph, at, proposed, certified, now=now)
    return msgspec.convert(evaluation_document(found, at, options.get("limit")), PolicyEvaluation)
