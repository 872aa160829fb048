"""The policies of a repository, judged on what its head would make of the lineage."""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.cli.answers.ask import Questions
from whence.cli.gate.heads import Change, policies_at_base
from whence.client.values import sensitivity as values
from whence.govern.gate.policy import Rules
from whence.govern.gate.policy_findings import PolicyCase, PolicyFinding, cases_of_findings
from whence.govern.policies.policy import Outcome
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.proposal import NOTHING, Proposal
from whence.model.changes import ColumnChange
from whence.model.lineage import Edge
from whence.model.names import parse_node


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPolicies:
    """The policies that would no longer hold, and what is to be said beside."""

    cases: tuple[PolicyCase, ...] = ()
    notices: tuple[str, ...] = ()


def judge_policies(
    change: Change,
    proposal: Proposal,
    changes: tuple[ColumnChange, ...],
    questions: Questions,
    rules: Rules,
    path: str = "",
) -> JudgedPolicies:
    """Judge a head by the policies of its base, and by the declared ones. Nothing is asked if no lineage changes.

    Raises RulesFileError, and what `questions` raises.
    """
    stated = policies_at_base(change, path)
    if stated.text:
        read_policies(stated.text, stated.place)
    if proposal == NOTHING:
        return JudgedPolicies(notices=stated.notices)
    found = questions.evaluate_policies(stated.text, file=stated.place, declared=True, proposal=_document(proposal))
    cases = cases_of_findings(_findings(found), changes, rules)
    return JudgedPolicies(cases=tuple(cases), notices=(*stated.notices, *_notices(found)))


def _document(proposal: Proposal) -> values.Proposal:
    return values.Proposal(
        gone=tuple(sorted((str(source), str(target)) for source, target in proposal.gone)),
        edges=tuple(map(_edge, proposal.edges)),
    )


def _edge(one: Edge) -> values.ProposedEdge:
    return values.ProposedEdge(
        source=str(one.source),
        target=str(one.target),
        type=one.type,
        subtype=one.subtype,
        masking=one.masking,
        description=one.description,
    )


def _findings(found: values.PolicyEvaluation) -> Iterator[PolicyFinding]:
    for one in found.findings:
        node = parse_node(one.node)
        if node is not None:
            yield PolicyFinding(
                policy=one.policy,
                reason=one.reason,
                owner=one.owner,
                node=node,
                is_violated=one.outcome == Outcome.VIOLATED,
                blocks=one.blocks,
                path=tuple(step for step in map(parse_node, one.path) if step is not None),
                unknown=one.unknown or "",
                place=one.place,
            )


def _notices(found: values.PolicyEvaluation) -> Iterator[str]:
    if not found.complete:
        yield "policies: not all lineage of production was read"
    if found.total > len(found.findings):
        yield f"policies: {found.total - len(found.findings):,} more findings"
