"""A script: statement by statement, each on its own, with what the session learns in between."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.catalog import Catalog, Known, Session
from whence.capture.sql.collapse import Folding
from whence.capture.sql.commands import by_text, declared, literal_of, remember, table_variable
from whence.capture.sql.confidence import PROCEDURAL
from whence.capture.sql.cursors import read_cursor, rows_of
from whence.capture.sql.data_words import names_data
from whence.capture.sql.definitions import declared_columns
from whence.capture.sql.dialects import Dialect, dialect_of
from whence.capture.sql.dynamic import keep_result, run_into, run_text, without_returned
from whence.capture.sql.flows import NOTHING, Flow, joined
from whence.capture.sql.functions import words
from whence.capture.sql.lineage import (
    Budget,
    Edge,
    ScriptLineage,
    Span,
    StatementLineage,
    Status,
    Table,
    Unknown,
    UnknownReason,
)
from whence.capture.sql.moves import Moved, edges
from whence.capture.sql.parsing import Parsed, parse
from whence.capture.sql.paths import use
from whence.capture.sql.procedures import pieces
from whence.capture.sql.queries import query
from whence.capture.sql.reading import BudgetSpentError, Reading
from whence.capture.sql.relations import STAR, Output, Relation
from whence.capture.sql.scopes import Scope
from whence.capture.sql.splitter import Piece, span_of
from whence.capture.sql.statements import NoStatementError, moved, returned_rows
from whence.capture.sql.variables import QUERIED, assign, keep, query_text, set_expression

_NO_DATA = words("open close fetch deallocate call print return raise raiserror throw go commit rollback begin end")
"""Verbs of statements that move no data, and that the parser takes for something else."""

_CONTROLS = ("DECLA", "FETCH", "OPEN ", "SET @")
"""How statements about cursors begin outside of procedures."""


@dataclass(slots=True)
class Script:
    """One script on its way."""

    text: str
    dialect: Dialect
    budget: Budget
    session: Session
    folding: Folding = field(default_factory=Folding)
    texts: dict[str, str] = field(default_factory=dict)
    """Variables that hold a literal text, for dynamic SQL."""
    variables: dict[str, Output] = field(default_factory=dict)
    """Variables and records, with what they were set to."""
    statements: list[StatementLineage] = field(default_factory=list)
    loops: dict[str, Flow] = field(default_factory=dict)
    """What chose the rows that a loop runs over, by the name of its record."""
    cursors: dict[str, Relation] = field(default_factory=dict)
    """The queries of cursors, by their names."""
    procedural: bool = False


def read_script(text: str, dialect: str, catalog: Catalog | None = None, budget: Budget | None = None) -> ScriptLineage:
    """The lineage of a script, statement by statement. Raises DialectError for a dialect that is not known.

    What cannot be read is in the answer, with its position; one bad statement never loses the others.
    """
    rules = dialect_of(dialect)
    known = catalog or Catalog({})
    script = Script(
        text,
        rules,
        budget or Budget(),
        Session(known, list(known.defaults), ("#", "@") if rules.name == "tsql" else ("#",)),
    )
    for piece in pieces(text, rules):
        _read(script, piece)
    return ScriptLineage(tuple(script.statements), _collapsed(script))


def _collapsed(script: Script) -> tuple[Edge, ...]:
    """The edges of all statements; folded where there are temporary tables."""
    if not script.folding.folds and len(script.statements) == 1:
        return script.statements[0].edges
    factor = PROCEDURAL if script.procedural else 1.0
    return edges(script.folding.moves, script.dialect.parser, factor)


def _read(script: Script, piece: Piece) -> None:
    """One piece. Whatever goes wrong is said in its answer: lineage never breaks the caller's job (promise 6)."""
    try:
        _read_piece(script, piece)
    except Exception as failure:
        span = span_of(script.text, piece.start, min(len(script.text), piece.start + len(piece.text)))
        error = f"could not be read: {type(failure).__name__}: {failure}"
        script.statements.append(StatementLineage(_verb(piece.text), span, "failed", error=error))


def _read_piece(script: Script, piece: Piece) -> None:
    span = span_of(script.text, piece.start, min(len(script.text), piece.start + len(piece.text)))
    script.procedural = script.procedural or piece.procedural
    _learn(script, piece)
    if piece.head:
        return
    if block := _block_in(script, piece):
        for inner in block:
            _read(script, replace(inner, start=piece.start))
        return
    if piece.procedural and (queried := QUERIED.match(piece.text)):
        _keep_value(script, piece, queried, span)
        return
    if piece.procedural or piece.text[:5].upper() in _CONTROLS:
        reading = _reading(script, piece)
        if (done := _control(script, reading, piece)) is not None:
            script.statements.append(_answer(script, piece, done, reading, span, None))
            return
    if _run(script, piece, span):
        return
    text, returned = without_returned(piece.text) if script.dialect.name != "tsql" else (piece.text, [])
    parsed = parse(text, script.dialect, script.budget)
    if piece.condition:
        _read_condition(script, piece, parsed, span)
        return
    if parsed.error is not None:
        _failed(script, piece, parsed, span)
        return
    for node in parsed.nodes:
        script.statements.append(_statement(script, piece, node, span, returned))


