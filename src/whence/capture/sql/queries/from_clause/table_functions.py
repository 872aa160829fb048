"""Table functions: UNNEST, EXPLODE, FLATTEN, OPENJSON, JSON_TABLE, and any other."""

from whence.capture.sql.names.names import column_name, normalize_case, table_of
from whence.capture.sql.provenance.flows import TRANSFORMATION, Flow, apply_step, merge_flows
from whence.capture.sql.provenance.relations import EMPTY, NAMELESS, STAR, Output, Relation, name_columns
from whence.capture.sql.queries.expressions import flow_of, has_declared_fields, value_of
from whence.capture.sql.queries.from_clause.table_readers import read_source
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_FLATTEN_COLUMNS = ("seq", "key", "path", "index", "value", "this")
_NAMES = {
    "split_to_table": ("seq", "index", "value"),
    "json_each": ("key", "value"),
    "jsonb_each": ("key", "value"),
    "json_each_text": ("key", "value"),
    "jsonb_each_text": ("key", "value"),
    "string_split": ("value", "ordinal"),
    "strtok_split_to_table": ("seq", "index", "value"),
}
"""The columns of functions whose alias does not list them."""


_PASS_THROUGH = ("view", "appends", "changes")
"""Functions that return the columns of their input: ClickHouse's view(), BigQuery's history of a table."""


def unnest(scope: Scope, node: tree.Node, around: tree.Node | None = None) -> Relation:
    """UNNEST(array, …) [WITH ORDINALITY | WITH OFFSET]. `around`: the LATERAL that carries the alias."""
    dialect = scope.reading.dialect
    around = around if around is not None else node
    names = [column_name(dialect, column) for column in tree.alias_columns(around)]
    alias = tree.alias_of(around)
    if dialect.name == "bigquery" and not names and alias is not None:
        names = [column_name(dialect, alias)]
    outputs: list[Output] = []
    for array in tree.items(node):
        value = value_of(scope, array)
        flow = apply_step(value.flow, TRANSFORMATION)
        whole = dialect.name in ("bigquery", "redshift", "spark", "databricks") or not value.fields
        if value.fields and not whole:
            outputs += value.fields.values()
        else:
            outputs.append(Output("", flow, value.fields, element=has_declared_fields(scope)))
        if len(names) > len(outputs) + 0 and len(tree.items(node)) == 1 and not value.fields:
            outputs += [Output("", flow, element=has_declared_fields(scope))] * (len(names) - len(outputs))
    outputs = _pad_outputs(outputs, names)
    offset = tree.arg(node, tree.OFFSET)
    if offset is not None:
        name = column_name(dialect, offset) if isinstance(offset, tree.Node) else "offset"
        outputs = [
            *outputs,
            Output(normalize_case(dialect.columns, name, True), merge_flows(*(output.flow for output in outputs))),
        ]
    reads = frozenset(scope.extra_reads)
    relation = Relation(_name_outputs(outputs, names, alias, scope), reads=reads)
    if dialect.name == "bigquery" and outputs:
        relation.element = outputs[0]
    return relation


def _pad_outputs(outputs: list[Output], names: list[str]) -> list[Output]:
    """Repeat the last output for additional names: maps yield a key and a value each."""
    if len(names) <= len(outputs) or not outputs:
        return outputs
    return outputs + [outputs[-1]] * (len(names) - len(outputs))


def _name_outputs(outputs: list[Output], names: list[str], alias: tree.Node | None, scope: Scope) -> list[Output]:
    named = [output.with_name(name) for output, name in zip(outputs, names, strict=False)] + outputs[len(names) :]
    if len(named) == 1 and not named[0].name:
        default = "unnest" if scope.reading.dialect.name in ("postgres", "duckdb", "redshift") else NAMELESS
        name = (
            column_name(scope.reading.dialect, alias)
            if alias is not None and scope.reading.dialect.name != "duckdb"
            else default
        )
        return [named[0].with_name(name)]
    return [output if output.name else output.with_name(f"col{position}") for position, output in enumerate(named)]


def function_rows(
    scope: Scope, node: tree.Node, alias: tree.Node | None = None, columns: list[tree.Node] | None = None
) -> Relation:
    """The columns of a function in FROM, named by it, its alias or its schema. All have its arguments as sources."""
    dialect = scope.reading.dialect
    alias = alias if alias is not None else tree.alias_of(node)
    alias_nodes = columns if columns is not None else tree.alias_columns(node)
    names = [
        column_name(dialect, tree.this(column) if isinstance(column, c.ColumnDef) else column) for column in alias_nodes
    ]
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
            flow = _arguments(scope, tree.list_arg(node, tree.PASSING))
            outputs = [
                Output(column_name(dialect, tree.this(column)), flow) for column in tree.list_arg(node, tree.COLUMNS)
            ]
            return Relation(outputs, reads=reads)
        case c.Stack():
            return Relation(_stack_columns(scope, node, names), reads=reads)
        case c.Inline() | c.Posexplode() | c.Explode():
            return Relation(_exploded_columns(scope, node, names), reads=reads)
        case c.GenerateSeries() | c.ExplodingGenerateSeries() | c.Generator():
            flow = _arguments(scope, list(tree.children(node)))
            is_range = dialect.name == "duckdb" and bool(node.args.get("is_end_exclusive"))
            default_name = "value" if dialect.name == "tsql" else "range" if is_range else "generate_series"
            has_alias = alias is not None and dialect.name != "tsql"
            name = names[0] if names else column_name(dialect, alias) if has_alias else default_name
            return Relation([Output(name, flow)], reads=reads)
    return _any_function(scope, node, alias, names)


