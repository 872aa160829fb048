"""Functions that give rows: UNNEST, EXPLODE, FLATTEN, OPENJSON, JSON_TABLE, and any other."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.expressions import declared, flow_of, value_of
from whence.capture.sql.flows import TRANSFORMATION, Flow, joined, stepped
from whence.capture.sql.names import cased, column_name, table_of
from whence.capture.sql.relations import EMPTY, NAMELESS, STAR, Output, Relation, listed
from whence.capture.sql.scopes import Scope
from whence.capture.sql.tablereaders import read_source

_FLATTENED = ("seq", "key", "path", "index", "value", "this")
_NAMES = {
    "split_to_table": ("seq", "index", "value"),
    "json_each": ("key", "value"),
    "jsonb_each": ("key", "value"),
    "json_each_text": ("key", "value"),
    "jsonb_each_text": ("key", "value"),
    "string_split": ("value", "ordinal"),
    "strtok_split_to_table": ("seq", "index", "value"),
}
"""The columns of functions whose alias does not say them."""


_PASSING = ("view", "appends", "changes")
"""Functions that give the columns of their input: ClickHouse's view(), BigQuery's history of a table."""


def unnested(scope: Scope, node: tree.Node, around: tree.Node | None = None) -> Relation:
    """UNNEST(array, …) [WITH ORDINALITY | WITH OFFSET]; `around`: the LATERAL that has its alias."""
    dialect = scope.reading.dialect
    around = around if around is not None else node
    names = [column_name(dialect, one) for one in tree.alias_columns(around)]
    alias = tree.alias_of(around)
    if dialect.name == "bigquery" and not names and alias is not None:
        names = [column_name(dialect, alias)]
    outputs: list[Output] = []
    for array in tree.items(node):
        value = value_of(scope, array)
        flow = stepped(value.flow, TRANSFORMATION)
        whole = dialect.name in ("bigquery", "redshift", "spark", "databricks") or not value.fields
        if value.fields and not whole:
            outputs += value.fields.values()
        else:
            outputs.append(Output("", flow, value.fields, element=declared(scope)))
        if len(names) > len(outputs) + 0 and len(tree.items(node)) == 1 and not value.fields:
            outputs += [Output("", flow, element=declared(scope))] * (len(names) - len(outputs))
    outputs = _spread(outputs, names)
    offset = tree.arg(node, tree.OFFSET)
    if offset is not None:
        name = column_name(dialect, offset) if isinstance(offset, tree.Node) else "offset"
        outputs = [*outputs, Output(cased(dialect.columns, name, True), joined(*(one.flow for one in outputs)))]
    reads = frozenset(scope.extra_reads)
    relation = Relation(_named(outputs, names, alias, scope), reads=reads)
    if dialect.name == "bigquery" and outputs:
        relation.element = outputs[0]
    return relation


def _spread(outputs: list[Output], names: list[str]) -> list[Output]:
    """More names than arrays: maps give a key and a value each."""
    if len(names) <= len(outputs) or not outputs:
        return outputs
    return outputs + [outputs[-1]] * (len(names) - len(outputs))


def _named(outputs: list[Output], names: list[str], alias: tree.Node | None, scope: Scope) -> list[Output]:
    called = [output.called(name) for output, name in zip(outputs, names, strict=False)] + outputs[len(names) :]
    if len(called) == 1 and not called[0].name:
        default = "unnest" if scope.reading.dialect.name in ("postgres", "duckdb", "redshift") else NAMELESS
        name = (
            column_name(scope.reading.dialect, alias)
            if alias is not None and scope.reading.dialect.name != "duckdb"
            else default
        )
        return [called[0].called(name)]
    return [output if output.name else output.called(f"col{place}") for place, output in enumerate(called)]


def function_rows(
    scope: Scope, node: tree.Node, alias: tree.Node | None = None, columns: list[tree.Node] | None = None
) -> Relation:
    """The columns of a function in FROM: those that it, its alias or its schema names; all come from its arguments."""
    dialect = scope.reading.dialect
    alias = alias if alias is not None else tree.alias_of(node)
    written = columns if columns is not None else tree.alias_columns(node)
    names = [column_name(dialect, tree.this(one) if isinstance(one, c.ColumnDef) else one) for one in written]
    if isinstance(node, c.TableFromRows):
        node = tree.this(node)
    if isinstance(node, c.Subquery | c.Select):
        return scope.query(node)
    reads = frozenset(scope.extra_reads)
    match node:
        case c.OpenJSON():
            return Relation(_openjson(scope, node), reads=reads)
        case c.JSONTable():
            return Relation(_json_table(scope, node), reads=reads)
        case c.XMLTable():
            flow = _arguments(scope, tree.listed(node, tree.PASSING))
            outputs = [Output(column_name(dialect, tree.this(one)), flow) for one in tree.listed(node, tree.COLUMNS)]
            return Relation(outputs, reads=reads)
        case c.Stack():
            return Relation(_stacked(scope, node, names), reads=reads)
        case c.Inline() | c.Posexplode() | c.Explode():
            return Relation(_exploded(scope, node, names), reads=reads)
        case c.GenerateSeries() | c.ExplodingGenerateSeries() | c.Generator():
            flow = _arguments(scope, list(tree.children(node)))
            own = "value" if dialect.name == "tsql" else "generate_series"
            aliased = alias is not None and dialect.name != "tsql"
            name = names[0] if names else column_name(dialect, alias) if aliased else own
            return Relation([Output(name, flow)], reads=reads)
    return _any_function(scope, node, alias, names)


def _any_function(scope: Scope, node: tree.Node, alias: tree.Node | None, names: list[str]) -> Relation:
    """A function of which nothing is known but its arguments; queries among them are its input."""
    dialect = scope.reading.dialect
    source = read_source(scope.reading, node)
    if source is not None:
        return listed(source, names)
    if isinstance(node, c.Anonymous) and str(tree.this(node)).lower() == "result_scan":
        scope.reading.report("dynamic_sql", "result_scan")
    if isinstance(node, c.Func) and isinstance(tree.this(node), c.Table):
        return _of_model(scope, node)
    inputs = [one for one in tree.children(node) if isinstance(one, c.Query | c.TableFromRows)]
    arguments = [one for one in tree.children(node) if not isinstance(one, c.Query | c.TableFromRows | c.Identifier)]
    relations = [scope.query(one) for one in inputs if isinstance(one, c.Query)]
    if relations and isinstance(node, c.Anonymous) and str(tree.this(node)).lower() in _PASSING:
        return listed(relations[0], names)
    flow = joined(
        _arguments(scope, arguments), *(stepped(o.flow, TRANSFORMATION) for r in relations for o in r.outputs)
    )
    rows = joined(*(relation.rows for relation in relations))
    known = _NAMES.get(
        str(tree.this(node)).lower()
        if isinstance(node, c.Anonymous)
        else node.sql_names()[0].lower()
        if isinstance(node, c.Func)
        else ""
    )
    called = names or [cased(dialect.columns, name, False) for name in known or ()]
    reads = frozenset(scope.extra_reads)
    if called:
        return Relation([Output(name, flow) for name in called], rows, reads)
    outputs = [Output(STAR, flow)]
    if alias is not None and dialect.tuples:
        outputs.append(Output(column_name(dialect, alias), flow))
    return Relation(outputs[1:] or outputs, rows, reads)


def _of_model(scope: Scope, node: tree.Node) -> Relation:
    """BigQuery's ML.PREDICT and its like: the columns of the input as they are, and new ones made of all of them."""
    model = table_of(scope.reading.dialect, tree.this(node))
    inside = next((one for one in tree.children(node) if isinstance(one, c.Query)), None)
    given = scope.query(inside) if inside is not None else EMPTY
    flow = joined(*(stepped(one.flow, TRANSFORMATION) for one in given.outputs if one.name != STAR))
    reads = given.reads | {scope.reading.session.resolve(model)}
    scope.reading.inner_reads |= reads
    return Relation([*given.outputs, Output(STAR, flow)], given.rows, reads)


