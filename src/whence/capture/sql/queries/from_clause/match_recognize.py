"""MATCH_RECOGNIZE (SQL:2016, row pattern recognition)."""

from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.flows import FILTER, SORT, TRANSFORMATION, WINDOW, Flow
from whence.capture.sql.provenance.relations import Output, Relation
from whence.capture.sql.queries.conditions import add_condition
from whence.capture.sql.queries.expressions import flow_of
from whence.capture.sql.queries.scopes import Scope, Source
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def read_match_recognize(scope: Scope, node: tree.Node, rows: Flow) -> Relation:
    """Partition columns and measures; with ALL ROWS PER MATCH also the columns of the source."""
    dialect = scope.reading.dialect
    inner = Scope(scope.reading, scope.outer)
    inner.sources, inner.row = list(scope.sources), scope.row
    source = scope.sources[0].relation
    for variable in _variables(node):
        inner.add(Source(column_name(dialect, variable), source), visible=False)
    inner.sources = [*scope.sources, *inner.sources[len(scope.sources) :]]
    for key in tree.list_arg(node, tree.DEFINE):
        add_condition(inner, tree.this(key), FILTER, rows)
    partition = tree.list_arg(node, tree.PARTITION_BY)
    for key in partition:
        add_condition(scope, key, WINDOW, rows)
    order = tree.arg(node, tree.ORDER)
    if order is not None:
        add_condition(scope, order, SORT, rows)
    measures = [_measure(inner, tree.this(measure)) for measure in tree.list_arg(node, tree.MEASURES)]
    is_all_rows = "ALL ROWS" in tree.text_of(tree.arg(node, tree.ROWS) or "")[0].upper()
    keys = (
        scope.row
        if is_all_rows
        else [Output(column_name(dialect, tree.this(key)), flow_of(scope, key)) for key in partition]
    )
    reads = frozenset().union(*(candidate.relation.reads for candidate in scope.sources))
    return Relation([*keys, *measures], rows, reads)


def _measure(scope: Scope, node: tree.Node) -> Output:
    """One measure. FIRST and LAST select a row of the match, as FIRST_VALUE does: they do not aggregate."""
    name, value = column_name(scope.reading.dialect, tree.alias_of(node)), tree.this(node)
    if next(value.find_all(c.First, c.Last), None) is None:
        return Output(name, flow_of(scope, value), node=node)
    whole = c.Paren(this=value.copy())
    for child in list(whole.find_all(c.First, c.Last)):
        child.replace(c.Paren(this=tree.this(child)))
    return Output(name, flow_of(scope, whole, TRANSFORMATION), node=node)


def _variables(node: tree.Node) -> list[tree.Node]:
    """The variables of the pattern: those in DEFINE, and those that only qualify columns."""
    defined = [tree.alias_of(definition) for definition in tree.list_arg(node, tree.DEFINE)]
    used = [
        tree.arg(column, tree.TABLE)
        for measure in [*tree.list_arg(node, tree.MEASURES), *tree.list_arg(node, tree.DEFINE)]
        for column in measure.find_all(c.Column)
        if tree.arg(column, tree.TABLE) is not None
    ]
    return defined + used
