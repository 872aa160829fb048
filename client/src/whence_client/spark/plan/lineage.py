"""The lineage of one command: the columns of its target, and what chose the rows that were written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence_client.lineage.columns import IDENTITY, Column, Dataset, Edge, Edges, Source
from whence_client.spark.plan.attributes import Relation
from whence_client.spark.plan.relations import Context, read_relation
from whence_client.spark.plan.row_changes import ROW_CHANGES
from whence_client.spark.plan.trees import Tree, kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Lineage:
    """`columns` by name, in the order of the target; `influences` on all rows of it."""

    columns: Mapping[str, Column]
    influences: Edges = frozenset()


def read_lineage(plan: Tree, names: Sequence[str], context: Context) -> Lineage:
    """The lineage of a plan whose output is written into columns of these names; into its own names if there are none.

    Plans of MERGE, UPDATE and DELETE are read by their actions instead.
    """
    if change := ROW_CHANGES.get(kind(plan[0])):
        return Lineage(*change(plan, context))
    relation = read_relation(plan, context)
    return Lineage(dict(_named(relation, names)), relation.influences)


def read_row_changes(plan: Tree, names: Sequence[str], target: Dataset, context: Context) -> Lineage:
    """The lineage of a MERGE, UPDATE or DELETE that is rewritten into a plan over all rows of its target.

    Its output has columns of its own beside those of the target. An unchanged value has no edge.
    """
    relation = read_relation(plan, context)
    columns = {}
    for attribute, column in zip(relation.output, relation.values):
        direct = column.direct - {Edge(Source(target, attribute.name), IDENTITY)}
        if attribute.name in names and (direct or not column.direct):
            columns[attribute.name] = replace(column, direct=direct)
    return Lineage(columns, relation.influences)


def known_columns(plan: Tree, context: Context) -> dict[int, Column]:
    """The columns of a plan by expression id: what a checkpoint or a stream's batch refers to later."""
    relation = read_relation(plan, context)
    rows = relation.influences
    return {
        one.id: Column(column.direct, column.indirect | rows, column.reasons, column.fields, column.type)
        for one, column in zip(relation.output, relation.values)
    }


def _named(relation: Relation, names: Sequence[str]) -> Iterator[tuple[str, Column]]:
    for index, attribute in enumerate(relation.output):
        yield names[index] if index < len(names) else attribute.name, relation.column(index)
