"""Functions on texts in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, given
from whence.capture.sql.fingerprint.normal_forms.terms.literals import integer_of
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add
from whence.capture.sql.fingerprint.normal_forms.values.patterns import matching, normal_pattern, whole_pattern
from whence.capture.sql.fingerprint.normal_forms.values.text_cases import in_letters, trimmed
from whence.capture.sql.fingerprint.normal_forms.values.text_tests import ilike, like
from whence.capture.sql.fingerprint.normal_forms.values.texts import make_concat, with_separator, without_text_cast
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _concat(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    skips_null = bool(node.args.get("coalesce"))
    return make_concat(e.store, [e.printed(scope, item) for item in tree.items(node)], skips_null)


def _concat_with_separator(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`concat_ws`: its values become texts, as those of `concat` do."""
    kind, *parts = e.parts(scope, node)
    place = parts.index("expressions") + 1
    values = [without_text_cast(e.printed(scope, item)) for item in tree.items(node)]
    if {*parts[::2]} <= {"coalesce", "expressions", "safe"} and (joined := with_separator(e.store, values)) is not None:
        return joined
    parts[place] = e.store.make("list", *values)
    return e.store.make(kind, *parts)


def _join_texts(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    parts = [e.printed(scope, one) for one in (tree.this(node), tree.arg(node, tree.EXPRESSION))]
    if scope.reading.dialect.name == "postgres":
        parts = [_as_text(e.store, part) for part in parts]
    return make_concat(e.store, parts, skips_null=False)


def _as_text(store: Formulas, value: Formula) -> Formula:
    """What Postgres joins with `||` is of type text: VARCHAR without a length is the same there."""
    if value.op == "coalesce":
        return store.rebuild(value, lambda part: _as_text(store, part))
    if value.op not in ("cast", "trycast") or value.args[1] is not store.make("type", "varchar"):
        return value
    return store.make(value.op, value.args[0], store.make("type", "text"))


def _left(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """The first characters, as `substring` from the first one has them."""
    length = e.value(scope, tree.arg(node, tree.EXPRESSION))
    value, less = e.inside(scope, node), e.store.make("number", "-1")
    if scope.reading.dialect.name in ("duckdb", "postgres") and length is _shorter(value):
        return e.store.make("left", "expression", less, "this", value)
    if (integer_of(length) or 0) <= 0:
        return e.store.make(*e.parts(scope, node))
    first = e.store.make("number", "1")
    return e.store.make("substring", "length", length, "start", first, "this", value)


def _shorter(value: Formula) -> Formula:
    """The length of a text without its last character."""
    return add(value.store, [value.store.make("length", "this", value), value.store.make("number", "-1")])


def _like(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """LIKE and ILIKE; NOT LIKE is NOT of it."""
    value, pattern = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    found = (like if node.key == "like" else ilike)(e.store, scope.reading.dialect.name, value, pattern)
    if set(given(node)) - {tree.THIS, tree.EXPRESSION, "negate"}:
        return e.store.make(*e.parts(scope, node))
    made = found if found is not None else e.store.make(node.key, "expression", pattern, "this", value)
    return negate(e.store, made) if node.args.get("negate") else made


def _search(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`starts_with`, `ends_with` and `contains`."""
    if set(given(node)) != {tree.THIS, tree.EXPRESSION}:
        return e.store.make(*e.parts(scope, node))
    return e.store.make(node.key, e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION)))


def _trim(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """TRIM of both sides, also as one of each side."""
    if set(given(node)) - {tree.THIS, "position"}:
        return e.store.make(*e.parts(scope, node))
    position = str(node.args.get("position") or "BOTH").upper()
    return trimmed(e.store, position, e.inside(scope, node))


def _letters(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """LOWER and UPPER."""
    if set(given(node)) != {tree.THIS}:
        return e.store.make(*e.parts(scope, node))
    return in_letters(e.store, node.key, e.inside(scope, node))


def _regular_expression(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A function of a regular expression, of which DuckDB has several spellings."""
    kind, *parts = e.parts(scope, node)
    place = parts.index(tree.EXPRESSION) + 1 if tree.EXPRESSION in parts else 0
    pattern = parts[place] if place else None
    if scope.reading.dialect.name != "duckdb" or pattern is None or pattern.op != "string":
        return e.store.make(kind, *parts)
    parts[place] = e.store.make("string", normal_pattern(str(pattern.args[0])))
    if set(given(node)) == {tree.THIS, tree.EXPRESSION} and kind == "regexplike":
        return matching(e.store, "duckdb", e.inside(scope, node), str(parts[place].args[0]))
    return e.store.make(kind, *parts)


def _full_match(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `regexp_full_match(x, 'a')` as a search for `^a$`."""
    pattern = tree.arg(node, tree.EXPRESSION)
    is_plain = set(given(node)) == {tree.THIS, tree.EXPRESSION} and scope.reading.dialect.name == "duckdb"
    text, is_string = tree.text_of(pattern) if isinstance(pattern, c.Literal) else ("", False)
    whole = whole_pattern(normal_pattern(text)) if is_plain and is_string else None
    if whole is None:
        return e.store.make(*e.parts(scope, node))
    return matching(e.store, "duckdb", e.inside(scope, node), whole)


RULES: Final[Mapping[str, Rule]] = {
    "concat": _concat,
    "concatws": _concat_with_separator,
    "regexpfullmatch": _full_match,
    "regexplike": _regular_expression,
    "regexpreplace": _regular_expression,
    "regexpextract": _regular_expression,
    "lower": _letters,
    "upper": _letters,
    "left": _left,
    "dpipe": _join_texts,
    "like": _like,
    "ilike": _like,
    "trim": _trim,
    "startswith": _search,
    "contains": _search,
    "endswith": _search,
}
