"""Functions without a class in the parser, for instance those that a user wrote."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.dialects.functions import AGGREGATES, COUNTING
from whence.capture.sql.fingerprint.normal_forms.spellings.lists import list_item
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, is_volatile
from whence.capture.sql.fingerprint.normal_forms.values.dates import at_time_zone, date_part
from whence.capture.sql.fingerprint.normal_forms.values.text_tests import search
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _call(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A function without a class in the parser, for instance one that a user wrote."""
    name = str(tree.this(node)).lower()
    arguments = [e.value(scope, item) for item in tree.items(node)]
    for rule in () if name in e.functions else (date_part, at_time_zone, list_item, search):
        known = rule(scope.reading.dialect.name, name, arguments)
        if known is not None:
            return known
    kind = "aggregate" if name in AGGREGATES or name in COUNTING else "volatile" if is_volatile(name) else "call"
    body = [e.store.make("body", e.functions[name])] if name in e.functions else []
    return e.store.make(kind, name, *body, *arguments)


RULES: Final[Mapping[str, Rule]] = {
    "anonymous": _call,
    "anonymousaggfunc": _call,
    "combinedaggfunc": _call,
}
