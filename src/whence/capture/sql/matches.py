"""MATCH_RECOGNIZE (SQL:2016, row pattern recognition)."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.conditions import choose
from whence.capture.sql.expressions import flow_of
from whence.capture.sql.flows import FILTER, SORT, TRANSFORMATION, WINDOW, Flow
from whence.capture.sql.names import column_name
from whence.capture.sql.relations import Output, Relation
from whence.capture.sql.scopes import Scope, Source


def matched(scope: Scope, node: tree.Node, rows: Flow) -> Relation:
    """Partition columns and measures; with ALL ROWS PER MATCH the columns of the source too."""
    dialect = scope.reading.dialect
    inner = Scope(scope.reading, scope.outer)
    inner.sources, inner.row = list(scope.sources), scope.row
    source = scope.sources[0].relation
    for variable in _variables(node):
        inner.add(Source(column_name(dialect, variable), source), visible=False)
    inner.sources = [*scope.sources, *inner.sources[len(scope.sources) :]]
    for one in tree.listed(node, tree.DEFINE):
        choose(inner, tree.this(one), FILTER, rows)
    partition = tree.listed(node, tree.PARTITION_BY)
    for one in partition:
        choose(scope, one, WINDOW, rows)
    order = tree.arg(node, tree.ORDER)
    if order is not None:
        choose(scope, order, SORT, rows)
    measures = [_measure(inner, tree.this(one)) for one in tree.listed(node, tree.MEASURES)]
    every = "ALL ROWS" in tree.text_of(tree.arg(node, tree.ROWS) or "")[0].upper()
    keys = (
        scope.row if every else [Output(column_name(dialect, tree.this(one)), flow_of(scope, one)) for one in partition]
    )
    reads = frozenset().union(*(one.relation.reads for one in scope.sources))
    return Relation([*keys, *measures], rows, reads)


def _measure(scope: Scope, node: tree.Node) -> Output:
    """FIRST and LAST choose a row of the match, as FIRST_VALUE does: they do not aggregate."""
    name, value = column_name(scope.reading.dialect, tree.alias_of(node)), tree.this(node)
    if next(value.find_all(c.First, c.Last), None) is None:
        return Output(name, flow_of(scope, value), node=node)
    whole = c.Paren(this=value.copy())
    for one in list(whole.find_all(c.First, c.Last)):
        one.replace(c.Paren(this=tree.this(one)))
    return Output(name, flow_of(scope, whole, TRANSFORMATION), node=node)


def _variables(node: tree.Node) -> list[tree.Node]:
    """The variables of the pattern: those that are defined, and those that only qualify columns."""
    defined = [tree.alias_of(one) for one in tree.listed(node, tree.DEFINE)]
    used = [
        tree.arg(column, tree.TABLE)
        for one in [*tree.listed(node, tree.MEASURES), *tree.listed(node, tree.DEFINE)]
        for column in one.find_all(c.Column)
        if tree.arg(column, tree.TABLE) is not None
    ]
    return defined + used
