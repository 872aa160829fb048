"""Types and casts in the syntax tree."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, _inside
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_named
from whence.capture.sql.fingerprint.normal_forms.values.casts import cast_to
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _data_type(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A type. Oracle's dates have a time, so that rules on days are not for them."""
    name = tree.source_text(node, scope.reading.dialect.parser).lower()
    has_time = name == "date" and scope.reading.dialect.name == "oracle"
    return e.store.make("type", "date with a time" if has_time else name)


_MIDNIGHT: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]00:00(:00(\.0+)?)?")
"""A day as a text with its first moment, which a timestamp has without it."""


def _cast(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    kind = e.value(scope, tree.arg(node, tree.TO))
    inner = e.printed(scope, tree.this(node)) if is_text(str(kind.args[0])) else _inside(e, scope, node)
    extra = [name for name, value in node.args.items() if value and name not in (tree.THIS, tree.TO, "safe")]
    if extra:
        return e.store.make(*e.parts(scope, node))
    if inner.op == "string" and _MIDNIGHT.fullmatch(str(inner.args[0])) and str(kind.args[0]).startswith("timestamp"):
        inner = e.store.make("string", str(inner.args[0])[:10])
    if inner.op in ("cast", "trycast") and inner.args[1] is kind and node.key == "cast":
        return inner
    return cast_to(e.store, node.key, inner, kind)


def is_text(name: str) -> bool:
    """Whether a type is one of texts."""
    return type_named(name) == "text" or name.startswith(("varchar", "char", "string"))


RULES: Final[Mapping[str, Rule]] = {
    "datatype": _data_type,
    "cast": _cast,
    "trycast": _cast,
}
