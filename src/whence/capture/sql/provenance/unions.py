"""Relations merged as set operations do: by position or by name."""

from typing import Protocol, runtime_checkable

from whence.capture.sql.lineage import Table
from whence.capture.sql.provenance.flows import Flow, merge_flows
from whence.capture.sql.provenance.relations import STAR, Output, Relation, rename_outputs


@runtime_checkable
class _Expression(Protocol):
    """A node of the parser."""

    def unalias(self) -> object:
        """The expression without the name that it is given."""
        ...


def merge_rows_and_reads(left: Relation, right: Relation) -> tuple[Flow, frozenset[Table]]:
    """The influences on the rows of both sides, and the tables that both read."""
    return merge_flows(left.rows, right.rows), left.reads | right.reads


def merge_by_position(left: list[Output], right: list[Output]) -> list[Output]:
    """Merge the columns of two relations by position; by name if one has columns that are not known."""
    if len(left) != len(right) and any(output.name == STAR for output in left + right):
        return merge_by_name(left, right)
    merged = [
        Output(
            left_output.name,
            merge_flows(left_output.flow, right_output.flow),
            left_output.fields,
            left_output.hidden & right_output.hidden,
            node=_common_node(left_output, right_output),
        )
        for left_output, right_output in zip(left, right, strict=False)
    ]
    return merged + left[len(merged) :]


def _common_node(left: Output, right: Output) -> object:
    """The expression of both sides, if it is the same."""
    is_common = left.origin is right.origin is None and _expression(left.node) == _expression(right.node)
    return left.node if is_common else None


def _expression(node: object) -> object:
    return node.unalias() if isinstance(node, _Expression) else node


def merge_by_name(left: list[Output], right: list[Output]) -> list[Output]:
    """Merge the columns of two relations by name; those of the left side come first."""
    right_by_name = {output.name: output for output in right}
    left_names = {output.name for output in left}
    merged = [
        Output(output.name, merge_flows(output.flow, other.flow), node=_common_node(output, other))
        if (other := right_by_name.get(output.name)) is not None
        else output
        for output in left
    ]
    return merged + [output for output in right if output.name not in left_names]


def union_relations(relations: list[Relation], columns: list[str]) -> Relation:
    """The union of relations by position, with these names of columns."""
    if not relations:
        return Relation([Output(name, {}) for name in columns])
    result = relations[0]
    for other in relations[1:]:
        result = Relation(merge_by_position(result.outputs, other.outputs), *merge_rows_and_reads(result, other))
    return Relation(rename_outputs(result.outputs, columns), result.rows, result.reads)


def flow_weight(relation: Relation) -> int:
    """The number of steps in all flows of a relation: it grows until a recursive query is read."""
    flows = [relation.rows, *(output.flow for output in relation.outputs)]
    return sum(bits.bit_count() for flow in flows for bits in flow.values())