def _block_in(script: Script, piece: Piece) -> list[Piece]:
    """The statements of a block in `EXECUTE IMMEDIATE $$ BEGIN … END $$`; none if its text is something else."""
    if piece.text[:7].upper() != "EXECUTE":
        return []
    text = literal_of(piece.text, script.texts)
    inside = pieces(text, script.dialect) if text is not None else []
    return inside if any(one.procedural for one in inside) else []


def _control(script: Script, reading: Reading, piece: Piece) -> Moved | None:
    """A statement about cursors, or one that sets a variable to an expression; None if it is another one."""
    done = read_cursor(reading, script.cursors, piece.text)
    if done is not None or not piece.procedural:
        return done
    return set_expression(reading, piece.text)


def _read_condition(script: Script, piece: Piece, parsed: Parsed, span: Span) -> None:
    """The queries in a condition that controls the flow: they are read, and move nothing."""
    reading = _reading(script, piece)
    done = Moved("if", unread=parsed.error is not None)
    for node in parsed.nodes:
        done.reads |= query(node, Scope(reading)).reads
    script.statements.append(_answer(script, piece, done, reading, span, parsed.error))


def _learn(script: Script, piece: Piece) -> None:
    """What a piece says of variables."""
    remember(script.texts, piece.text)
    for name in declared(piece.text):
        script.variables.setdefault(name, Output(name, NOTHING))
    table = table_variable(piece.text)
    if table is not None:
        nodes = parse(f"CREATE TABLE x {table[1]}", script.dialect, script.budget).nodes
        columns = [
            declared_columns(_reading(script, piece), tree.this(node)) for node in nodes if isinstance(node, c.Create)
        ]
        script.session.own[Table((table[0],))] = Known(columns[0] if columns else None, temporary=True)


def _failed(script: Script, piece: Piece, parsed: Parsed, span: Span) -> None:
    """No tree: perhaps its text still says what it does; else it is a failure, unless a procedure's own language."""
    done = by_text(_reading(script, piece), piece.text)
    if done is not None:
        script.statements.append(_answer(script, piece, done, _reading(script, piece), span, None))
        return
    kind = _verb(piece.text)
    quiet = not names_data(piece.text, script.dialect)
    if piece.procedural and quiet and kind in ("set", "declare", "let", "return", "perform", "prepare"):
        script.statements.append(StatementLineage(kind, span, "opaque"))
        return
    unknowns = (Unknown("budget_spent", kind, span),) if parsed.spent else ()
    script.statements.append(StatementLineage(kind, span, "failed", unknowns=unknowns, error=parsed.error))


def _reading(script: Script, piece: Piece) -> Reading:
    deadline = time.thread_time() + script.budget.seconds
    reading = Reading(script.dialect, script.session, deadline, query, _not_here, piece.procedural, script.variables)
    reading.loops = script.loops
    reading.inner = lambda node, scope: returned_rows(reading, node, scope)
    return reading


def _not_here(node: tree.Node, scope: Scope) -> Relation:
    raise NotImplementedError


def _statement(
    script: Script, piece: Piece, node: tree.Node, span: Span, returned: Sequence[str] = ()
) -> StatementLineage:
    reading = _reading(script, piece)
    try:
        done = by_text(reading, piece.text) if _is_text(node) else None
        done = done or (assign(reading, node) if isinstance(node, c.Set | c.Declare) else None)
        done = done or (use(reading, node) if isinstance(node, c.Use | c.Set) else moved(reading, node))
        _add(done, reading)
        error = _left_unread(script, piece, node, done)
    except BudgetSpentError:
        done, error = Moved(node.key), f"not read within {script.budget.seconds} s"
        reading.report("budget_spent", node.key)
    except NoStatementError:
        done = Moved(_verb(piece.text), opaque=True)
        error = None if done.kind in _NO_DATA else "this is not a statement"
    except RecursionError:
        done, error = Moved(node.key), "queries nest too deep"
        reading.report("budget_spent", node.key)
    except Exception as failure:  # lineage never breaks the caller's job (promise 6)
        done, error = Moved(node.key), f"could not be read: {type(failure).__name__}: {failure}"
    _run_loops(reading, done, rows_of(script.cursors, piece.text) if script.cursors else NOTHING)
    if returned:
        keep_result(reading, done, returned)
    if piece.record is not None:
        _keep_record(script, piece.record, done)
    return _answer(script, piece, done, reading, span, error)


def _is_text(node: tree.Node) -> bool:
    """Whether the tree of a statement does not say what it does."""
    if isinstance(node, c.Create):
        return str(tree.arg(node, tree.KIND)).upper() == "DICTIONARY"
    return isinstance(node, c.Command | c.Execute | c.ExecuteSql)


def _left_unread(script: Script, piece: Piece, node: tree.Node, done: Moved) -> str | None:
    """Why a statement is not read of which no rule says what it moves, although its words say that it moves data."""
    if not done.opaque or isinstance(node, c.Drop | c.Use | c.Set | c.Execute | c.ExecuteSql):
        return None
    if done.kind == "execute" or not names_data(piece.text, script.dialect):
        return None
    return f"this form of {_verb(piece.text).upper()} is not read, and it may move data"


