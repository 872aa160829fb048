"""The formula of an expression: its operations over columns of sources, in a normal form.

A rule is allowed only if both spellings give the same value for every row, NULLs included. Everything without a rule
keeps all of its arguments, so two formulas are never equal by omission.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from whence.capture.sql.fingerprint.data_types.printing import with_printed_type
from whence.capture.sql.fingerprint.data_types.reading import data_type
from whence.capture.sql.fingerprint.normal_forms.conditions.filters import conditions_of_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.spellings import (
    aggregates,
    calls,
    cases,
    casts,
    conditions,
    dates,
    lists,
    names,
    numbers,
    syntax,
    texts,
    windows,
)
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, is_volatile
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

QueryRows = Callable[[Scope, tree.Node, bool], tuple[Formula, list[Formula]]]
"""The rows and the columns of a query inside of an expression, and whether the order of the rows counts."""
MatchingRows = Callable[[Scope, tree.Node, Formula], tuple[Formula, list[Formula], Formula | None]]
"""The same of a query under IN, and beside them whether a row has the value, if it can be written so."""
Existence = Callable[[Scope, tree.Node], Formula]
"""Whether a query gives a row."""


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
        if is_volatile(node.key):
            return self.store.make("volatile", *self.parts(scope, node))
        return self.store.make(*self.parts(scope, node))

    def conditions(self, scope: Scope, node: tree.Node) -> list[Formula]:
        """The conditions of an AND, without those that are always true."""
        parts = conditions_of_filter(self.value(scope, node))
        return [self.matched(part) for part in parts if part is not self.true]

    def matched(self, condition: Formula) -> Formula:
        """A condition of a filter or a CASE with EXISTS in place of IN, outside of NOT: NULL counts as false there."""
        if condition.op in ("and", "or"):
            return connect(self.store, condition.op, [self.matched(part) for part in formulas_of(condition)])
        return self.matches.get(condition, condition)

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

    def printed(self, scope: Scope, node: tree.Node) -> Formula:
        """The formula of an expression that becomes a text: its type decides on the digits, or on a time."""
        return with_printed_type(self.value(scope, node), data_type(self.store, scope, node))

    def _scalar(self, scope: Scope, node: tree.Node) -> Formula:
        rows, values = self.query_rows(scope, node, isinstance(node.parent, c.Array))
        return self.store.make("scalar", rows, *values)


_RULES: Final[Mapping[str, Rule]] = {
    **aggregates.RULES,
    **calls.RULES,
    **cases.RULES,
    **casts.RULES,
    **conditions.RULES,
    **dates.RULES,
    **lists.RULES,
    **names.RULES,
    **numbers.RULES,
    **syntax.RULES,
    **texts.RULES,
    **windows.RULES,
}
