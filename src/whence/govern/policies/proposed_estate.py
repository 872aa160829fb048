"""The lineage that a head's code would make, laid over production's: what a policy says before it is merged."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from whence.govern.policies.assembly import KnownGraph, make_estate
from whence.govern.policies.estate import Estate
from whence.govern.policies.evaluation import Evaluation, evaluate, merge_evaluations
from whence.govern.policies.policy import Finding, Outcome, Policy, PolicyFile
from whence.govern.policies.proposal import NOTHING, Proposal
from whence.govern.policies.reading import read_names, read_whole_graph
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.records.certification import CertificationText
from whence.model.sensitivity import Grade
from whence.model.traits import Traits
from whence.query.answers.transformations import Transformation
from whence.query.answers.values import dataset_of
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.sensitivity.disclosures import Way, way_between


def evaluate_graph(
    files: Sequence[PolicyFile],
    catalog: Catalog,
    graph: Graph,
    at: int | None = None,
    proposal: Proposal = NOTHING,
    certified: Mapping[DatasetName, CertificationText] | None = None,
    *,
    now: int,
) -> Evaluation:
    """What the policies of files say of all that a viewer may see, at a time (µs), None: `now`; or of a proposal, what
    is new.

    `certified`: what rules of certification say of datasets that have one.
    """
    stated = [one.at(now if at is None else at) for one in files]
    known = replace(read_whole_graph(catalog, graph, at), certified=certified or {})
    proposed = None if proposal == NOTHING else propose(known, proposal.renamed(read_names(graph, proposal.datasets)))
    return merge_evaluations([_evaluate_file(one, known, proposed) for one in stated])


def _evaluate_file(stated: PolicyFile, known: KnownGraph, proposed: KnownGraph | None) -> Evaluation:
    estate = make_estate(known, stated.categories, stated.functions)
    if proposed is None:
        return evaluate(stated.policies, estate)
    return evaluate_proposal(stated.policies, estate, make_estate(proposed, stated.categories, stated.functions))


def propose(known: KnownGraph, proposal: Proposal) -> KnownGraph:
    """A graph as it would be. Sources that are not in it, and that the proposal does not make, are `unknown`."""
    edges = [one for one in proposal.edges if not {JobName} & {type(end) for end in _ends(one)}]
    made = {dataset_of(one.target) for one in edges}
    columns = {end for one in edges for end in _ends(one) if isinstance(end, FieldName)}
    traits = {**{one: Traits() for one in made if isinstance(one, DatasetName)}, **known.traits}
    return replace(
        known,
        ways=(*(way for way in known.ways if (way.source, way.target) not in proposal.gone), *_ways(edges)),
        traits=traits,
        columns=known.columns | {one for one in columns if one.dataset in traits},
        inputs=(known.inputs - proposal.gone) | {pair for one in edges if (pair := _datasets_of(one))},
        unknown=frozenset(one for edge in edges if (one := dataset_of(edge.source)) and one not in traits),
    )


def evaluate_proposal(policies: tuple[Policy, ...], before: Estate, after: Estate) -> Evaluation:
    """What policies say of the estate after, and did not say before: violations, and what is not evaluated."""
    old = {(one.policy.name, one.node): one for one in evaluate(policies, before).findings}
    found = evaluate(policies, after)
    new = tuple(one for one in found.findings if _is_new(one, old.get((one.policy.name, one.node))))
    counts = Counter(dict.fromkeys(Outcome, 0)) + Counter(one.outcome for one in new)
    counts[Outcome.OK] = sum(found.counts.values()) - len(new)
    return replace(found, findings=new, counts={outcome: counts[outcome] for outcome in Outcome})


def _is_new(one: Finding, old: Finding | None) -> bool:
    return (
        old is None
        or (old.outcome, one.outcome) == (Outcome.NOT_EVALUATED, Outcome.VIOLATED)
        or one.blocks > old.blocks
    )


def _ways(edges: Iterable[Edge]) -> Iterable[Way]:
    """How much passes along edges between columns; and what datasets may pass on whose columns are not known."""
    of_pairs: dict[tuple[Node, Node], list[Transformation]] = {}
    explained = {_datasets_of(one) for one in edges if isinstance(one.source, FieldName)}
    for one in edges:
        if isinstance(one.source, FieldName):
            how = Transformation(type=one.type, subtype=one.subtype, masking=one.masking, description=one.description)
            of_pairs.setdefault((one.source, one.target), []).append(how)
    yield from (way_between(*pair, several) for pair, several in of_pairs.items())
    whole = {pair for one in edges if (pair := _datasets_of(one)) and one.type != "INDIRECT"} - explained
    yield from (Way(source, target, Grade.FULL, Grade.NONE) for source, target in whole)


def _ends(edge: Edge) -> tuple[Node, Node]:
    return edge.source, edge.target


def _datasets_of(edge: Edge) -> tuple[Node, Node] | None:
    """The two datasets of an edge, if they are two."""
    source, target = map(dataset_of, _ends(edge))
    return (source, target) if source and target and source != target else None
