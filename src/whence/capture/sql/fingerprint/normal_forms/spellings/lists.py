"""Lists and maps in the syntax tree."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import distinct_value
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, given
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.values.lambdas import bind_parameters
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def list_item(dialect: str, name: str, arguments: Sequence[Formula]) -> Formula | None:
    """DuckDB's `list_extract(x, 1)` as `x[1]`, whose place the parser counts from 0."""
    place = integer_of(arguments[1]) if len(arguments) == 2 else None
    if dialect != "duckdb" or name not in ("list_extract", "list_element") or not place or place < 0:
        return None
    make = arguments[0].store.make
    return make("bracket", "expressions", make("list", make("number", str(place - 1))), tree.THIS, arguments[0])


def _array_size(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `array_length(x)` is `len(x)`, which it has for lists too."""
    if scope.reading.dialect.name != "duckdb" or set(given(node)) != {tree.THIS}:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("length", tree.THIS, e.inside(scope, node))


def _array(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `[f(x) FOR x IN l IF g(x)]` as `list_transform(list_filter(l, x -> g(x)), x -> f(x))`."""
    items = tree.items(node)
    each = items[0] if len(items) == 1 and isinstance(items[0], c.Comprehension) else None
    if each is None or tree.arg(each, "position") is not None or scope.reading.dialect.name != "duckdb":
        return e.store.make(*e.parts(scope, node))
    name = column_name(scope.reading.dialect, tree.arg(each, tree.EXPRESSION))
    inner = Scope(scope.reading, scope)
    inner.bound = frozenset({name})
    found = e.value(scope, tree.arg(each, "iterator"))
    condition, body = tree.arg(each, tree.CONDITION), e.value(inner, tree.this(each))
    if condition is not None:
        test = bind_parameters(e.store, [name], e.value(inner, condition))
        found = e.store.make("arrayfilter", "expression", test, "this", found)
    if body is e.store.make("parameter", name):
        return found
    return e.store.make("transform", "expression", bind_parameters(e.store, [name], body), "this", found)


def _bracket(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A value of a map by a text; `element_at` is the same. DuckDB's structs have their fields so too."""
    keys = [e.value(scope, item) for item in tree.items(node)]
    inside = tree.this(node)
    if (
        scope.reading.dialect.name == "duckdb"
        and [key.op for key in keys] == ["string"]
        and isinstance(inside, c.Column)
    ):
        return e.store.make("field", e.inside(scope, node), str(keys[0].args[0]))
    if [key.op for key in keys] != ["string"]:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("bracket", e.inside(scope, node), *keys)


def _json_part(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A part of a JSON document: a path in two steps is one path, if each step finds one part."""
    path, inside = e.value(scope, tree.arg(node, tree.EXPRESSION)), e.inside(scope, node)
    if path.op != "jsonpath" or inside.op != "jsonextract" or set(given(node)) - _JSON_ARGUMENTS:
        return e.store.make(*e.parts(scope, node))
    before, document = formulas_of(inside)[:2]
    steps = [_steps(one) for one in (before, path)]
    if len(formulas_of(inside)) != 2 or None in steps:
        return e.store.make(*e.parts(scope, node))
    found = e.store.make("list", e.store.make("jsonpathroot"), *(one for part in steps for one in part or ()))
    return e.store.make(node.key, "expression", e.store.make("jsonpath", "expressions", found), "this", document)


def _steps(path: Formula) -> list[Formula] | None:
    """The keys and places of a path; None if a step may find several parts."""
    parts = formulas_of(formulas_of(path)[0]) if path.op == "jsonpath" and formulas_of(path) else []
    steps = [part for part in parts if part.op != "jsonpathroot"]
    is_single = all(one.op in ("jsonpathkey", "jsonpathsubscript") and _is_plain_step(one) for one in steps)
    return steps if steps and is_single else None


def _is_plain_step(step: Formula) -> bool:
    text = formulas_of(step)[0] if formulas_of(step) else None
    return text is not None and text.op == "text" and (step.op == "jsonpathkey" or str(text.args[0]).isdigit())


def _contains_all(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `l @> ['x']` as `list_contains(l, 'x')`."""
    wanted = tree.arg(node, tree.EXPRESSION)
    items = tree.items(wanted) if isinstance(wanted, c.Array) else []
    is_one = len(items) == 1 and isinstance(items[0], c.Literal) and scope.reading.dialect.name == "duckdb"
    if not is_one or set(given(node)) != {tree.THIS, tree.EXPRESSION}:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("arraycontains", "expression", e.value(scope, items[0]), "this", e.inside(scope, node))


def _sorted_array(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A sorted list. DuckDB's `list_sort(list(DISTINCT x))` is `list(DISTINCT x ORDER BY x)`, NULL being the last."""
    make, inside = e.store.make, e.inside(scope, node)
    is_plain = set(given(node)) == {tree.THIS, "nulls_first"} and tree.arg(node, "nulls_first").args == {"this": False}
    if scope.reading.dialect.name == "duckdb" and is_plain:
        match inside.args:
            case ("arrayagg", "this", Formula(op="distinct") as distinct) if only := distinct_value(distinct):
                order = make("list", make("ordered", only))
                return make("aggregate", "arrayagg", "this", make("order", "expressions", order, "this", distinct))
    parts = tuple(e.parts(scope, node))
    asc = parts.index("asc") if "asc" in parts else -1
    is_default = asc >= 0 and parts[asc + 1] is e.true
    return e.store.make(*parts[:asc], *parts[asc + 2 :]) if is_default else e.store.make(*parts)


_JSON_ARGUMENTS: Final = frozenset({tree.THIS, tree.EXPRESSION, "only_json_types"})
RULES: Final[Mapping[str, Rule]] = {
    "array": _array,
    "arraycontainsall": _contains_all,
    "arraysize": _array_size,
    "bracket": _bracket,
    "jsonextract": _json_part,
    "jsonextractscalar": _json_part,
    "arraysort": _sorted_array,
    "sortarray": _sorted_array,
}
