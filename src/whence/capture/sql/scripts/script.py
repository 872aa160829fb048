"""A script: each statement by itself, with the session state between them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.dialects.functions import words
from whence.capture.sql.lineage import Budget, Edge, ScriptLineage, Span, StatementLineage, Table, Unknown
from whence.capture.sql.names.catalog import Catalog, DeclaredTable, Session
from whence.capture.sql.provenance.confidence import PROCEDURAL
from whence.capture.sql.provenance.flows import NOTHING, merge_flows
from whence.capture.sql.provenance.relations import Output
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import BudgetSpentError, Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.scripts.commands import (
    declared_variables,
    executed_text,
    read_by_text,
    remember_text,
    table_variable,
)
from whence.capture.sql.scripts.dynamic import into_variables, run_text, split_returning, store_result
from whence.capture.sql.scripts.observer import Observer
from whence.capture.sql.scripts.procedures import split_script
from whence.capture.sql.scripts.results import apply_loops, finish_statement
from whence.capture.sql.scripts.search_path import read_use
from whence.capture.sql.scripts.state import Script, open_reading
from whence.capture.sql.statements.cursors import current_row_flow, read_cursor
from whence.capture.sql.statements.definitions import declared_columns
from whence.capture.sql.statements.moves import Effects, edges_of_moves
from whence.capture.sql.statements.statements import NoStatementError, read_statement
from whence.capture.sql.statements.variables import (
    QUERY_ASSIGNMENT,
    assign,
    query_text,
    set_expression,
    store_query_value,
)
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree
from whence.capture.sql.syntax.data_words import has_data_verbs
from whence.capture.sql.syntax.parsing import Parsed, parse
from whence.capture.sql.syntax.splitter import Piece, span_of

_NO_DATA = words("open close fetch deallocate call print return raise raiserror throw go commit rollback begin end")
"""Verbs of statements that move no data, and that the parser misreads."""

_CONTROLS = ("DECLA", "FETCH", "OPEN ", "SET @")
"""The first words of statements about cursors outside of procedures."""


def read_script(
    text: str,
    dialect: str,
    catalog: Catalog | None = None,
    budget: Budget | None = None,
    observer: Observer | None = None,
) -> ScriptLineage:
    """Read the lineage of a script, statement by statement. Raises DialectError for an unknown dialect.

    Unreadable parts are reported with their position; one bad statement never loses the others. `observer` receives
    what the statements mean.
    """
    rules = dialect_of(dialect)
    known = catalog or Catalog({})
    session = Session(known, list(known.defaults), ("#", "@") if rules.name == "tsql" else ("#",))
    script = Script(text, rules, budget or Budget(), session, observer=observer)
    for piece in split_script(text, rules):
        _read(script, piece)
    return ScriptLineage(tuple(script.statements), _collapse(script))


def _collapse(script: Script) -> tuple[Edge, ...]:
    """The edges of all statements, folded if there are temporary tables."""
    if not script.folding.folds and len(script.statements) == 1:
        return script.statements[0].edges
    factor = PROCEDURAL if script.procedural else 1.0
    return edges_of_moves(script.folding.moves, script.dialect.parser, factor)


def _read(script: Script, piece: Piece) -> None:
    """Read one piece. Any failure is reported in its answer: lineage never breaks the caller's job (promise 6)."""
    try:
        _read_piece(script, piece)
    except Exception as failure:
        span = span_of(script.text, piece.start, min(len(script.text), piece.start + len(piece.text)))
        error = f"could not be read: {type(failure).__name__}: {failure}"
        script.statements.append(StatementLineage(_verb(piece.text), span, "failed", error=error))


