"""The lineage of one command: the columns of its target, and what chose the rows that were written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence_client.lineage.columns import IDENTITY, Column, Dataset, Edge, Source
from whence_client.lineage.rows import NO_ROWS, Rows
from whence_client.spark.plan.attributes import Attribute, Relation, attributes_of
from whence_client.spark.plan.relations import Context, read_relation
from whence_client.spark.plan.row_changes import ROW_CHANGES
from whence_client.spark.plan.trees import Tree, kind, nodes_of, subtrees, trees_in, variable_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Lineage:
    """`columns` by name, in the order of the target; `influences` on all rows of it."""

    columns: Mapping[str, Column]
    influences: Rows = NO_ROWS


def read_lineage(plan: Tree, names: Sequence[str], context: Context) -> Lineage:
    """The lineage of a plan whose output is written into columns of these names; into its own names if there are none.

    Plans of MERGE, UPDATE and DELETE are read by their actions instead.
    """
    if change := ROW_CHANGES.get(kind(plan[0])):
        columns, rows = change(plan, context)
        return Lineage({name: rows.doubt(column) for name, column in columns.items()}, rows)
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
            columns[attribute.name] = relation.influences.doubt(replace(column, direct=direct))
    return Lineage(columns, relation.influences)


def known_columns(plan: Tree, context: Context) -> dict[int, Column]:
    """The columns of a plan by expression id: what a checkpoint or a stream's batch refers to later."""
    relation = read_relation(plan, context)
    return {one.id: relation.influences.decide(column) for one, column in zip(relation.output, relation.values)}


def copied_columns(plan: Tree, rdds: Mapping[int, int], known: Mapping[int, Column]) -> dict[int, Column]:
    """The columns of copies of a checkpoint: a frame that is joined with itself has new ids on one side."""
    if not rdds:
        return {}
    places: dict[int, list[tuple[Attribute, ...]]] = {}
    for node in nodes_of(plan):
        output = attributes_of(node.get("output")) if not node["num-children"] else ()
        if output and output[0].id in rdds:
            places.setdefault(rdds[output[0].id], []).append(output)
    copied: dict[int, Column] = {}
    for outputs in places.values():
        original = next((one for one in outputs if one[0].id in known), ())
        for one, source in (pair for output in outputs for pair in zip(output, original)):
            if one.id not in known and source.id in known:
                copied[one.id] = known[source.id]
    return copied


def set_variables(plan: Tree, context: Context) -> dict[str, Column]:
    """What a SET VARIABLE sets, by name."""
    relation = read_relation(subtrees(plan)[0], context)
    names = [variable_name(tree[0]) for tree in trees_in(plan[0]["targetVariables"])]
    return {name: relation.influences.decide(column) for name, column in zip(names, relation.values)}


def _named(relation: Relation, names: Sequence[str]) -> Iterator[tuple[str, Column]]:
    for index, attribute in enumerate(relation.output):
        name = names[index] if index < len(names) else attribute.name
        yield name, relation.influences.doubt(relation.column(index))
