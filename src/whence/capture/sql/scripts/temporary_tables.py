"""Folding of temporary tables: flows into them continue to their readers, path by path."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.provenance.flows import IDENTITY, Flow, Leaf, absorb, compose, merge_flows
from whence.capture.sql.provenance.relations import STAR, Output, Relation
from whence.capture.sql.queries.conditions import keep_condition
from whence.capture.sql.statements.moves import Effects, Move


class TemporaryTableFolding:
    """Tracks a script: the columns of each temporary table, in terms of lasting tables."""

    __slots__ = ("_moves", "_temporary", "folds")

    def __init__(self) -> None:
        self._temporary: dict[Table, Relation] = {}
        self._moves: list[Move] = []
        self.folds = False
        """Whether there is anything to fold."""

    @property
    def moves(self) -> list[Move]:
        """The moves into lasting tables so far."""
        return self._moves

    def add_statement(self, effects: Effects, temporary: set[Table]) -> None:
        """Add one statement. `temporary`: the temporary tables after it."""
        self.folds = self.folds or bool(temporary)
        folded = [self._fold_move(move, effects.reads) for move in effects.moves]
        for move in folded:
            if move.target in temporary:
                self._store(move)
            else:
                self._moves.append(move)
        for old, new in effects.renames:
            self._rename(old, new, temporary)
        for table in effects.emptied:
            self._temporary.pop(table, None)

    def _rename(self, old: Table, new: Table, temporary: set[Table]) -> None:
        relation = self._temporary.pop(old, None)
        if relation is None:
            return
        if new in temporary:
            self._temporary[new] = relation
        else:
            self._moves.append(Move(new, relation.outputs, relation.rows))

    def _store(self, move: Move) -> None:
        before = self._temporary.get(move.target) if move.adds else None
        if before is None:
            self._temporary[move.target] = Relation(_merge_columns(move.columns), move.rows)
            return
        columns = _merge_columns([*before.outputs, *move.columns])
        self._temporary[move.target] = Relation(columns, merge_flows(before.rows, move.rows))

    def _fold_move(self, move: Move, reads: set[Table]) -> Move:
        rows = self._fold_flow(move.rows)
        for table in reads:
            relation = self._temporary.get(table)
            if relation is not None and relation.rows:
                rows = merge_flows(rows, relation.rows)
        columns = [
            Output(
                column.name,
                self._fold_flow(column.flow),
                self._fold_fields(column),
                column.hidden,
                column.node or column.name,
            )
            for column in move.columns
        ]
        return Move(move.target, columns, rows, move.adds)

    def _fold_fields(self, output: Output) -> dict[str, Output] | None:
        """The known fields of a value, in terms of lasting tables."""
        if output.fields is None:
            return None
        return {
            name: Output(name, self._fold_flow(one.flow), self._fold_fields(one)) for name, one in output.fields.items()
        }

    def _fold_flow(self, flow: Flow) -> Flow:
        if not any(leaf.home.table in self._temporary for leaf in flow):
            return flow
        into: Flow = {}
        for leaf, bits in flow.items():
            relation = self._temporary.get(leaf.home.table)
            if relation is None:
                absorb(into, {leaf: bits}, IDENTITY)
                continue
            for inner, ways in self._underlying_flow(relation, leaf).items():
                into[inner] = into.get(inner, 0) | compose(bits, ways)
                _pass_conditions(leaf, inner)
        return into

    @staticmethod
    def _underlying_flow(relation: Relation, leaf: Leaf) -> Flow:
        if leaf.name == STAR:
            return merge_flows(*(output.flow for output in relation.outputs))
        output = relation.find(leaf.name)
        if output is None:
            name, *path = leaf.name.split(".")
            output = relation.find(name) or relation.guess(leaf.name)
            while path and output is not None and output.fields is not None and path[0] in output.fields:
                output = output.fields[path.pop(0)]
        return output.flow if output is not None else {}


def _pass_conditions(leaf: Leaf, inner: Leaf) -> None:
    """Pass the conditions on a temporary table's column on to its sources."""
    for kind, conditions in leaf.conditions.items():
        for condition in conditions:
            keep_condition([inner], kind, condition)


def _merge_columns(columns: list[Output]) -> list[Output]:
    """Merge columns of the same name: their flows from several statements."""
    merged: dict[str, Output] = {}
    for column in columns:
        before = merged.get(column.name)
        merged[column.name] = (
            column
            if before is None
            else Output(column.name, merge_flows(before.flow, column.flow), None, column.hidden)
        )
    return list(merged.values())
