"""The tables that a script writes, with the formulas of their columns and the signature of their rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.capture.sql.fingerprint.blocks import close_block
from whence.capture.sql.fingerprint.meaning import Meaning, Model
from whence.capture.sql.fingerprint.normal_forms.statements.changed_rows import ChangedRows, read_changed_rows
from whence.capture.sql.fingerprint.normal_forms.statements.merge_texts import merge_text
from whence.capture.sql.fingerprint.select import StatementMeanings
from whence.capture.sql.lineage import Budget, ScriptLineage, Span, Table
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.provenance.relations import STAR, Output
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.scripts.script import read_script
from whence.capture.sql.statements.moves import Effects, Move
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A column that a statement writes. `text`: its expression; `line` counts from 1 in the script."""

    name: str
    formula: Formula
    text: str = ""
    line: int = 0
    data_type: Formula | None = None
    """Its type as a term; None if it is not known what it depends on, or the table has one of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one statement writes into one table.

    `text` is the statement as it was written. `is_positional`: the values go to columns of unknown names, so that their
    order decides. `missing` are the names that no source has. `problem`: why a part of the statement was not read.
    """

    table: Table
    kind: str
    rows: Formula
    columns: tuple[TargetColumn, ...]
    order: tuple[Formula, ...] = ()
    text: str = ""
    span: Span
    is_positional: bool = False
    missing: tuple[str, ...] = ()
    problem: str = ""
    is_temporary: bool = False


@dataclass(frozen=True, slots=True)
class ScriptTargets:
    """All that a script writes. `others`: statements that write nothing a reader of columns would see, as text."""

    targets: tuple[Target, ...]
    others: tuple[str, ...]
    lineage: ScriptLineage

    def model(self, table: Table) -> Model | None:
        """A table's rows and columns, if one statement alone builds it."""
        found = [target for target in self.targets if target.table == table]
        return model_of(found[0]) if len(found) == 1 else None


def model_of(target: Target) -> Model:
    types = {column.name: column.data_type for column in target.columns}
    return Model(target.rows, {column.name: column.formula for column in target.columns}, types)


def read_targets(
    text: str,
    dialect: str,
    store: Formulas,
    catalog: Catalog | None = None,
    models: Mapping[Table, Model] | None = None,
    budget: Budget | None = None,
    functions: Mapping[str, str] | None = None,
) -> ScriptTargets:
    """What a script writes, by meaning. `models`: tables that count as what they are made of, not as tables.
    `functions`: the definitions of functions that it may call, by name.

    Raises DialectError, and nothing else.
    """
    store.dialect = dialect
    observer = _Observer(store, dict(models or {}), functions or {})
    lineage = read_script(text, dialect, catalog, budget, observer)
    observer.add_failures(lineage, text)
    return ScriptTargets(tuple(observer.targets), tuple(observer.others), lineage)


