"""The formula of an expression: its operations over columns of sources, in a normal form.

A rule is allowed only if both spellings give the same value for every row, NULLs included. Everything without a rule
keeps all of its arguments, so two formulas are never equal by omission.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from whence.capture.sql.dialects.functions import AGGREGATES, COUNTING, words
from whence.capture.sql.fingerprint.normal_forms.arithmetic import add, fold_numbers, minus
from whence.capture.sql.fingerprint.normal_forms.dates import (
    add_interval,
    at_time_zone,
    date_part,
    fold_date,
    year_test,
)
from whence.capture.sql.fingerprint.normal_forms.function_rules import FUNCTION_RULES, list_item
from whence.capture.sql.fingerprint.normal_forms.functions import bind_parameters, is_default_frame, turn_lead
from whence.capture.sql.fingerprint.normal_forms.logic import compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.texts import prefix_test
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.queries.conditions import conjuncts
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

QueryRows = Callable[[Scope, tree.Node], tuple[Formula, list[Formula]]]
"""The rows and the columns of a query inside of an expression."""
MatchingRows = Callable[[Scope, tree.Node, Formula], tuple[Formula, list[Formula], Formula | None]]
"""The same of a query under IN, and beside them whether a row has the value, if it can be written so."""
Existence = Callable[[Scope, tree.Node], Formula]
"""Whether a query gives a row."""
Rule = Callable[["Expressions", Scope, tree.Node], Formula]

_MIDNIGHT: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]00:00(:00(\.0+)?)?")
"""A day as a text with its first moment, which a timestamp has without it."""
_VOLATILE: Final = words(
    "rand randn random uuid newid gen_random_uuid uuid_string generate_uuid generateuuidv4 nextval rand64 "
    "randcanonical setseed random_uuid uniform randstr seq1 seq2 seq4 seq8 uuid_generate_v4 clock_timestamp sys_guid "
    "dbms_random "
    "monotonically_increasing_id spark_partition_id input_file_name txid_current newsequentialid gen_random_bytes"
)
"""Functions whose value is another one each time, so equal texts do not imply equal values."""


class Expressions:
    """Reads expressions of one comparison."""

    __slots__ = ("existence", "functions", "matches", "matching_rows", "query_rows", "store")

    def __init__(
        self,
        store: Formulas,
        query_rows: QueryRows,
        existence: Existence,
        matching_rows: MatchingRows,
        functions: Mapping[str, str],
    ) -> None:
        self.store = store
        self.existence = existence
        self.query_rows = query_rows
        self.matching_rows = matching_rows
        self.matches: dict[Formula, Formula] = {}
        """EXISTS for each IN of a query: as conditions of a filter they are the same."""
        self.functions = functions
        """The definitions of functions, by name: who calls one is made of it."""

    def value(self, scope: Scope, node: Any) -> Formula:
        """The formula of an expression in a scope."""
        if not isinstance(node, tree.Node):
            return self.store.make("text", str(node))
        if isinstance(node, c.Query):
            return self._scalar(scope, node)
        rule = _RULES.get(node.key)
        if rule is not None:
            return rule(self, scope, node)
        if isinstance(node, c.AggFunc):
            return self.store.make("aggregate", *self.parts(scope, node))
        if _is_volatile(node.key):
            return self.store.make("volatile", *self.parts(scope, node))
        return self.store.make(*self.parts(scope, node))

    def conditions(self, scope: Scope, node: tree.Node) -> list[Formula]:
        """The conditions of an AND, without those that are always true."""
        value = self.value(scope, node)
        parts = [part for part in value.args if isinstance(part, Formula)] if value.op == "and" else [value]
        return [self.matches.get(part, part) for part in parts if part is not self.true]

    @property
    def true(self) -> Formula:
        return self.store.make("boolean", "true")

    def parts(self, scope: Scope, node: tree.Node) -> Iterator[Any]:
        """The name of an operation and all of its arguments, for operations without a rule."""
        yield node.key
        for name, value in sorted(node.args.items()):
            if value is None or value is False or (isinstance(value, list) and not value):
                continue
            yield name
            if isinstance(value, list):
                yield self.store.make("list", *(self.value(scope, item) for item in value))
            else:
                yield self.value(scope, value)

    def inside(self, scope: Scope, node: tree.Node) -> Formula:
        """The first argument of an expression."""
        return self.value(scope, tree.this(node))

    def _scalar(self, scope: Scope, node: tree.Node) -> Formula:
        rows, values = self.query_rows(scope, node)
        return self.store.make("scalar", rows, *values)


def _is_volatile(name: str) -> bool:
    return name.lower() in _VOLATILE


def _inside(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return e.inside(scope, node)


def _literal(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    text, is_string = tree.text_of(node)
    return e.store.make("string" if is_string else "number", text)


def _boolean(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("boolean", str(bool(tree.this(node))).lower())


def _identifier(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("identifier", column_name(scope.reading.dialect, node))


def _column(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    if tree.is_star(node):
        return e.store.make(
            "star", *(column_name(scope.reading.dialect, part) for part in tree.column_parts(node)[:-1])
        )
    return named_value(e.store, scope, tree.column_parts(node), [])


def named_value(store: Formulas, scope: Scope, parts: list[tree.Node], fields: list[tree.Node]) -> Formula:
    """The formula of a name. Names that no source has keep their text, beside everything that may have them."""
    names = [column_name(scope.reading.dialect, part) for part in parts + fields]
    around: Scope | None = scope
    while around is not None:
        if names[0] in around.bound:
            return store.make("parameter", *names)
        around = around.outer
    found = scope.value(parts, fields)
    if isinstance(found.formula, Formula):
        return found.formula
    candidates = [
        output.formula
        for source in scope.sources
        for output in (source.relation.find(names[-1]) or source.relation.guess(names[-1]),)
        if output is not None and isinstance(output.formula, Formula)
    ]
    if found.flow and not candidates:
        return store.make("volatile", "unread", ".".join(names))
    return store.make("unresolved", *names, *candidates)


def _dot(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    path = tree.path_of(node)
    if path is not None and all(isinstance(part, c.Identifier | c.Literal) for part in path[1]):
        return named_value(e.store, scope, *path)
    return e.store.make(*e.parts(scope, node))


def _connector(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    parts = [e.value(scope, part) for part in conjuncts(node, type(node))]
    return connect(e.store, node.key, parts)


def _not(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return negate(e.store, _inside(e, scope, node))


def _compare(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    quantified = tree.arg(node, tree.EXPRESSION)
    if (node.key, quantified.key) in (("eq", "any"), ("neq", "all")) and (found := _member(e, scope, node)) is not None:
        return found if node.key == "eq" else negate(e.store, found)
    left, right = (fold_date(e.store, side) for side in (_inside(e, scope, node), e.value(scope, quantified)))
    found = prefix_test(e.store, scope.reading.dialect.name, node.key, left, right)
    found = found or year_test(e.store, node.key, left, right)
    return found if found is not None else compare(e.store, node.key, left, right)


def _member(e: Expressions, scope: Scope, node: tree.Node) -> Formula | None:
    """`= ANY (…)` as IN."""
    inside = tree.this(tree.arg(node, tree.EXPRESSION))
    query = tree.query_in(inside) if not isinstance(inside, c.Query) else inside
    if query is not None:
        return _in_query(e, scope, query, _inside(e, scope, node))
    array = inside.unnest()
    if not isinstance(array, c.Array) or not tree.items(array):
        return None
    return _in_items(e, _inside(e, scope, node), [e.value(scope, item) for item in tree.items(array)])


def _between(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    if tree.arg(node, "symmetric"):
        return e.store.make(*e.parts(scope, node))
    value, low, high = (fold_date(e.store, e.value(scope, tree.arg(node, name))) for name in (tree.THIS, "low", "high"))
    if low is high:
        return compare(e.store, "eq", value, low)
    return connect(e.store, "and", [compare(e.store, "lte", low, value), compare(e.store, "lte", value, high)])


def _in(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    query = tree.arg(node, "query")
    value = _inside(e, scope, node)
    if query is not None:
        return _in_query(e, scope, tree.query_in(query) or query, value)
    if not tree.items(node) or any(tree.arg(node, name) for name in ("field", "unnest", "is_global")):
        return e.store.make(*e.parts(scope, node))
    return _in_items(e, value, [e.value(scope, item) for item in tree.items(node)])


def _in_query(e: Expressions, scope: Scope, query: tree.Node, value: Formula) -> Formula:
    rows, values, matching = e.matching_rows(scope, query, value)
    found = e.store.make("in", value, e.store.make("in_query", rows, *values))
    if matching is not None:
        e.matches[found] = matching
    return found


def _in_items(e: Expressions, value: Formula, items: list[Formula]) -> Formula:
    return connect(e.store, "or", [compare(e.store, "eq", value, item) for item in items])


def _exists(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    inside = tree.query_in(tree.this(node))
    if inside is None:
        return _exists_in_array(e, scope, node)
    return e.existence(scope, inside)


def _exists_in_array(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    """`exists(array, x -> x = literal)` of Spark: array_contains, NULL if neither is found and an element is NULL."""
    test = tree.arg(node, tree.EXPRESSION)
    equality = tree.this(test) if isinstance(test, c.Lambda) and len(tree.items(test)) == 1 else None
    if isinstance(equality, c.EQ) and scope.reading.dialect.name in ("spark", "databricks"):
        name = column_name(scope.reading.dialect, tree.items(test)[0])
        sides = [tree.this(equality), tree.arg(equality, tree.EXPRESSION)]
        for side, other in (sides, sides[::-1]):
            is_parameter = (
                isinstance(side, c.Identifier | c.Column) and column_name(scope.reading.dialect, side) == name
            )
            if is_parameter and isinstance(other, c.Literal):
                array = e.value(scope, tree.this(node))
                return e.store.make("arraycontains", "expression", e.value(scope, other), "this", array)
    return e.store.make(*e.parts(scope, node))


def _arithmetic(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    """Sums and products: without order, except where `+` may join texts."""
    parts = [e.value(scope, part) for part in conjuncts(node, type(node))]
    if scope.reading.dialect.name == "tsql" and node.key == "add" and not any(part.op == "number" for part in parts):
        return e.store.make("plus", *parts)
    if any(part.op == "interval" for part in parts):
        return add_interval(e.store, parts)
    return add(e.store, parts) if node.key == "add" else fold_numbers(e.store, "mul", parts)


def _negative(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return minus(e.store, _inside(e, scope, node))


def _cast(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    inner = _inside(e, scope, node)
    kind = e.value(scope, tree.arg(node, tree.TO))
    extra = [name for name, value in node.args.items() if value and name not in (tree.THIS, tree.TO, "safe")]
    if extra:
        return e.store.make(*e.parts(scope, node))
    if inner.op == "string" and _MIDNIGHT.fullmatch(str(inner.args[0])) and str(kind.args[0]).startswith("timestamp"):
        inner = e.store.make("string", str(inner.args[0])[:10])
    if inner.op in ("cast", "trycast") and inner.args[1] is kind and node.key == "cast":
        return inner
    return e.store.make(node.key, inner, kind)


def _within_group(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("aggregate", *e.parts(scope, node))


def _call(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    """A function without a class in the parser, for instance one that a user wrote."""
    name = str(tree.this(node)).lower()
    arguments = [e.value(scope, item) for item in tree.items(node)]
    for rule in () if name in e.functions else (date_part, at_time_zone, list_item):
        known = rule(scope.reading.dialect.name, name, arguments)
        if known is not None:
            return known
    kind = "aggregate" if name in AGGREGATES or name in COUNTING else "volatile" if _is_volatile(name) else "call"
    body = [e.store.make("body", e.functions[name])] if name in e.functions else []
    return e.store.make(kind, name, *body, *arguments)


def _window(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    """A window function. Named windows are written out; the partition has no order."""
    function = _inside(e, scope, node)
    frames = _window_chain(scope, node)
    keys = [e.value(scope, key) for frame in frames for key in tree.list_arg(frame, tree.PARTITION_BY)]
    orders = [tree.arg(frame, tree.ORDER) for frame in frames]
    order = [e.value(scope, item) for clause in orders if clause is not None for item in tree.items(clause)]
    function, order = turn_lead(e.store, function, order)
    clauses = [spec for frame in frames for spec in (tree.arg(frame, "spec"),) if spec is not None]
    texts = [tree.source_text(spec, scope.reading.dialect.parser) for spec in clauses]
    kept = [spec for spec, text in zip(clauses, texts, strict=True) if not is_default_frame(text, bool(order))]
    specs = [e.value(scope, spec) for spec in kept]
    rest = [str(tree.arg(node, name)) for name in (tree.OVER, "first") if tree.arg(node, name)]
    make = e.store.make
    return make("window", *function.args, function.op, make("set", *keys), make("list", *order), *specs, *rest)


def _window_chain(scope: Scope, node: tree.Node) -> list[tree.Node]:
    frames = [node]
    alias = tree.arg(node, tree.ALIAS)
    while alias is not None and len(frames) < 16:
        named = scope.windows.get(column_name(scope.reading.dialect, alias))
        if named is None:
            break
        frames.append(named)
        alias = tree.arg(named, tree.ALIAS)
    return frames


def _lambda(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    inner = Scope(scope.reading, scope)
    names = [column_name(scope.reading.dialect, item) for item in tree.items(node)]
    inner.bound = frozenset(names)
    return bind_parameters(e.store, names, e.value(inner, tree.this(node)))


def _ordered(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    flags = [name for name in ("desc", "nulls_first") if tree.arg(node, name)]
    return e.store.make("ordered", *flags, _inside(e, scope, node))


def _parameter(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("parameter", tree.text_of(node)[0].lower())


def _variable(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("var", str(tree.this(node)).lower())


def _columns(e: Expressions, scope: Scope, node: tree.Node) -> Formula:
    expanded = scope.expanded_column
    if expanded is not None and isinstance(expanded.formula, Formula):
        return expanded.formula
    return e.store.make("volatile", *e.parts(scope, node))


_RULES: Final[Mapping[str, Rule]] = {
    **FUNCTION_RULES,
    "paren": _inside,
    "alias": _inside,
    "where": _inside,
    "literal": _literal,
    "boolean": _boolean,
    "identifier": _identifier,
    "column": _column,
    "dot": _dot,
    "and": _connector,
    "or": _connector,
    "not": _not,
    "eq": _compare,
    "neq": _compare,
    "lt": _compare,
    "lte": _compare,
    "gt": _compare,
    "gte": _compare,
    "between": _between,
    "in": _in,
    "exists": _exists,
    "add": _arithmetic,
    "mul": _arithmetic,
    "neg": _negative,
    "cast": _cast,
    "trycast": _cast,
    "withingroup": _within_group,
    "anonymous": _call,
    "anonymousaggfunc": _call,
    "combinedaggfunc": _call,
    "window": _window,
    "lambda": _lambda,
    "ordered": _ordered,
    "parameter": _parameter,
    "placeholder": _parameter,
    "columns": _columns,
    "var": _variable,
}
