"""PIVOT as grouping: each pivoted column is an aggregate of the rows with its literal.

DuckDB and Spark give a row for each group, also where no row has one of the literals. There `sum`, `avg`, `min` and
`max` are NULL, and DuckDB's `count` is 0, as with FILTER; Spark's is NULL. DuckDB compares texts, whatever the type of
the column is, so that only texts are compared alike.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.block import Block
from whence.capture.sql.fingerprint.blocks import copy_block
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import make_filtered
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.stages import Rows
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.provenance.relations import STAR, Output, Relation
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.meaning import RelationMeanings

_NULL_WITHOUT_ROWS: Final = frozenset({"sum", "avg", "min", "max"})
_AGGREGATES: Final[Mapping[str, frozenset[str]]] = {
    "duckdb": _NULL_WITHOUT_ROWS | {"count"},
    "spark": _NULL_WITHOUT_ROWS,
    "databricks": _NULL_WITHOUT_ROWS,
}
"""The aggregates whose value without rows is known, by dialect."""


def pivot_groups(
    meanings: "RelationMeanings", scope: Scope, pivot: tree.Node, before: Relation, block: Block, after: Relation
) -> tuple[Block, list[Formula]] | None:
    """The grouped rows and the columns of a PIVOT; None for one that is compared as text.

    `scope`: what the expressions of the clause may read, which is `before`, the rows of `block`. `after`: what PIVOT
    gives.
    """
    wanted, aggregates = _literals(pivot), _aggregates(pivot)
    width = len(after.outputs) - len(wanted) * len(aggregates)
    if not wanted or not aggregates or width < 1 or any(one.name == STAR for one in after.outputs):
        return None
    keys = _keys(meanings, scope, pivot, before, after.outputs[:width])
    chooser = meanings.expressions.value(scope, tree.this(_field(pivot)))
    literals = [meanings.expressions.value(scope, one) for one in wanted]
    values = [meanings.expressions.value(scope, _inside(one)) for one in aggregates]
    known = _AGGREGATES.get(scope.reading.dialect.name, frozenset())
    is_known = all(one.op == "aggregate" and one.args[0] in known and not one.is_volatile for one in values)
    if not is_known or len(keys) != width or type_of(chooser) != "text" or any(one.op != "string" for one in literals):
        return None
    return _grouped(meanings, block, keys, [(chooser, one) for one in literals], values)


def _keys(
    meanings: "RelationMeanings", scope: Scope, pivot: tree.Node, before: Relation, outputs: Sequence[Output]
) -> list[Formula]:
    """What PIVOT groups by."""
    group = tree.arg(pivot, tree.GROUP)
    if group is not None:
        return [meanings.expressions.value(scope, item) for item in tree.items(group)]
    found = (before.find(one.name) for one in outputs)
    return [meanings.formula(one) for one in found if one is not None]


def _grouped(
    meanings: "RelationMeanings",
    block: Block,
    keys: Sequence[Formula],
    pairs: Sequence[tuple[Formula, Formula]],
    aggregates: Sequence[Formula],
) -> tuple[Block, list[Formula]]:
    store = meanings.store
    found = [make_filtered(store, one, compare(store, "eq", *pair)) for pair in pairs for one in aggregates]
    own, copied = copy_block(store, block, [*keys, *found])
    rows = Rows(store, own, {"keys": copied[: len(keys)], "values": copied})
    rows.group(lambda inside, lists: store.make("group", inside, store.make("set", *lists["keys"])), rows.lists["keys"])
    return rows.block, rows.lists["values"]


def _aggregates(pivot: tree.Node) -> list[tree.Node]:
    return tree.list_arg(pivot, tree.USING) or (tree.items(pivot) if tree.list_arg(pivot, tree.FIELDS) else [])


def _field(pivot: tree.Node) -> tree.Node:
    """The `column IN (…)`."""
    first: tree.Node = (tree.list_arg(pivot, tree.FIELDS) or tree.items(pivot))[0]
    return first


def _literals(pivot: tree.Node) -> list[tree.Node]:
    """The literals of a PIVOT by one column; none if it is another one."""
    fields = tree.list_arg(pivot, tree.FIELDS) or tree.items(pivot)
    if tree.arg(pivot, tree.UNPIVOT) or len(fields) != 1 or not isinstance(fields[0], c.In):
        return []
    found = [_inside(one) for one in tree.items(fields[0])]
    return found if all(isinstance(one, c.Literal) for one in found) else []


def _inside(node: tree.Node) -> tree.Node:
    """An expression without its alias."""
    inside: tree.Node = tree.this(node) if isinstance(node, c.Alias | c.PivotAlias) else node
    return inside
