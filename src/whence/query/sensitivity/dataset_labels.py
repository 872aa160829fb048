"""The labels of some datasets and of their columns, out of those of the whole estate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whence.model.sensitivity import Grade
from whence.query.ports.graph import Graph
from whence.query.sensitivity.estate_labels import EstateLabels
from whence.query.traversal.representatives import Representatives


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLabel:
    """The label of a column, or of the dataset itself (`column` is empty): the highest of its columns.

    `possible`: the grade that it may have because of what is not known; a node may have that without any label.
    """

    column: str
    category: str
    grade: Grade
    proven: Grade
    possible: Grade


def labels_of_datasets(
    graph: Graph, labels: EstateLabels, datasets: Iterable[int], category: str
) -> Mapping[int, list[NodeLabel]]:
    """The labels of a category, by dataset; that of the dataset first, then by column."""
    rows = [(one, one, "") for one in datasets]
    rows += [(row.dataset_id, row.id, row.name) for row in graph.fields([one for one, _, _ in rows])]
    hidden = graph.hidden([id_ for _, id_, _ in rows])
    identity = Representatives(graph)
    identity.learn([(id_, dataset) for dataset, id_, _ in rows])
    places = labels.places(identity.canonical(id_) for _, id_, _ in rows).tolist()
    found: dict[int, list[NodeLabel]] = {}
    of = labels.at_most(category), labels.proven(category), labels.possible(category)
    for (dataset, id_, name), place in sorted(zip(rows, places, strict=True), key=lambda one: one[0][2]):
        if place >= 0 and id_ not in hidden and of[2][place]:
            grade, proven, possible = (Grade(int(grades[place])) for grades in of)
            label = NodeLabel(column=name, category=category, grade=grade, proven=proven, possible=possible)
            found.setdefault(dataset, []).append(label)
    return found