def _any_function(scope: Scope, node: tree.Node, alias: tree.Node | None, names: list[str]) -> Relation:
    """A function without a rule: its arguments are the sources, and queries among them are its input."""
    dialect = scope.reading.dialect
    source = read_source(scope.reading, node)
    if source is not None:
        return name_columns(source, names)
    if isinstance(node, c.Anonymous) and str(tree.this(node)).lower() == "result_scan":
        scope.reading.report("dynamic_sql", "result_scan")
    if isinstance(node, c.Func) and isinstance(tree.this(node), c.Table):
        return _model_rows(scope, node)
    inputs = [child for child in tree.children(node) if isinstance(child, c.Query | c.TableFromRows)]
    arguments = [
        child for child in tree.children(node) if not isinstance(child, c.Query | c.TableFromRows | c.Identifier)
    ]
    relations = [scope.query(dataset) for dataset in inputs if isinstance(dataset, c.Query)]
    if relations and isinstance(node, c.Anonymous) and str(tree.this(node)).lower() in _PASS_THROUGH:
        return name_columns(relations[0], names)
    flow = merge_flows(
        _arguments(scope, arguments),
        *(apply_step(output.flow, TRANSFORMATION) for relation in relations for output in relation.outputs),
    )
    rows = merge_flows(*(relation.rows for relation in relations))
    known_names = _NAMES.get(
        str(tree.this(node)).lower()
        if isinstance(node, c.Anonymous)
        else node.sql_names()[0].lower()
        if isinstance(node, c.Func)
        else ""
    )
    column_names = names or [normalize_case(dialect.columns, name, False) for name in known_names or ()]
    reads = frozenset(scope.extra_reads)
    if column_names:
        return Relation([Output(name, flow) for name in column_names], rows, reads)
    outputs = [Output(STAR, flow)]
    if alias is not None and dialect.tuples:
        outputs.append(Output(column_name(dialect, alias), flow))
    return Relation(outputs[1:] or outputs, rows, reads)


def _model_rows(scope: Scope, node: tree.Node) -> Relation:
    """BigQuery's ML.PREDICT and similar: the unchanged input columns, and new ones with all of them as sources."""
    model = table_of(scope.reading.dialect, tree.this(node))
    inside = next((child for child in tree.children(node) if isinstance(child, c.Query)), None)
    input_relation = scope.query(inside) if inside is not None else EMPTY
    flow = merge_flows(
        *(apply_step(output.flow, TRANSFORMATION) for output in input_relation.outputs if output.name != STAR)
    )
    reads = input_relation.reads | {scope.reading.session.resolve(model)}
    scope.reading.inner_reads |= reads
    return Relation([*input_relation.outputs, Output(STAR, flow)], input_relation.rows, reads)


def _arguments(scope: Scope, nodes: list[tree.Node]) -> Flow:
    return merge_flows(*(flow_of(scope, node, TRANSFORMATION) for node in nodes))


def _exploded_columns(scope: Scope, node: tree.Node, names: list[str]) -> list[Output]:
    """EXPLODE and similar: a key and a position have the array as source, like its elements; a plain index does not."""
    dialect = scope.reading.dialect
    inside = tree.this(node)
    if isinstance(inside, c.Kwarg):
        inside = tree.arg(inside, tree.EXPRESSION)
    value = value_of(scope, inside)
    flow = apply_step(value.flow, TRANSFORMATION)
    if dialect.name == "snowflake":
        return [
            Output(normalize_case(dialect.columns, name, False), flow, value.fields, element=has_declared_fields(scope))
            for name in _FLATTEN_COLUMNS
        ]
    if isinstance(node, c.Inline) and value.fields:
        return [
            output.with_name(name) for output, name in zip(value.fields.values(), names or value.fields, strict=False)
        ]
    if isinstance(node, c.Posexplode):
        column_names = names or ["pos", "col"]
        return [
            Output(column_names[0], flow),
            *(Output(name, flow, value.fields, element=has_declared_fields(scope)) for name in column_names[1:]),
        ]
    return [Output(name, flow, value.fields, element=has_declared_fields(scope)) for name in names or ["col"]]


def _stack_columns(scope: Scope, node: tree.Node, names: list[str]) -> list[Output]:
    """STACK(n, a, b, …): n rows, so each column has every width-th value."""
    count, values = tree.this(node), tree.items(node)
    if count is None or not isinstance(count, c.Literal):
        count, values = values[0], values[1:]
    rows = max(1, int(tree.text_of(count)[0])) if tree.text_of(count)[0].isdigit() else 1
    width = -(-len(values) // rows)
    column_names = names or [f"col{offset}" for offset in range(width)]
    flows = [_arguments(scope, values[offset::width]) for offset in range(width)]
    return [Output(name, flow) for name, flow in zip(column_names, flows, strict=False)]


def _openjson(scope: Scope, node: tree.Node) -> list[Output]:
    dialect = scope.reading.dialect
    flow = flow_of(scope, tree.this(node), TRANSFORMATION)
    named = [
        column_name(dialect, tree.this(item)) for item in tree.items(node) if isinstance(item, c.OpenJSONColumnDef)
    ]
    return [Output(name, flow) for name in named or ("key", "value", "type")]


def _json_table(scope: Scope, node: tree.Node) -> list[Output]:
    schema = tree.arg(node, tree.SCHEMA)  # None: the text is truncated
    return _schema(scope, schema, flow_of(scope, tree.this(node), TRANSFORMATION)) if schema is not None else []


def _schema(scope: Scope, schema: tree.Node, flow: Flow) -> list[Output]:
    outputs: list[Output] = []
    for item in tree.items(schema):
        nested = tree.arg(item, tree.NESTED)
        if nested is not None:
            outputs += _schema(scope, nested, flow)
            continue
        outputs.append(Output(column_name(scope.reading.dialect, tree.this(item)), flow))
    return outputs
