"""`whence gate model` and `whence gate job`: what a node is made of, asked of a server or a store, and the verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.gate.contracts.upstream import find_contract_violations
from whence.cli.gate.forms import exit_of
from whence.cli.gate.heads import RULES_FILES
from whence.cli.gate.production import facts_of
from whence.cli.gate.records import record_promotion
from whence.cli.output.streams import Exit, Output, print_document, print_lines
from whence.client.answers.graph import Lineage
from whence.errors import AccessError, ArtifactError, NodeNotFoundError
from whence.govern.gate.impact import NO_FACTS, is_hidden
from whence.govern.gate.policy import Rules
from whence.govern.gate.policy_file import read_rules
from whence.govern.gate.promotion import Finding, OpenViolation, Promotion, UpstreamClosure, judge_promotion
from whence.govern.gate.rendering.names import HIDDEN_NAME, name_of, printable
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node

MOST_WALKS = 1_000
"""Questions about columns for one verdict."""
_MAX_NODES = 20_000
_NO_BUDGET = (None, "depth", "columns")
_SHOWN = 10


def show_promotion(
    questions: Questions, name: str, kind: type[Node], rules: Rules, output: Output, *, record: bool = False
) -> Exit:
    """Judge a node, print the verdict, and record it if wanted. Raises typer.BadParameter for a node of another kind,
    ArtifactError for a record without a server.
    """
    found = judge_promotion(closure_of(questions, name, kind), rules)
    if record:
        record_promotion(questions, promotion_document(found))
    if output is Output.JSON:
        print_document(promotion_document(found))
    else:
        print_lines(Text(one) for one in text_lines(found))
    return exit_of(found.verdict)


def rules_here(path: Path | None, *, certified_inputs: bool) -> Rules:
    """The rules of a file, by default of the first of `RULES_FILES` below the current directory, else the defaults.

    Raises ArtifactError, RulesFileError.
    """
    found = path or next((one for one in map(Path, RULES_FILES) if one.is_file()), None)
    try:
        text = found.read_text("utf-8") if found else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(str(found), f"it cannot be read: {error}") from None
    rules = read_rules(text, str(found or ""))
    return replace(rules, promotion_certified_inputs=rules.promotion_certified_inputs or certified_inputs)


def closure_of(questions: Questions, name: str, kind: type[Node]) -> UpstreamClosure:
    """All that a node is made of. Raises NodeNotFoundError, AmbiguousNodeError, and what `questions` raises."""
    whole = questions.upstream(name, max_nodes=_MAX_NODES, max_edges=_MAX_NODES * 10)
    subject = parse_node(whole.root)
    if not isinstance(subject, kind) or isinstance(subject, FieldName):
        raise typer.BadParameter(f"{whole.root} is no {'job' if kind is JobName else 'dataset'}")
    outputs, orphans = _outputs(questions, subject, whole)
    inputs = _sources_of(whole, subject)
    columns = _Columns(questions)
    columns.walk([*_fields(questions, outputs)] or [*_fields(questions, inputs)])
    datasets = [one for one in map(parse_node, _names(whole)) if isinstance(one, DatasetName)]
    violations, unseen = _violations(questions, [*datasets, *outputs])
    violations += tuple(find_contract_violations(questions, [*datasets, *outputs]))
    facts = facts_of(questions, inputs)
    return UpstreamClosure(
        subject=subject,
        outputs=outputs,
        orphans=orphans,
        inputs=tuple((one, facts.get(one, NO_FACTS)) for one in inputs),
        explained=frozenset(columns.explained - columns.unexplained),
        unexplained=frozenset(columns.unexplained),
        violations=violations,
        incomplete=tuple(dict.fromkeys((*_cuts(whole), *columns.cuts, *unseen))),
        graph_version=whole.completeness.graph_version,
    )


def _outputs(
    questions: Questions, subject: DatasetName | JobName, whole: Lineage
) -> tuple[tuple[DatasetName, ...], tuple[DatasetName, ...]]:
    """What is promoted, and what of that has no input."""
    if isinstance(subject, DatasetName):
        return (subject,), () if _sources_of(whole, subject) else (subject,)
    edges = questions.downstream(str(subject), depth=1).edges
    targets = dict.fromkeys(parse_node(one.target) for one in edges if one.source == str(subject))
    outputs = tuple(one for one in targets if isinstance(one, DatasetName) and not is_hidden(one))
    walks = ((one, questions.upstream(str(one), depth=1)) for one in outputs)
    return outputs, tuple(one for one, found in walks if not _sources_of(found, one))


def _sources_of(found: Lineage, node: Node) -> tuple[DatasetName, ...]:
    """The datasets at the first hop, hidden ones among them."""
    sources = (parse_node(one.source) for one in found.edges if one.target == str(node))
    return tuple(dict.fromkeys(one for one in sources if isinstance(one, DatasetName)))


def _names(found: Lineage) -> Iterator[str]:
    for one in found.nodes:
        yield one.node
        yield from one.aliases


def _fields(questions: Questions, datasets: Sequence[DatasetName]) -> Iterator[FieldName]:
    for dataset in datasets:
        if not is_hidden(dataset):
            try:
                yield from (FieldName(dataset, name) for name in questions.fields(dataset.namespace, dataset.name))
            except NodeNotFoundError:
                continue


@dataclass(slots=True)
class _Columns:
    """The columns upstream, found by walks from columns that no walk has come to."""

    questions: Questions
    explained: set[FieldName] = field(default_factory=set)
    unexplained: set[FieldName] = field(default_factory=set)
    cuts: list[str] = field(default_factory=list)

    def walk(self, starts: Sequence[FieldName]) -> None:
        seen: set[Node] = set()
        walks = 0
        for start in starts:
            if start in seen:
                continue
            if walks == MOST_WALKS:
                self.cuts.append(f"more than {MOST_WALKS:,} columns would have to be asked for")
                return
            walks += 1
            try:
                found = self.questions.upstream(str(start), max_nodes=_MAX_NODES, max_edges=_MAX_NODES * 10)
            except NodeNotFoundError:
                continue
            seen |= {start, *(node for one in found.nodes for node in [parse_node(one.node)] if node)}
            self._take(found)

    def _take(self, found: Lineage) -> None:
        self.cuts += _cuts(found)
        self.explained |= {node for one in found.edges if isinstance(node := parse_node(one.target), FieldName)}
        self.unexplained |= {node for one in found.gaps if isinstance(node := parse_node(one.at), FieldName)}


def _cuts(found: Lineage) -> Iterator[str]:
    """Why there may be more upstream than an answer has."""
    completeness = found.completeness
    if completeness.stopped_by not in _NO_BUDGET:
        yield f"a budget of {completeness.stopped_by} stopped the search"
    if completeness.hidden_nodes:
        yield "upstream nodes are hidden from this key"


def _violations(
    questions: Questions, datasets: Sequence[DatasetName]
) -> tuple[tuple[OpenViolation, ...], tuple[str, ...]]:
    shown = dict.fromkeys(str(one) for one in datasets if not is_hidden(one))
    try:
        known = questions.checks([*shown])
    except AccessError:
        return (), ("checks need a key that may read all namespaces",)
    found = [
        OpenViolation(dataset=dataset, column=check.column, assertion=check.assertion, job=one.job)
        for one in known
        for dataset in [parse_node(one.dataset)]
        for check in one.checks
        if isinstance(dataset, DatasetName) and not check.held and check.severity != "warn"
    ]
    return tuple(found), ()


def text_lines(found: Promotion) -> Iterator[str]:
    """The verdict as text: one line for each criterion that is not met, and the nodes that it is about."""
    closure = found.closure
    coverage = "unknown" if closure.coverage is None else f"{closure.coverage:.1%}"
    yield f"{found.verdict.text}: {printable(name_of(closure.subject))}, coverage of columns upstream {coverage}"
    for one in found.findings:
        yield f"  {one.verdict.text}  {one.criterion}: {printable(one.text)}"
        yield from _node_lines(one)


def _node_lines(finding: Finding) -> Iterator[str]:
    yield from (f"    {printable(name_of(node))}" for node in finding.nodes[:_SHOWN])
    if len(finding.nodes) > _SHOWN:
        yield f"    and {len(finding.nodes) - _SHOWN:,} more"


def promotion_document(found: Promotion) -> dict[str, Any]:
    """The verdict as a JSON document (docs/reference/gate.md)."""
    closure = found.closure
    return {
        "verdict": found.verdict.text,
        "node": str(closure.subject),
        "outputs": [str(one) for one in closure.outputs],
        "inputs": [HIDDEN_NAME if is_hidden(one) else str(one) for one, _ in closure.inputs],
        "coverage": closure.coverage,
        "explained_columns": len(closure.explained),
        "unexplained_columns": len(closure.unexplained),
        "findings": [
            {
                "criterion": one.criterion,
                "text": one.text,
                "verdict": one.verdict.text,
                "nodes": [HIDDEN_NAME if is_hidden(node) else str(node) for node in one.nodes],
            }
            for one in found.findings
        ],
        "graph_version": closure.graph_version,
    }
