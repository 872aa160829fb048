"""What policies say of a head, for the gate: nodes of which one would no longer hold, as changes with reasons."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whence.govern.gate.impact import is_hidden
from whence.govern.gate.judgement import Reason
from whence.govern.gate.policy import Rules, Verdict
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import dataset_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFinding:
    """A node of which a policy would not hold, or may not (`unknown` says why). `path`: the path that shows it.

    `blocks`: it is violated, or not evaluated on a path to a certified dataset. `place`: where the policy is written.
    """

    policy: str
    reason: str
    owner: str
    node: Node
    is_violated: bool
    blocks: bool
    path: tuple[Node, ...] = ()
    unknown: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCase:
    """A finding as a change, and why it has its verdict."""

    change: ColumnChange
    reasons: tuple[Reason, ...]


def cases_of_findings(
    findings: Iterable[PolicyFinding], changes: Iterable[ColumnChange], rules: Rules
) -> Iterator[PolicyCase]:
    """Each finding at the place of the code that makes it, if a change of its column or dataset is known; else at that
    of its policy.
    """
    places: dict[Node, tuple[str, int]] = {}
    for one in changes:
        for node in (_subject(one), one.dataset):
            places.setdefault(node, (one.file, one.line))
    for finding in findings:
        dataset = dataset_of(finding.node)
        if dataset is not None:
            place = places.get(finding.node) or places.get(dataset) or _place(finding.place)
            yield PolicyCase(change=_change(finding, dataset, place), reasons=(_reason(finding, rules),))


def _change(finding: PolicyFinding, dataset: DatasetName, place: tuple[str, int]) -> ColumnChange:
    path = " → ".join(map(_shown, finding.path))
    parts = (path, finding.unknown, f"{finding.reason}; ask {finding.owner}")
    return ColumnChange(
        dataset=dataset,
        column=finding.node.field if isinstance(finding.node, FieldName) else None,
        kind=ChangeKind.POLICY,
        after=finding.policy,
        reason=": ".join(filter(None, parts)),
        file=place[0],
        line=place[1],
    )


def _reason(finding: PolicyFinding, rules: Rules) -> Reason:
    """The owner of a policy is who approves, where `on_policy` asks for an approval."""
    verdict = rules.on_policy.verdict if finding.blocks else Verdict.NOTE
    text = "a policy is violated" if finding.is_violated else "a policy is not evaluated"
    return Reason("policy", text, verdict, finding.path or (finding.node,), (finding.owner,))


def _shown(node: Node) -> str:
    match node:
        case _ if is_hidden(node):
            return "a hidden node"
        case FieldName(dataset, field):
            return f"{dataset.name}.{field}"
        case _:
            return node.name


def _subject(change: ColumnChange) -> Node:
    return change.dataset if change.column is None else FieldName(change.dataset, change.column)


def _place(text: str) -> tuple[str, int]:
    file, _, line = text.rpartition(":")
    return (file, int(line)) if line.isdecimal() else (text, 0)
