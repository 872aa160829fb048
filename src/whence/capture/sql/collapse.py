"""Temporary tables folded away: what flowed into them flows on to what reads them, path by path."""

from whence.capture.sql.conditions import remember
from whence.capture.sql.flows import IDENTITY, Flow, Leaf, absorb, composed, joined
from whence.capture.sql.lineage import Table
from whence.capture.sql.moves import Move, Moved
from whence.capture.sql.relations import STAR, Output, Relation


class Folding:
    """Follows a script: holds of each temporary table what its columns are made of, in terms of lasting tables."""

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

    def follow(self, done: Moved, temporary: set[Table]) -> None:
        """One statement more. `temporary`: the temporary tables that there are after it."""
        self.folds = self.folds or bool(temporary)
        folded = [self._folded(move, done.reads) for move in done.moves]
        for move in folded:
            if move.target in temporary:
                self._keep(move)
            else:
                self._moves.append(move)
        for old, new in done.renames:
            self._renamed(old, new, temporary)
        for one in done.emptied:
            self._temporary.pop(one, None)

    def _renamed(self, old: Table, new: Table, temporary: set[Table]) -> None:
        relation = self._temporary.pop(old, None)
        if relation is None:
            return
        if new in temporary:
            self._temporary[new] = relation
        else:
            self._moves.append(Move(new, relation.outputs, relation.rows))

    def _keep(self, move: Move) -> None:
        before = self._temporary.get(move.target) if move.adds else None
        if before is None:
            self._temporary[move.target] = Relation(_merged(move.columns), move.rows)
            return
        columns = _merged([*before.outputs, *move.columns])
        self._temporary[move.target] = Relation(columns, joined(before.rows, move.rows))

    def _folded(self, move: Move, reads: set[Table]) -> Move:
        rows = self._flow(move.rows)
        for table in reads:
            relation = self._temporary.get(table)
            if relation is not None and relation.rows:
                rows = joined(rows, relation.rows)
        columns = [
            Output(one.name, self._flow(one.flow), self._fields(one), one.hidden, one.node or one.name)
            for one in move.columns
        ]
        return Move(move.target, columns, rows, move.adds)

    def _fields(self, output: Output) -> dict[str, Output] | None:
        """What is known of the fields of a value, in terms of lasting tables."""
        if output.fields is None:
            return None
        return {name: Output(name, self._flow(one.flow), self._fields(one)) for name, one in output.fields.items()}

    def _flow(self, flow: Flow) -> Flow:
        if not any(leaf.home.table in self._temporary for leaf in flow):
            return flow
        into: Flow = {}
        for leaf, bits in flow.items():
            relation = self._temporary.get(leaf.home.table)
            if relation is None:
                absorb(into, {leaf: bits}, IDENTITY)
                continue
            for inner, ways in self._beneath(relation, leaf).items():
                into[inner] = into.get(inner, 0) | composed(bits, ways)
                _passed_on(leaf, inner)
        return into

    @staticmethod
    def _beneath(relation: Relation, leaf: Leaf) -> Flow:
        if leaf.name == STAR:
            return joined(*(one.flow for one in relation.outputs))
        found = relation.find(leaf.name)
        if found is None:
            name, *path = leaf.name.split(".")
            found = relation.find(name) or relation.guess(leaf.name)
            while path and found is not None and found.fields is not None and path[0] in found.fields:
                found = found.fields[path.pop(0)]
        return found.flow if found is not None else {}


def _passed_on(leaf: Leaf, inner: Leaf) -> None:
    """The conditions on a column of a temporary table are conditions on what it is made of."""
    for kind, said in leaf.conditions.items():
        for one in said:
            remember([inner], kind, one)


def _merged(columns: list[Output]) -> list[Output]:
    """One for each name: what flows in from several statements."""
    found: dict[str, Output] = {}
    for one in columns:
        before = found.get(one.name)
        found[one.name] = one if before is None else Output(one.name, joined(before.flow, one.flow), None, one.hidden)
    return list(found.values())
