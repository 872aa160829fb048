"""Columns, literals and parameters in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule
from whence.capture.sql.fingerprint.normal_forms.values.lambdas import bind_parameters
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _literal(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    text, is_string = tree.text_of(node)
    return e.store.make("string" if is_string else "number", text)


def _boolean(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("boolean", str(bool(tree.this(node))).lower())


def _identifier(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("identifier", column_name(scope.reading.dialect, node))


def _column(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    if tree.is_star(node):
        return e.store.make(
            "star", *(column_name(scope.reading.dialect, part) for part in tree.column_parts(node)[:-1])
        )
    parts = tree.column_parts(node)
    if scope.reading.dialect.name == "oracle" and [tree.text_of(one)[0].lower() for one in parts] == ["rownum"]:
        # It depends on the order of the rows, and on what filters them before it is asked for.
        return e.store.make("volatile", "unread", "ROWNUM")
    found = named_value(e.store, scope, parts, [])
    return e.store.make("outer", found) if node.args.get("join_mark") else found


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


def _dot(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    path = tree.path_of(node)
    if path is not None and all(isinstance(part, c.Identifier | c.Literal) for part in path[1]):
        return named_value(e.store, scope, *path)
    return e.store.make(*e.parts(scope, node))


def _lambda(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    inner = Scope(scope.reading, scope)
    names = [column_name(scope.reading.dialect, item) for item in tree.items(node)]
    inner.bound = frozenset(names)
    return bind_parameters(e.store, names, e.value(inner, tree.this(node)))


def _parameter(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("parameter", tree.text_of(node)[0].lower())


def _variable(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return e.store.make("var", str(tree.this(node)).lower())


def _columns(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    expanded = scope.expanded_column
    if expanded is not None and isinstance(expanded.formula, Formula):
        return expanded.formula
    return e.store.make("volatile", *e.parts(scope, node))


RULES: Final[Mapping[str, Rule]] = {
    "dot": _dot,
    "parameter": _parameter,
    "placeholder": _parameter,
    "lambda": _lambda,
    "literal": _literal,
    "column": _column,
    "var": _variable,
    "boolean": _boolean,
    "identifier": _identifier,
    "columns": _columns,
}
