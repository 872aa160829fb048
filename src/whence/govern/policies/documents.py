"""Evaluations of policies as JSON: for the API and the command line alike."""

from collections.abc import Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from whence.errors import QuestionError
from whence.govern.declared_rules import DeclaredRule
from whence.govern.policies.evaluation import Evaluation
from whence.govern.policies.policy import Finding, PolicyFile
from whence.govern.policies.proposal import NOTHING, Proposal
from whence.model.lineage import Edge
from whence.model.names import JobName, Node, parse_node
from whence.query.answers.instants import iso

OutcomeWord = Literal["ok", "violated", "not evaluated"]


class PolicyFinding(TypedDict):
    """A node of which a policy does not hold, or may not: whom to ask (`owner`), and the path that shows it (`path`).

    `unknown`: why the policy is not evaluated. `place`: the file and line of the policy.
    """

    policy: str
    node: str
    outcome: OutcomeWord
    blocks: bool
    reason: str
    owner: str
    unknown: str | None
    path: list[str]
    place: str


class PolicyEvaluation(TypedDict):
    """What policies say of the nodes that the caller may see, at a time. `counts`: the nodes of each outcome, over all
    policies. `hidden`: nodes upstream that the caller may not see. `complete`: whether all lineage was read. `idle`:
    policies that are about no node. `findings`: violations first, at most as many as were asked for; `total`: of how
    many.
    """

    as_of: str | None
    outcome: OutcomeWord
    blocks: bool
    counts: dict[str, int]
    hidden: int
    complete: bool
    idle: list[str]
    total: int
    findings: list[PolicyFinding]


class DeclaredPolicy(TypedDict):
    """A policy that holds in a namespace, as it was declared. `text`: as JSON of the form of `policies.yaml`; null for
    who may not see everything, as it may name other namespaces. `reason` and `owner`: null if this version of Whence
    cannot read it.
    """

    namespace: str
    name: str
    version: str
    reason: str | None
    owner: str | None
    text: str | None
    declared_at: str
    declared_by: str


class ProposedEdge(TypedDict):
    """An edge that code would make: node ids, and the transformation as in an event."""

    source: str
    target: str
    type: NotRequired[str]
    subtype: NotRequired[str]
    masking: NotRequired[bool]
    description: NotRequired[str]


class ProposalDocument(TypedDict):
    """What code changes of the lineage. `gone`: sources and targets whose edges no longer count; `edges`: all that it
    has instead.
    """

    gone: Sequence[tuple[str, str]]
    edges: Sequence[ProposedEdge]


def read_proposal(document: ProposalDocument | None) -> Proposal:
    """A proposal, or the empty one. Raises QuestionError for a text that is no node id."""
    if document is None:
        return NOTHING
    return Proposal(
        gone=frozenset((_node(source), _node(target)) for source, target in document["gone"]),
        edges=tuple(_edge(one) for one in document["edges"]),
    )


def _edge(one: ProposedEdge) -> Edge:
    return Edge(
        source=_node(one["source"]),
        target=_node(one["target"]),
        type=one.get("type", "UNKNOWN").upper(),
        subtype=one.get("subtype", "").upper(),
        masking=one.get("masking", False),
        description=one.get("description", ""),
    )


def _node(text: str) -> Node:
    if (node := parse_node(text)) is None or isinstance(node, JobName):
        raise QuestionError("proposal", f"{text!r} is no node id of a dataset or column")
    return node


def policy_row(one: DeclaredRule[PolicyFile], *, is_whole: bool) -> DeclaredPolicy:
    """A declared policy."""
    policy = next(iter(one.rule.policies), None) if one.rule else None
    return {
        "namespace": one.namespace,
        "name": one.record.name,
        "version": one.version,
        "reason": policy.reason if policy else None,
        "owner": policy.owner if policy else None,
        "text": one.record.text if is_whole else None,
        "declared_at": iso(one.time),
        "declared_by": one.producer,
    }


def evaluation_document(found: Evaluation, as_of: int | None, limit: int | None = None) -> PolicyEvaluation:
    """An evaluation at a time (µs; None: now) with its first `limit` findings, or all."""
    return {
        "as_of": None if as_of is None else iso(as_of),
        "outcome": found.outcome.value,
        "blocks": found.blocks,
        "counts": {outcome.value: count for outcome, count in found.counts.items()},
        "hidden": found.hidden,
        "complete": found.complete,
        "idle": list(found.idle),
        "total": len(found.findings),
        "findings": [_finding(one) for one in found.findings[:limit]],
    }


def _finding(one: Finding) -> PolicyFinding:
    return {
        "policy": one.policy.name,
        "node": str(one.node),
        "outcome": one.outcome.value,
        "blocks": one.blocks,
        "reason": one.policy.reason,
        "owner": one.policy.owner,
        "unknown": one.unknown or None,
        "path": [str(node) for node in one.path],
        "place": one.policy.place,
    }