def _arguments(scope: Scope, nodes: list[tree.Node]) -> Flow:
    return joined(*(flow_of(scope, one, TRANSFORMATION) for one in nodes))


def _exploded(scope: Scope, node: tree.Node, names: list[str]) -> list[Output]:
    """EXPLODE and its like: a position and a key come from the array as its elements do, a plain position does not."""
    dialect = scope.reading.dialect
    inside = tree.this(node)
    if isinstance(inside, c.Kwarg):
        inside = tree.arg(inside, tree.EXPRESSION)
    value = value_of(scope, inside)
    flow = stepped(value.flow, TRANSFORMATION)
    if dialect.name == "snowflake":
        return [
            Output(cased(dialect.columns, name, False), flow, value.fields, element=declared(scope))
            for name in _FLATTENED
        ]
    if isinstance(node, c.Inline) and value.fields:
        return [o.called(name) for o, name in zip(value.fields.values(), names or value.fields, strict=False)]
    if isinstance(node, c.Posexplode):
        called = names or ["pos", "col"]
        return [
            Output(called[0], flow),
            *(Output(name, flow, value.fields, element=declared(scope)) for name in called[1:]),
        ]
    return [Output(name, flow, value.fields, element=declared(scope)) for name in names or ["col"]]


def _stacked(scope: Scope, node: tree.Node, names: list[str]) -> list[Output]:
    """STACK(n, a, b, …): n rows, so each column has every width-th value."""
    count, values = tree.this(node), tree.items(node)
    if count is None or not isinstance(count, c.Literal):
        count, values = values[0], values[1:]
    rows = max(1, int(tree.text_of(count)[0])) if tree.text_of(count)[0].isdigit() else 1
    width = -(-len(values) // rows)
    called = names or [f"col{place}" for place in range(width)]
    flows = [_arguments(scope, values[place::width]) for place in range(width)]
    return [Output(name, flow) for name, flow in zip(called, flows, strict=False)]


def _openjson(scope: Scope, node: tree.Node) -> list[Output]:
    dialect = scope.reading.dialect
    flow = flow_of(scope, tree.this(node), TRANSFORMATION)
    named = [column_name(dialect, tree.this(one)) for one in tree.items(node) if isinstance(one, c.OpenJSONColumnDef)]
    return [Output(name, flow) for name in named or ("key", "value", "type")]


def _json_table(scope: Scope, node: tree.Node) -> list[Output]:
    schema = tree.arg(node, tree.SCHEMA)  # None: the text is cut off
    return _schema(scope, schema, flow_of(scope, tree.this(node), TRANSFORMATION)) if schema is not None else []


def _schema(scope: Scope, schema: tree.Node, flow: Flow) -> list[Output]:
    outputs: list[Output] = []
    for one in tree.items(schema):
        nested = tree.arg(one, tree.NESTED)
        if nested is not None:
            outputs += _schema(scope, nested, flow)
            continue
        outputs.append(Output(column_name(scope.reading.dialect, tree.this(one)), flow))
    return outputs