def _read_piece(script: Script, piece: Piece) -> None:
    span = span_of(script.text, piece.start, min(len(script.text), piece.start + len(piece.text)))
    script.procedural = script.procedural or piece.procedural
    _learn_variables(script, piece)
    if piece.head:
        return
    if block := _block_in(script, piece):
        for inner in block:
            _read(script, replace(inner, start=piece.start))
        return
    if piece.procedural and (queried := QUERY_ASSIGNMENT.match(piece.text)):
        _store_query_value(script, piece, queried, span)
        return
    if piece.procedural or piece.text[:5].upper() in _CONTROLS:
        reading = open_reading(script, piece)
        if (effects := _control(script, reading, piece)) is not None:
            script.statements.append(finish_statement(script, piece, effects, reading, span, None))
            return
    if _run_literal(script, piece, span):
        return
    text, returned = split_returning(piece.text) if script.dialect.name != "tsql" else (piece.text, [])
    parsed = parse(text, script.dialect, script.budget)
    if piece.condition:
        _read_condition(script, piece, parsed, span)
        return
    if parsed.error is not None:
        _record_failure(script, piece, parsed, span)
        return
    for node in parsed.nodes:
        script.statements.append(_read_node(script, piece, node, span, returned))


def _block_in(script: Script, piece: Piece) -> list[Piece]:
    """The statements of a block in `EXECUTE IMMEDIATE $$ BEGIN … END $$`; empty for other texts."""
    if piece.text[:7].upper() != "EXECUTE":
        return []
    text = executed_text(piece.text, script.texts)
    inner_pieces = split_script(text, script.dialect) if text is not None else []
    return inner_pieces if any(inner.procedural for inner in inner_pieces) else []


def _control(script: Script, reading: Reading, piece: Piece) -> Effects | None:
    """Read a statement about cursors, or one that sets a variable to an expression. None for others."""
    effects = read_cursor(reading, script.cursors, piece.text)
    if effects is not None or not piece.procedural:
        return effects
    return set_expression(reading, piece.text)


def _read_condition(script: Script, piece: Piece, parsed: Parsed, span: Span) -> None:
    """Read the queries of a control-flow condition. They read tables and move nothing."""
    reading = open_reading(script, piece)
    effects = Effects("if", unread=parsed.error is not None)
    for node in parsed.nodes:
        effects.reads |= query(node, Scope(reading)).reads
    script.statements.append(finish_statement(script, piece, effects, reading, span, parsed.error))


def _learn_variables(script: Script, piece: Piece) -> None:
    """Record the variables that a piece declares or sets."""
    remember_text(script.texts, piece.text)
    for name in declared_variables(piece.text):
        script.variables.setdefault(name, Output(name, NOTHING))
    table = table_variable(piece.text)
    if table is not None:
        nodes = parse(f"CREATE TABLE x {table[1]}", script.dialect, script.budget).nodes
        columns = [
            declared_columns(open_reading(script, piece), tree.this(node))
            for node in nodes
            if isinstance(node, c.Create)
        ]
        script.session.declared[Table((table[0],))] = DeclaredTable(columns[0] if columns else None, temporary=True)


def _record_failure(script: Script, piece: Piece, parsed: Parsed, span: Span) -> None:
    """Record a statement without a tree: read its text, else report a failure, unless it is procedural."""
    effects = read_by_text(open_reading(script, piece), piece.text)
    if effects is not None:
        script.statements.append(finish_statement(script, piece, effects, open_reading(script, piece), span, None))
        return
    kind = _verb(piece.text)
    has_no_data = not has_data_verbs(piece.text, script.dialect)
    if piece.procedural and has_no_data and kind in ("set", "declare", "let", "return", "perform", "prepare"):
        script.statements.append(StatementLineage(kind, span, "opaque"))
        return
    unknowns = (Unknown("budget_spent", kind, span),) if parsed.spent else ()
    script.statements.append(StatementLineage(kind, span, "failed", unknowns=unknowns, error=parsed.error))


