"""The gate's port to production, over the questions that a server and a store answer alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.cli.answers.ask import Questions
from whence.client.answers.graph import Lineage
from whence.client.values.catalog import NodeFacts
from whence.client.values.graph import Edge
from whence.errors import NodeNotFoundError
from whence.govern.gate.impact import Facts, subject_of
from whence.govern.gate.production import GraphEdge, GraphGap, Subgraph
from whence.model.names import DatasetName, JobName, Node, parse_node
from whence.openlineage.json.times import parse_micros

_NO_BUDGET = (None, "depth", "columns")
"""What stops a search beside budgets: columns that nobody reports are gaps, and gaps are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedProduction:
    """Asks a server or a store (`govern.gate.production.Production`)."""

    questions: Questions
    max_nodes: int = 5_000

    def downstream(self, node: Node) -> Subgraph | None:
        """What is downstream of a node; None if no event has mentioned it. Raises ApiError, StoreError, AccessError."""
        try:
            found = self.questions.downstream(str(node), max_nodes=self.max_nodes, max_edges=self.max_nodes * 10)
        except NodeNotFoundError:
            return None
        return _subgraph(node, found)

    def facts(self, nodes: Sequence[DatasetName | JobName]) -> Mapping[Node, Facts]:
        """What is asserted of datasets and jobs."""
        return facts_of(self.questions, nodes)


def facts_of(questions: Questions, nodes: Sequence[DatasetName | JobName]) -> Mapping[Node, Facts]:
    """What is asserted of datasets and jobs; those that nobody mentioned are left out."""
    found = ((parse_node(one.node), one) for one in questions.facts([str(one) for one in nodes]))
    return {node: _facts(one) for node, one in found if node is not None}


def _subgraph(start: Node, found: Lineage) -> Subgraph:
    """Without the jobs that only check data: these are tests of what they read, no consumers."""
    stopped_by = found.completeness.stopped_by
    checks = {one.node for one in found.nodes if one.role == "check"}
    return Subgraph(
        edges=tuple(edge for one in found.edges if one.target not in checks for edge in _graph_edges(one)),
        gaps=tuple(_gaps(found)),
        aliases=tuple(dict.fromkeys(aliases_of(start, found))),
        stopped_by="" if stopped_by in _NO_BUDGET else str(stopped_by),
        graph_version=found.completeness.graph_version,
    )


def _graph_edges(edge: Edge) -> Iterator[GraphEdge]:
    """One for each type of transformation."""
    source, target, owner = map(parse_node, (edge.source, edge.target, edge.owner))
    if source is None or target is None or owner is None:
        return
    times = [time for one in edge.evidence for time in (one.last_seen.time, *(run.last_seen for run in one.runs))]
    last_seen = max((parse_micros(time)[0] for time in times if time), default=0)
    for type_ in dict.fromkeys(one.type for one in edge.transformations) or ("UNKNOWN",):
        yield GraphEdge(source=source, target=target, owner=owner, type=type_, last_seen=last_seen)


def _gaps(found: Lineage) -> Iterator[GraphGap]:
    for gap in found.gaps:
        at, owner = parse_node(gap.at), parse_node(gap.owner)
        targets = tuple(one for one in map(parse_node, gap.datasets) if isinstance(one, DatasetName))
        if at is not None and owner is not None:
            yield GraphGap(at=at, owner=owner, targets=targets)


def aliases_of(start: Node, found: Lineage) -> Iterator[tuple[DatasetName, DatasetName]]:
    """Other names of the datasets in an answer about `start`, each with the name that the answer gives it."""
    names = [(start, parse_node(found.root))]
    names += [(alias, node) for one in found.nodes for node in [parse_node(one.node)] for alias in _named(one.aliases)]
    for alias, node in names:
        if node is None or isinstance(alias, JobName) or isinstance(node, JobName):
            continue
        of_alias, of_node = subject_of(alias), subject_of(node)
        if isinstance(of_alias, DatasetName) and isinstance(of_node, DatasetName) and of_alias != of_node:
            yield of_alias, of_node


def _named(texts: Sequence[str]) -> Iterator[Node]:
    return (node for node in map(parse_node, texts) if node is not None)


def _facts(one: NodeFacts) -> Facts:
    return Facts(
        owners=tuple(dict.fromkeys(owner.name for owner in one.owners)),
        tier=one.tier,
        certified=_is_certified(one),
        contract=one.contract_version or "",
        types=one.types,
    )


def _is_certified(one: NodeFacts) -> bool:
    """Whether the rules certify it; without a rule, whether somebody vouches for it."""
    status = one.certification_status
    return "certified" in one.certification if status is None else status == "certified"
