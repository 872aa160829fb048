"""Blast radius by brute force: the lineage answer of every node, read edge by edge, and its things counted in names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from query.worlds.brute_force import one_name
from query.worlds.random_worlds import World, nodes_of
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.values import Answer


@dataclass(frozen=True)
class Typed:
    """Which names say that they are a dashboard, or a model."""

    dashboards: frozenset[Node] = frozenset()
    models: frozenset[Node] = frozenset()


def counts(world: World, typed: Typed, answers: Mapping[Node, Answer]) -> dict[Node, dict[str, int]]:
    """Every node, under the one name of its aliases, and what is downstream of it, from `whence downstream` of all."""
    name = one_name(world)
    nodes = {name(node) for node in nodes_of(world)}
    fields = {node for node in nodes if isinstance(node, FieldName)}
    dashboards, models = ({name(node) for node in some} for some in (typed.dashboards, typed.models))
    fine = {field: _fields(answers[field], fields) - {field} for field in fields}
    found = {}
    for node in nodes:
        things = _things(answers[node]) - {node, getattr(node, "dataset", node)}
        found[node] = {
            "datasets": len(_of(DatasetName, things)),
            "fields": len(fine[node] if isinstance(node, FieldName) else _inside(node, answers[node], fields, fine)),
            "jobs": len(_of(JobName, things)),
            "dashboards": len(things & dashboards),
            "models": len(things & models),
        }
    return found


def _of(kind: type, things: Iterable[Node]) -> set[Node]:
    return {one for one in things if isinstance(one, kind)}


def _things(answer: Answer) -> set[Node]:
    """The datasets and jobs of an answer: those that are reached, whose fields are, and who says an edge."""
    reached = {getattr(node.name, "dataset", node.name) for node in answer.nodes}
    return reached | {edge.owner for edge in answer.edges if isinstance(edge.owner, JobName)}


def _fields(answer: Answer, fields: set[FieldName]) -> set[Node]:
    """The fields of an answer, and all fields of what is reached as a whole."""
    reached = {node.name for node in answer.nodes}
    return {field for field in fields if field in reached or field.dataset in reached}


def _inside(node: Node, answer: Answer, fields: set[FieldName], fine: Mapping[FieldName, set[Node]]) -> set[Node]:
    """A dataset: what is downstream of its fields, without them. A job: the fields of all that it writes, and those."""
    if isinstance(node, DatasetName):
        own = {field for field in fields if field.dataset == node}
        return {one for field in own for one in fine[field]} - own
    written = {edge.target for edge in answer.edges if edge.source == node}
    own = {field for field in fields if field.dataset in written}
    return own | {one for field in own for one in fine[field]}