def _read_node(
    script: Script, piece: Piece, node: tree.Node, span: Span, returned: Sequence[str] = ()
) -> StatementLineage:
    reading = open_reading(script, piece)
    try:
        effects = read_by_text(reading, piece.text) if _is_text(node) else None
        effects = effects or (assign(reading, node) if isinstance(node, c.Set | c.Declare) else None)
        effects = effects or (
            read_use(reading, node) if isinstance(node, c.Use | c.Set) else read_statement(reading, node)
        )
        _add_nested(effects, reading)
        error = _unread_reason(script, piece, node, effects)
    except BudgetSpentError:
        effects, error = Effects(node.key), f"not read within {script.budget.seconds} s"
        reading.report("budget_spent", node.key)
    except NoStatementError:
        effects = Effects(_verb(piece.text), opaque=True)
        error = None if effects.kind in _NO_DATA else "this is not a statement"
    except RecursionError:
        effects, error = Effects(node.key), "queries nest too deep"
        reading.report("budget_spent", node.key)
    except Exception as failure:  # lineage never breaks the caller's job (promise 6)
        effects, error = Effects(node.key), f"could not be read: {type(failure).__name__}: {failure}"
    apply_loops(reading, effects, current_row_flow(script.cursors, piece.text) if script.cursors else NOTHING)
    if returned:
        store_result(reading, effects, returned)
    if piece.record is not None:
        _keep_record(script, piece.record, effects)
    return finish_statement(script, piece, effects, reading, span, error, node=node)


def _is_text(node: tree.Node) -> bool:
    """Whether the tree of a statement does not show its effects."""
    if isinstance(node, c.Create):
        return str(tree.arg(node, tree.KIND)).upper() == "DICTIONARY"
    return isinstance(node, c.Command | c.Execute | c.ExecuteSql)


def _unread_reason(script: Script, piece: Piece, node: tree.Node, effects: Effects) -> str | None:
    """Why a statement is unread: no rule reads its form, although its words indicate data movement."""
    if not effects.opaque or isinstance(node, c.Drop | c.Use | c.Set | c.Execute | c.ExecuteSql):
        return None
    if effects.kind == "execute" or not has_data_verbs(piece.text, script.dialect):
        return None
    return f"this form of {_verb(piece.text).upper()} is not read, and it may move data"


def _keep_record(script: Script, name: str, effects: Effects) -> None:
    """Store the result of a loop's query in its record. The influences on its rows run the loop."""
    fields = {column.name: column for move in effects.moves for column in move.columns}
    script.variables[name] = Output(name, NOTHING, fields)
    script.loops[name] = merge_flows(*(move.rows for move in effects.moves))
    effects.moves.clear()


def _store_query_value(script: Script, piece: Piece, queried: re.Match[str], span: Span) -> None:
    """Set a variable to the value of a query."""
    reading = open_reading(script, piece)
    effects = Effects("set")
    for node in parse(query_text(queried), script.dialect, script.budget).nodes:
        relation = query(node, Scope(reading))
        store_query_value(reading, queried.group("name").lower(), relation)
        effects.reads |= relation.reads
    script.statements.append(finish_statement(script, piece, effects, reading, span, None))


def _add_nested(effects: Effects, reading: Reading) -> None:
    """Add the effects of the statements inside of WITH, before those of the statement itself."""
    for inner in reading.nested_effects:
        if isinstance(inner, Effects):
            effects.moves[:0] = inner.moves
            effects.reads |= inner.reads
            effects.writes += [table for table in inner.writes if table not in effects.writes]
            effects.opaque = False


def _run_literal(script: Script, piece: Piece, span: Span) -> bool:
    """Read the literal text that a piece runs. Returns whether there is one."""
    if piece.text[:4].upper() not in ("EXEC", "PREP", "PERF"):
        return False
    text = executed_text(piece.text, script.texts)
    if text is None:
        return False
    reading = open_reading(script, piece)
    effects = run_text(reading, text, script.budget)
    if names := into_variables(piece.text):
        store_result(reading, effects, names)
    apply_loops(reading, effects)
    script.statements.append(finish_statement(script, piece, effects, reading, span, None, dynamic=True))
    return True


def _verb(text: str) -> str:
    word = re.match(r"\W*(\w+)", text)
    return word.group(1).lower() if word else "unknown"
