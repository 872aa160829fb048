"""Whatever the graph, the policy and the change: no form of a verdict has a name that the gate's key may not see."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack, cast

import msgspec
import pytest

from query.worlds.memory_graph import memory_graph
from query.worlds.random_policies import forbidden, policy, shown, world
from query.worlds.random_worlds import nodes_of
from whence.cli.answers.ask import Questions
from whence.cli.answers.local.options import answer_of, question_of
from whence.cli.gate.forms import Form
from whence.cli.gate.production import QueriedProduction
from whence.cli.gate.verdict import Judged, written
from whence.client.answers.graph import Lineage
from whence.client.options import Walk
from whence.client.values.catalog import NodeFacts, Owner
from whence.client.values.quality import CheckedDataset
from whence.govern.gate.impact import Facts
from whence.govern.gate.judge import judge
from whence.govern.gate.judgement import Head
from whence.govern.gate.policy import DEFAULT_RULES
from whence.govern.gate.production import GraphEdge, Production, Subgraph
from whence.govern.gate.project import Project
from whence.govern.gate.rendering.documents import judgement_document
from whence.govern.gate.rendering.summary import summarize
from whence.govern.gate.walk import assess
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.gate_records import VerdictRecord
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.query.lookup.resolve import resolve
from whence.query.questions.lineage import reach_downstream
from whence.query.rendering.listings import lineage_listing
from whence.query.visibility.gate_records import nodes_of as nodes_of_verdict
from whence.query.visibility.gate_records import visible_verdict, write_record
from whence.query.visibility.graph import seen_by
from whence.query.visibility.pseudonyms import Pseudonyms
from whence.query.visibility.visible_ids import QuestionGraph, VisibleIds

TRIPLES, LONG = 400, 10_000
CHANGES = 20
"""Of one graph and one policy."""
BORROWED = 175
"""A seed with a column that a dataset has under a hidden name alone, of which a record named it once."""
SECRET = b"of this installation"


@dataclass(frozen=True)
class Viewed:
    """The questions of the gate, over a graph as one viewer may see it."""

    graph: QuestionGraph

    def downstream(self, node: str, **walk: Unpack[Walk]) -> Lineage:
        reached = reach_downstream(self.graph, resolve(self.graph, node), question_of(walk))
        return answer_of(lineage_listing(reached), Lineage)

    def checks(self, datasets: Sequence[str]) -> tuple[CheckedDataset, ...]:
        return ()

    def facts(self, nodes: Sequence[str]) -> tuple[NodeFacts, ...]:
        return tuple(
            NodeFacts(node=node, types=(), owners=(Owner(name="x", role=""),), certification=("certified",), tier=1)
            for node in nodes
            if isinstance(parse_node(node), DatasetName | JobName)
        )


@dataclass(frozen=True)
class Remembered:
    """Production whose graph does not change: it answers a question once, for all changes that are judged by it."""

    production: QueriedProduction
    answers: dict[Node, Subgraph | None] = field(default_factory=dict)

    def downstream(self, node: Node) -> Subgraph | None:
        if node not in self.answers:
            self.answers[node] = self.production.downstream(node)
        return self.answers[node]

    def facts(self, nodes: Sequence[DatasetName | JobName]) -> Mapping[Node, Facts]:
        return self.production.facts(nodes)


def _remembered(graph: QuestionGraph) -> Production:
    return Remembered(QueriedProduction(questions=cast(Questions, Viewed(graph))))


def test_no_form_of_a_verdict_has_a_forbidden_name(pytestconfig: pytest.Config) -> None:
    triples, hidden, named = LONG if pytestconfig.getoption("--long") else TRIPLES, 0, 0
    for seed in (*range(triples // CHANGES), BORROWED):
        dice = random.Random(f"gate {seed}")
        one = world(dice)
        rule = policy(dice, one)
        whole = memory_graph(one)
        graph = seen_by(rule.viewer, SECRET, whole)
        production, everything = _remembered(graph), _remembered(whole)
        nodes = [node for node in sorted(nodes_of(one), key=str) if not isinstance(node, JobName)]
        visible = [node for node in nodes if shown(one, rule, node) == node]
        secrets = forbidden(one, rule) - {"none"}
        for _ in range(CHANGES if visible else 0):
            judged = _judged(dice, production, visible)
            comment = "".join(written(judged, form) for form in Form)
            assert [text for text in secrets if text in comment] == []
            reader = VisibleIds(whole, Pseudonyms.of(rule.viewer, SECRET))
            record = _record(_judged(dice, everything, nodes), reader)
            assert [text for text in secrets if text in record] == []
            hidden += judged.summary.hidden
            named += len(judged.summary.hits)
    assert min(hidden, named) > triples / 10


def _record(judged: Judged, visible_ids: VisibleIds) -> str:
    """The record of a gate that sees everything, as the viewer reads it."""
    document = judgement_document(judged.judgement, judged.summary)
    verdict = msgspec.convert(document, VerdictRecord)
    return write_record(visible_verdict(verdict, visible_ids.find_visible(nodes_of_verdict(verdict))))


def _judged(dice: random.Random, production: Production, visible: Sequence[Node]) -> Judged:
    changes = [_change(dice, dice.choice(visible)) for _ in range(dice.randint(1, 3))]
    ends = [(dice.choice(visible), dice.choice(visible)) for _ in range(dice.randint(0, 3))]
    code = tuple(GraphEdge(source=a, target=b, owner=JobName("code", "model")) for a, b in ends)
    assessment = assess(changes, production, Project(base=code[:1], head=code[1:]))
    judgement = judge(assessment, DEFAULT_RULES, Head(commit="f00d"), now=dice.choice((0, 10**15)))
    summary = summarize(judgement, assessment.facts)
    return Judged(judgement=judgement, summary=summary, assessment=assessment, rules=DEFAULT_RULES)


def _change(dice: random.Random, node: Node) -> ColumnChange:
    kind = dice.choice([one for one in ChangeKind if not one.is_harmless])
    column = node.field if isinstance(node, FieldName) else None
    dataset = node.dataset if isinstance(node, FieldName) else node
    assert isinstance(dataset, DatasetName)
    change = ColumnChange(dataset=dataset, column=column, kind=kind, file="models/a.sql", line=1)
    if kind is ChangeKind.RENAMED:  # these are names of columns
        return replace(change, before=column or "", after=column or "")
    return replace(change, before=str(node), after=f"{node} * 2", reason=f"{node} changes")
