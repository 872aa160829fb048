"""Situations of the rows of LEFT JOINs: where none is found, all columns are NULL; where one is, its keys are not NULL,
and EXISTS finds it.
"""

from collections.abc import Iterator

from whence.capture.sql.fingerprint.normal_forms.decisions.diagrams import MISSING, Diagram, Node, Variable
from whence.capture.sql.fingerprint.normal_forms.decisions.joined_values import (
    is_joined,
    is_sure,
    joined_parts,
    own_row,
)
from whence.capture.sql.fingerprint.normal_forms.decisions.situations import HOLDS, Situations
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas

_Known = frozenset[tuple[Formula, bool]]
"""Rows that are known to be found, or not to be."""


def with_rows(situations: Situations, diagram: Diagram) -> Diagram:
    """The diagram without situations in which a row is found and is not: the other part stands for each."""
    sources = {source for one in _variables(diagram, set()) if (source := _read_row(one)) is not None}
    return _Rows(situations, sources).visit(diagram, frozenset()) if sources else diagram


class _Rows:
    def __init__(self, situations: Situations, sources: set[Formula]) -> None:
        self.situations = situations
        self.searches = {_search(situations.store, one): one for one in sources}
        """The rows by the EXISTS that asks for them."""
        self._memo: dict[tuple[int, _Known], Diagram] = {}

    def visit(self, diagram: Diagram, known: _Known) -> Diagram:
        if not isinstance(diagram, Node):
            return diagram
        key = (id(diagram), known)
        if key not in self._memo:
            self._memo[key] = self._visit(diagram, known)
        return self._memo[key]

    def _visit(self, node: Node, known: _Known) -> Diagram:
        searched = self.searches.get(node.variable.values[0]) if node.variable.kind == HOLDS else None
        source = searched or _read_row(node.variable)
        if source is None:
            return self._node(node, [(part, known) for part in node.parts])
        found, missing = node.parts[::-1] if searched is not None else node.parts
        tells = searched is not None or is_sure(*formulas_of(node.variable.values[0]))
        if (source, False) in known:
            return self.visit(missing, known)
        if (source, True) in known and tells:
            return self.visit(found, known)
        with_row = known | {(source, True)}
        if not tells and self.visit(missing, with_row) is self.visit(found, with_row):
            return self.visit(missing, known)
        after = {id(found): with_row, id(missing): known | {(source, False)} if tells else known}
        return self._node(node, [(part, after[id(part)]) for part in node.parts])

    def _node(self, node: Node, parts: list[tuple[Diagram, _Known]]) -> Diagram:
        return self.situations.diagrams.node(node.variable, node.cuts, [self.visit(*one) for one in parts])


def _variables(diagram: Diagram, seen: set[int]) -> Iterator[Variable]:
    if isinstance(diagram, Node) and id(diagram) not in seen:
        seen.add(id(diagram))
        yield diagram.variable
        for part in diagram.parts:
            yield from _variables(part, seen)


def _read_row(variable: Variable) -> Formula | None:
    """The row of a LEFT JOIN of which a variable asks whether a column is NULL."""
    value = variable.values[0]
    source = formulas_of(value)[0] if variable.kind == MISSING and value.op == "of" else None
    return source if source is not None and is_joined(source) else None


def _search(store: Formulas, source: Formula) -> Formula:
    """The EXISTS that looks for the row that a LEFT JOIN finds, or for one of its group."""
    rows, on = joined_parts(source)
    if rows.op == "group" and isinstance(rows.args[1], Formula) and rows.args[1].args:
        rows = formulas_of(rows)[0]
    own, inside = own_row(store), store.make("src", 0, store.make("label", rows))

    def moved(part: Formula) -> Formula:
        if part is own:
            return inside
        if part.op == "src" and isinstance(part.args[0], int):
            return store.make("src", part.args[0] + 1, *part.args[1:])
        if part.op == "of":
            return store.make("of", moved(part.parts[0]), part.parts[1])
        return part if part.op in BINDERS else store.rebuild(part, moved)

    conditions = store.make("set", *map(moved, formulas_of(on)))
    return store.make("exists", store.make("block", store.make("bag", inside), conditions, store.make("bag")))
