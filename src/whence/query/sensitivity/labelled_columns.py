"""The columns that have a sensitivity label, by name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence.model.names import FieldName
from whence.model.sensitivity import Grade
from whence.query.ports.graph import Graph
from whence.query.sensitivity.estate_labels import EstateLabels
from whence.query.sensitivity.marks import CATEGORIES


@dataclass(frozen=True, slots=True)
class LabelledColumn:
    """A column, and the highest grade of its labels."""

    name: FieldName
    grade: Grade


def labelled_columns(graph: Graph, labels: EstateLabels, at_least: Grade) -> Sequence[LabelledColumn]:
    """The columns with a label of at least this grade, in any category, by name."""
    highest = np.zeros(len(labels.ids), np.uint8)
    for category in CATEGORIES:
        np.maximum(highest, labels.at_most(category), out=highest)
    chosen = np.flatnonzero((highest >= at_least) & labels.is_column)
    grades = dict(zip(labels.ids[chosen].tolist(), highest[chosen].tolist(), strict=True))
    names = {**graph.nodes(grades), **{id_: labels.made_names[id_] for id_ in grades if id_ in labels.made_names}}
    columns = [LabelledColumn(name, Grade(grades[id_])) for id_, name in names.items() if isinstance(name, FieldName)]
    return sorted(columns, key=lambda one: one.name)