def _keep_record(script: Script, name: str, done: Moved) -> None:
    """The query of a loop gives no result, but its record has what it reads; what chose its rows runs the loop."""
    fields = {one.name: one for move in done.moves for one in move.columns}
    script.variables[name] = Output(name, NOTHING, fields)
    script.loops[name] = joined(*(move.rows for move in done.moves))
    done.moves.clear()


def _keep_value(script: Script, piece: Piece, queried: re.Match[str], span: Span) -> None:
    """A variable that a query gives its value."""
    reading = _reading(script, piece)
    done = Moved("set")
    for node in parse(query_text(queried), script.dialect, script.budget).nodes:
        relation = query(node, Scope(reading))
        keep(reading, queried.group("name").lower(), relation)
        done.reads |= relation.reads
    script.statements.append(_answer(script, piece, done, reading, span, None))


def _add(done: Moved, reading: Reading) -> None:
    """What the statements inside of WITH do, before the statement itself."""
    for inner in reading.also:
        if isinstance(inner, Moved):
            done.moves[:0] = inner.moves
            done.reads |= inner.reads
            done.writes += [table for table in inner.writes if table not in done.writes]
            done.opaque = False


def _run(script: Script, piece: Piece, span: Span) -> bool:
    """Whether a piece runs a text that is known; then what that does is kept."""
    if piece.text[:4].upper() not in ("EXEC", "PREP", "PERF"):
        return False
    text = literal_of(piece.text, script.texts)
    if text is None:
        return False
    reading = _reading(script, piece)
    done = run_text(reading, text, script.budget)
    if names := run_into(piece.text):
        keep_result(reading, done, names)
    _run_loops(reading, done)
    script.statements.append(_answer(script, piece, done, reading, span, None, dynamic=True))
    return True


def _run_loops(reading: Reading, done: Moved, current: Flow = NOTHING) -> None:
    """What a loop or a cursor runs over chooses the rows of the statements that use its record."""
    looped = joined(reading.looped, current)
    for move in done.moves if looped else ():
        move.rows = joined(move.rows, looped)


def _answer(
    script: Script,
    piece: Piece,
    done: Moved,
    reading: Reading,
    span: Span,
    error: str | None,
    dynamic: bool = False,
) -> StatementLineage:
    temporary = {table for table in _tables(done) if script.session.is_temporary(table)}
    if piece.procedural:
        done.emptied = []  # perhaps: in a branch, or a handler
    script.folding.follow(done, temporary)
    factor = PROCEDURAL if piece.procedural or dynamic else 1.0
    found = edges(done.moves, script.dialect.parser, factor)
    if len(found) > script.budget.edges:
        found, error = found[: script.budget.edges], f"more than {script.budget.edges:,} edges"
        reading.report("budget_spent", done.kind)
    for table in _unexpanded(done):
        reading.report("star_not_expanded", str(table))
    if done.unread:
        reading.report("dynamic_sql", done.kind)
    unknowns = tuple(_unknown(script, span, reason, name) for reason, name in reading.unknowns)
    status = _status(done, bool(found), error, bool(unknowns))
    reads = tuple(sorted(done.reads | reading.inner_reads | _sources(done), key=str))
    return StatementLineage(done.kind, span, status, reads, tuple(done.writes), found, unknowns, error)


def _status(done: Moved, found: bool, error: str | None, unknowns: bool) -> Status:
    if error and not found and not done.writes:
        return "failed"
    if error or unknowns:
        return "partial"
    return "opaque" if done.opaque else "parsed"


def _unexpanded(done: Moved) -> Iterator[Table]:
    """The tables whose columns are not known where a star, or a whole row, was written."""
    for move in done.moves:
        for flow in () if move.copied else (move.rows, *(one.flow for one in move.columns)):
            yield from (leaf.home.table for leaf in flow if leaf.name == STAR)


def _tables(done: Moved) -> set[Table]:
    return {*done.reads, *done.writes, *(move.target for move in done.moves), *(new for _, new in done.renames)}


def _sources(done: Moved) -> set[Table]:
    """The tables that what is moved comes from."""
    flows = (flow for move in done.moves for flow in (move.rows, *(one.flow for one in move.columns)))
    homes = {id(leaf.home): leaf.home for flow in flows for leaf in flow}
    return {home.table for home in homes.values()}


def _unknown(script: Script, span: Span, reason: UnknownReason, name: str) -> Unknown:
    """Where a name is written, if it is found in the statement; else the statement."""
    last = name.rpartition(".")[2]
    found = re.compile(rf"(?<![\w$]){re.escape(last)}(?![\w$])", re.IGNORECASE).search(
        script.text, span.start, span.end
    )
    if found is None:
        return Unknown(reason, name, span)
    return Unknown(reason, name, span_of(script.text, found.start(), found.end()))


def _verb(text: str) -> str:
    found = re.match(r"\W*(\w+)", text)
    return found.group(1).lower() if found else "unknown"
