"""Windows in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.windows import (
    frame_of,
    is_default_frame,
    make_window,
    turn_lead,
)
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, _inside
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _offset(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """LAG and LEAD: the offset is 1 unless another one is given."""
    default = tree.arg(node, "default")
    offset = tree.arg(node, "offset")
    distance = e.value(scope, offset) if offset is not None else e.store.make("number", "1")
    rest = [e.value(scope, default)] if default is not None and default.key != "null" else []
    return e.store.make(node.key, e.inside(scope, node), distance, *rest)


def _frame(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A frame without an end ends with the current row."""
    end = ("end", e.store.make("text", "CURRENT ROW")) if not tree.arg(node, "end") else ()
    kind, *rest = e.parts(scope, node)
    return e.store.make(kind, *end, *rest)


def _window(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A window function. Named windows are written out; the partition has no order."""
    function = _inside(e, scope, node)
    chain = _window_chain(scope, node)
    keys = [e.value(scope, key) for frame in chain for key in tree.list_arg(frame, tree.PARTITION_BY)]
    orders = [tree.arg(frame, tree.ORDER) for frame in chain]
    order = [e.value(scope, item) for clause in orders if clause is not None for item in tree.items(clause)]
    function, order = turn_lead(e.store, function, order)
    clauses = [spec for frame in chain for spec in (tree.arg(frame, "spec"),) if spec is not None]
    texts = [tree.source_text(spec, scope.reading.dialect.parser) for spec in clauses]
    kept = [spec for spec, text in zip(clauses, texts, strict=True) if not is_default_frame(text, bool(order))]
    frames = [frame_of(e.store, tree.source_text(spec, scope.reading.dialect.parser)) for spec in kept]
    specs = [frame or e.value(scope, spec) for frame, spec in zip(frames, kept, strict=True)]
    rest = [str(tree.arg(node, name)) for name in (tree.OVER, "first") if tree.arg(node, name)]
    return make_window(e.store, function, e.store.make("set", *keys), order, specs, rest)


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


def _ordered(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    flags = [name for name in ("desc", "nulls_first") if tree.arg(node, name)]
    return e.store.make("ordered", *flags, _inside(e, scope, node))


def _nth(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """NTH_VALUE, which FROM LAST counts from the other end."""
    is_from_last = node.args.get("from_first") is False
    return e.store.make(*e.parts(scope, node), *(("from last",) if is_from_last else ()))


RULES: Final[Mapping[str, Rule]] = {
    "windowspec": _frame,
    "nthvalue": _nth,
    "lag": _offset,
    "lead": _offset,
    "window": _window,
    "ordered": _ordered,
}
