"""What a statement moves: targets with their columns and what flows into them. Edges are made of moves at the end."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.conditions import texts
from whence.capture.sql.flows import KINDS, Flow, edges_of
from whence.capture.sql.lineage import Column, Edge, Table
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import Output, Relation, base


@dataclass(slots=True)
class Move:
    """One target: columns that are set, and what influences its rows."""

    target: Table
    columns: list[Output]
    rows: Flow = field(default_factory=dict)
    adds: bool = True
    """To what is there already; else the target is new, or overwritten."""
    copied: bool = False
    """A table as it is, by CLONE or SWAP: nothing of it is unknown, whatever its columns are."""


@dataclass(slots=True)
class Moved:
    """All that one statement does."""

    kind: str
    moves: list[Move] = field(default_factory=list)
    reads: set[Table] = field(default_factory=set)
    writes: list[Table] = field(default_factory=list)
    renames: list[tuple[Table, Table]] = field(default_factory=list)
    emptied: list[Table] = field(default_factory=list)
    """Tables that hold nothing any more of what was in them before."""
    opaque: bool = False
    """It moves no data that its text tells of."""
    unread: bool = False
    """It runs SQL that its text does not hold."""

    def into(self, move: Move, reads: Iterable[Table] = ()) -> None:
        self.moves.append(move)
        self.reads.update(reads)
        if move.target not in self.writes:
            self.writes.append(move.target)


def whole(reading: Reading, target: Table, source: Table) -> Move:
    """All columns of a table to another one: by name, as far as they are known."""
    columns, confidence, reason = reading.session.columns(source)
    if columns is None:
        columns, confidence, reason = reading.session.columns(target)
    relation = base(reading.home(source), columns, confidence, reason)
    return Move(target, relation.outputs, copied=True)


def of_relation(target: Table, relation: Relation, adds: bool = True) -> Move:
    return Move(target, relation.outputs, relation.rows, adds)


def edges(moves: Iterable[Move], grammar: str, factor: float = 1.0) -> tuple[Edge, ...]:
    """The set of edges of moves; of the same edge said twice, the surer one."""
    found: dict[tuple[object, ...], Edge] = {}
    for move in moves:
        for output in move.columns:
            text = _text(output, grammar) if output.flow else ""
            _edges(found, output.flow, Column(move.target, output.name), text, factor)
        _row_edges(found, move, grammar, factor)
    return tuple(found.values())


def _edges(found: dict[tuple[object, ...], Edge], flow: Flow, target: Column, text: str, factor: float) -> None:
    name, table = target.name, target.table
    for leaf, bits in flow.items():
        for kind, subtype, masking in edges_of(bits):
            key = (leaf.home.table.parts, leaf.name, table.parts, name, subtype)  # hashes faster than an edge's ends
            edge = Edge(leaf.column, target, kind, subtype, masking, text, leaf.confidence * factor, leaf.reason)
            before = found.get(key)
            found[key] = edge if before is None else _surer(before, edge)


def _row_edges(found: dict[tuple[object, ...], Edge], move: Move, grammar: str, factor: float) -> None:
    """What decides on the rows, with the conditions in which it does."""
    parts = move.target.parts
    for leaf, bits in move.rows.items():
        for kind, subtype, masking in edges_of(bits):
            text = texts(leaf, KINDS[subtype], grammar)
            key = (leaf.home.table.parts, leaf.name, parts, None, subtype)
            edge = Edge(leaf.column, move.target, kind, subtype, masking, text, leaf.confidence * factor, leaf.reason)
            before = found.get(key)
            found[key] = edge if before is None else _surer(before, edge)


def _surer(one: Edge, other: Edge) -> Edge:
    """The same edge said twice: the surer one. It is masked only if it is in both."""
    best = other if other.confidence > one.confidence else one
    return best if best.masking == (one.masking and other.masking) else replace(best, masking=False)


def _text(output: Output, grammar: str) -> str:
    """The expression of a column, made once: generating text may change the tree."""
    if isinstance(output.node, tree.Node):
        inside = tree.this(output.node) if isinstance(output.node, c.Alias) else output.node
        output.node = tree.source_text(inside, grammar)
    return output.node if isinstance(output.node, str) else output.name
