"""The moves of a statement: targets with their columns and flows. Edges are generated from moves at the end."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from whence.capture.sql.lineage import Column, Edge, Table
from whence.capture.sql.provenance.flows import KINDS, Flow, edge_kinds
from whence.capture.sql.provenance.relations import Output, Relation, base_relation
from whence.capture.sql.queries.conditions import condition_texts
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


@dataclass(slots=True)
class Move:
    """One target: the columns that are set, and the influences on its rows."""

    target: Table
    columns: list[Output]
    rows: Flow = field(default_factory=dict)
    adds: bool = True
    """The rows are added to existing ones; otherwise the target is new, or overwritten."""
    copied: bool = False
    """An unchanged table, by CLONE or SWAP: nothing of it is unknown, even without known columns."""
    meaning: object = None
    """The rows of the query that gives the columns, if the statement is read for its meaning."""


@dataclass(slots=True)
class Effects:
    """All effects of one statement."""

    kind: str
    moves: list[Move] = field(default_factory=list)
    reads: set[Table] = field(default_factory=set)
    writes: list[Table] = field(default_factory=list)
    renames: list[tuple[Table, Table]] = field(default_factory=list)
    emptied: list[Table] = field(default_factory=list)
    """Tables that lost all their previous rows."""
    opaque: bool = False
    """Its text shows no data movement."""
    unread: bool = False
    """It runs SQL that its text does not contain."""

    def add_move(self, move: Move, reads: Iterable[Table] = ()) -> None:
        self.moves.append(move)
        self.reads.update(reads)
        if move.target not in self.writes:
            self.writes.append(move.target)


def copy_all_columns(reading: Reading, target: Table, source: Table) -> Move:
    """Move all columns of a table to another one: by name, as far as they are known."""
    columns, confidence, reason = reading.session.columns(source)
    if columns is None:
        columns, confidence, reason = reading.session.columns(target)
    relation = base_relation(reading.home(source), columns, confidence, reason)
    return Move(target, relation.outputs, copied=True)


def move_of_relation(target: Table, relation: Relation, adds: bool = True) -> Move:
    return Move(target, relation.outputs, relation.rows, adds, meaning=relation.meaning)


def edges_of_moves(moves: Iterable[Move], grammar: str, factor: float = 1.0) -> tuple[Edge, ...]:
    """The set of edges of moves. Of equal edges the one with the higher confidence remains."""
    edges: dict[tuple[object, ...], Edge] = {}
    for move in moves:
        for output in move.columns:
            text = _text(output, grammar) if output.flow else ""
            _add_column_edges(edges, output.flow, Column(move.target, output.name), text, factor)
        _add_row_edges(edges, move, grammar, factor)
    return tuple(edges.values())


def _add_column_edges(
    edges: dict[tuple[object, ...], Edge], flow: Flow, target: Column, text: str, factor: float
) -> None:
    name, table = target.name, target.table
    for leaf, bits in flow.items():
        for kind, subtype, masking in edge_kinds(bits):
            key = (leaf.home.table.parts, leaf.name, table.parts, name, subtype)  # hashes faster than an edge's ends
            edge = Edge(leaf.column, target, kind, subtype, masking, text, leaf.confidence * factor, leaf.reason)
            before = edges.get(key)
            edges[key] = edge if before is None else _more_confident(before, edge)


def _add_row_edges(edges: dict[tuple[object, ...], Edge], move: Move, grammar: str, factor: float) -> None:
    """Add the edges of the influences on rows, with their conditions."""
    parts = move.target.parts
    for leaf, bits in move.rows.items():
        for kind, subtype, masking in edge_kinds(bits):
            text = condition_texts(leaf, KINDS[subtype], grammar)
            key = (leaf.home.table.parts, leaf.name, parts, None, subtype)
            edge = Edge(leaf.column, move.target, kind, subtype, masking, text, leaf.confidence * factor, leaf.reason)
            before = edges.get(key)
            edges[key] = edge if before is None else _more_confident(before, edge)


def _more_confident(edge: Edge, other: Edge) -> Edge:
    """The more confident of two equal edges. It is masked only if both are, and has an expression if both have it."""
    best = other if other.confidence > edge.confidence else edge
    text = best.expression if edge.expression == other.expression else ""
    masking = edge.masking and other.masking
    if (best.masking, best.expression) == (masking, text):
        return best
    return replace(best, masking=masking, expression=text)


def _text(output: Output, grammar: str) -> str:
    """The expression of a column, generated once, since generating text may change the tree."""
    if output.origin is not None:
        return _text(output.origin, grammar)
    if isinstance(output.node, tree.Node):
        inside = tree.this(output.node) if isinstance(output.node, c.Alias) else output.node
        output.node = tree.source_text(inside, grammar)
    return output.node if isinstance(output.node, str) else output.name