@dataclass(slots=True)
class _Observer:
    store: Formulas
    models: dict[Table, Model]
    functions: Mapping[str, str]
    targets: list[Target] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    current: StatementMeanings | None = None

    def meanings(self) -> StatementMeanings:
        self.current = StatementMeanings(self.store, self.models, self.functions)
        return self.current

    def record(self, node: tree.Node | None, text: str, effects: Effects, reading: Reading, span: Span) -> None:
        grammar = reading.dialect.parser
        if not effects.moves and not effects.writes:
            if not isinstance(node, c.Use):
                self.others.append(_normal_text(node, text, grammar))
            return
        written = {move.target for move in effects.moves}
        for move in effects.moves:
            self._add(self._target(node, text, effects, reading, move, span))
        for table in effects.writes:
            if table not in written:
                changed = self._changed(reading, node)
                rows = changed.rows if changed is not None else self._rows_of_text(node, text, grammar)
                self._add(Target(table=table, kind=effects.kind, rows=rows, columns=(), text=text, span=span))

    def _add(self, target: Target) -> None:
        self.targets.append(target)
        if target.kind in ("create", "select", "cache") and target.columns:
            self.models[target.table] = model_of(target)

    def _target(
        self, node: tree.Node | None, text: str, effects: Effects, reading: Reading, move: Move, span: Span
    ) -> Target:
        grammar = reading.dialect.parser
        missing = tuple(name for reason, name in reading.unknowns if reason == "column_not_found")
        known = reading.session.columns(move.target)[0] is not None
        outputs = move.columns
        if isinstance(move.meaning, Meaning) and _is_whole(node):
            values = [self._inserted(node, self._formula(output)) for output in outputs]
            rows, closed = close_block(self.store, move.meaning.block, [*values, *move.meaning.order])
            rows = self._decorated(node, rows, grammar, known)
        elif (changed := self._changed(reading, node)) is not None and {one.name for one in outputs} <= set(
            changed.columns
        ):
            outputs = list({one.name: one for one in outputs}.values())
            rows, closed = changed.rows, [changed.columns[one.name] for one in outputs]
        else:
            rows = self._rows_of_text(node, text, grammar)
            closed = [self.store.make("of", rows, self.store.make("name", output.name)) for output in outputs]
        has_own_types = isinstance(node, c.Insert | c.Merge | c.Update)
        columns = [
            TargetColumn(
                output.name,
                value,
                _text(output, grammar),
                _line(output, span),
                None if has_own_types else output.data_type,
            )
            for output, value in zip(outputs, closed, strict=False)
        ]
        is_listed = isinstance(node, c.Insert) and isinstance(tree.this(node), c.Schema)
        return Target(
            table=move.target,
            kind=effects.kind,
            rows=rows,
            columns=tuple(columns),
            order=tuple(closed[len(outputs) :]),
            text=text,
            span=span,
            is_positional=isinstance(node, c.Insert) and not is_listed and not known,
            missing=missing,
            problem=_problem(reading),
            is_temporary=reading.session.is_temporary(move.target),
        )

    def _changed(self, reading: Reading, node: tree.Node | None) -> ChangedRows | None:
        """What a statement changes, if it is an UPDATE, DELETE or MERGE of a form that is read."""
        return read_changed_rows(self.store, reading, node, self.current.close) if self.current is not None else None

    def _formula(self, output: Output) -> Formula:
        if output.formula is not None:
            return output.formula
        return self.store.make("volatile", "unread", output.name)

    def _inserted(self, node: tree.Node | None, value: Formula) -> Formula:
        """A value that is written. INSERT gives NULL the type of its column."""
        is_null = value.op in ("cast", "trycast") and value.args[0] is self.store.make("null")
        return self.store.make("null") if is_null and isinstance(node, c.Insert) else value

    def _rows_of_text(self, node: tree.Node | None, text: str, grammar: str) -> Formula:
        """Rows of a statement that is compared as a whole: UPDATE, MERGE, DELETE, COPY and the like."""
        if isinstance(node, c.Merge):
            return self.store.make("statement", merge_text(node, grammar))
        return self.store.make("statement", _normal_text(node, text, grammar))

    def _decorated(self, node: tree.Node | None, rows: Formula, grammar: str, is_known: bool) -> Formula:
        """INSERT's own clauses: partitions, conflicts, what is overwritten.

        `is_known`: the columns of the table are known, so that BY NAME and positions lead to the same names.
        """
        if not isinstance(node, c.Insert):
            return rows
        named = (tree.BY_NAME,) if is_known else ()
        clauses = [
            (name, value)
            for name, value in sorted(node.args.items())
            if value and name not in (tree.THIS, tree.EXPRESSION, tree.WITH, tree.RETURNING, "stored", *named)
        ]
        partition = tree.arg(tree.this(node), tree.PARTITION) if isinstance(tree.this(node), tree.Node) else None
        clauses += [("target_partition", partition)] if partition is not None else []
        parts: list[str] = []
        for name, value in clauses:
            parts += [name, tree.source_text(value, grammar) if isinstance(value, tree.Node) else str(value)]
        return self.store.make("insert", rows, *parts) if parts else rows

    def add_failures(self, lineage: ScriptLineage, text: str) -> None:
        """Statements that could not be read count as their text, and make the script's targets uncertain."""
        for statement in lineage:
            if statement.status == "failed":
                self.others.append(f"\0{text[statement.span.start : statement.span.end]}")


def _is_whole(node: tree.Node | None) -> bool:
    """Whether the moves of a statement show all that it does."""
    if isinstance(node, c.Insert):
        return tree.arg(node, tree.CONFLICT) is None
    return isinstance(node, c.Query | c.Create | c.Alter | c.Cache | c.Values | c.Pivot)


def _problem(reading: Reading) -> str:
    for reason in ("budget_spent", "dynamic_sql"):
        for found, name in reading.unknowns:
            if found == reason:
                return f"{reason} {name}"
    return ""


def _normal_text(node: tree.Node | None, text: str, grammar: str) -> str:
    return (tree.source_text(node, grammar) if node is not None else "") or text


def _text(output: Output, grammar: str) -> str:
    node = output.node
    if isinstance(node, c.Alias):
        node = tree.this(node)
    if output.name == STAR:
        return "*"
    if not isinstance(node, tree.Node):
        return str(node or output.name)
    return tree.plain_name(node) or tree.source_text(node.copy(), grammar)


def _line(output: Output, span: Span) -> int:
    node: Any = output.node
    if not isinstance(node, tree.Node):
        return span.line
    lines = [one.meta["line"] for one in node.find_all(c.Identifier) if "line" in one.meta]
    return span.line + min(lines) - 1 if lines else span.line
