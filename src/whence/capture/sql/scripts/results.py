"""What a statement of a script comes to: its lineage, status and unknowns."""

import re
from collections.abc import Iterator

from whence.capture.sql.lineage import Span, StatementLineage, Status, Table, Unknown, UnknownReason
from whence.capture.sql.provenance.confidence import PROCEDURAL
from whence.capture.sql.provenance.flows import NOTHING, Flow, merge_flows
from whence.capture.sql.provenance.relations import STAR
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.scripts.state import Script
from whence.capture.sql.statements.moves import Effects, edges_of_moves
from whence.capture.sql.syntax import tree
from whence.capture.sql.syntax.splitter import Piece, span_of


def apply_loops(reading: Reading, effects: Effects, current: Flow = NOTHING) -> None:
    """The influences on a loop's or cursor's rows also influence the statements that use its record."""
    loop_flow = merge_flows(reading.used_loops, current)
    for move in effects.moves if loop_flow else ():
        move.rows = merge_flows(move.rows, loop_flow)


def finish_statement(
    script: Script,
    piece: Piece,
    effects: Effects,
    reading: Reading,
    span: Span,
    error: str | None,
    dynamic: bool = False,
    node: tree.Node | None = None,
) -> StatementLineage:
    """The lineage of a statement from its effects, which are added to those of the script."""
    if script.observer is not None:
        script.observer.record(node, piece.text, effects, reading, span)
    temporary = {table for table in _tables(effects) if script.session.is_temporary(table)}
    if piece.procedural:
        effects.emptied = []  # it may be in a branch or a handler that does not run
    script.folding.add_statement(effects, temporary)
    factor = PROCEDURAL if piece.procedural or dynamic else 1.0
    edges = edges_of_moves(effects.moves, script.dialect.parser, factor)
    if len(edges) > script.budget.edges:
        edges, error = edges[: script.budget.edges], f"more than {script.budget.edges:,} edges"
        reading.report("budget_spent", effects.kind)
    for table in _unexpanded(effects):
        reading.report("star_not_expanded", str(table))
    if effects.unread:
        reading.report("dynamic_sql", effects.kind)
    unknowns = tuple(_locate_unknown(script, span, reason, name) for reason, name in reading.unknowns)
    status = _status(effects, bool(edges), error, bool(unknowns))
    reads = tuple(sorted(effects.reads | reading.inner_reads | _sources(effects), key=str))
    return StatementLineage(effects.kind, span, status, reads, tuple(effects.writes), edges, unknowns, error)


def _status(effects: Effects, found: bool, error: str | None, unknowns: bool) -> Status:
    if error and not found and not effects.writes:
        return "failed"
    if error or unknowns:
        return "partial"
    return "opaque" if effects.opaque else "parsed"


def _unexpanded(effects: Effects) -> Iterator[Table]:
    """The tables with unknown columns where a star, or a whole row, was written."""
    for move in effects.moves:
        for flow in () if move.copied else (move.rows, *(column.flow for column in move.columns)):
            yield from (leaf.home.table for leaf in flow if leaf.name == STAR)


def _tables(effects: Effects) -> set[Table]:
    return {
        *effects.reads,
        *effects.writes,
        *(move.target for move in effects.moves),
        *(new for _, new in effects.renames),
    }


def _sources(effects: Effects) -> set[Table]:
    """The source tables of the moves."""
    flows = (flow for move in effects.moves for flow in (move.rows, *(column.flow for column in move.columns)))
    homes = {id(leaf.home): leaf.home for flow in flows for leaf in flow}
    return {home.table for home in homes.values()}


def _locate_unknown(script: Script, span: Span, reason: UnknownReason, name: str) -> Unknown:
    """An unknown at the position of its name in the statement; else at the statement's position."""
    last = name.rpartition(".")[2]
    match = re.compile(rf"(?<![\w$]){re.escape(last)}(?![\w$])", re.IGNORECASE).search(
        script.text, span.start, span.end
    )
    if match is None:
        return Unknown(reason, name, span)
    return Unknown(reason, name, span_of(script.text, match.start(), match.end()))
