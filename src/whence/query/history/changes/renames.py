"""Renamed columns: reported only where lineage shows the rename.

It shows one if the new column has the former column of its dataset as its source (Iceberg keeps the ids of columns), or
if jobs make the new column from the same sources by the same expression as the former one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from whence.model.graph import SetEdge
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName
from whence.query.history.schemas import Columns
from whence.query.ports.graph import Past

Renames = Mapping[str, str]
"""The new name of a column → its former one."""
Value = frozenset[tuple[int, str, bool, str]]
"""How a column is made: source, subtype, masking and expression of each edge."""
MOST_STEPS = 200
"""Changes of schemas of one question for which lineage is read: the latest."""
_DIRECT, _IDENTITY = "DIRECT", "IDENTITY"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaStep:
    """A schema of a dataset that took the place of another one at a time (µs)."""

    dataset: DatasetName
    time: int
    before: Columns = field(hash=False)
    after: Columns = field(hash=False)

    @property
    def gone(self) -> AbstractSet[str]:
        """The columns that are no longer there."""
        return self.before.keys() - self.after.keys()

    @property
    def new(self) -> AbstractSet[str]:
        """The columns that were not there."""
        return self.after.keys() - self.before.keys()

    def field_id(self, column: str) -> int:
        """The id of a column."""
        return node_id(FieldName(self.dataset, column))


def find_renames(graph: Past, steps: Iterable[SchemaStep], until: int) -> Mapping[SchemaStep, Renames]:
    """The renamed columns of each step that has some. `until` (µs): the lineage of the new columns is that of then."""
    both = sorted((one for one in steps if one.gone and one.new), key=lambda one: -one.time)[:MOST_STEPS]
    found = {one: _renames(graph, one, until) for one in both}
    return {one: renames for one, renames in found.items() if renames}


def _renames(graph: Past, step: SchemaStep, until: int) -> Renames:
    gone, new = sorted(step.gone), sorted(step.new)
    owners = graph.owners([step.field_id(column) for column in (*gone, *new)])
    if not owners:
        return {}
    after = _direct_edges(graph, owners, until)
    by_source = {column: former for column in new if (former := _former_name(step, after, column))}
    before = _direct_edges(graph, owners, step.time - 1)
    return by_source | _same_values(
        step,
        {name: _value(before.get(step.field_id(name), ())) for name in gone if name not in by_source.values()},
        {name: _value(after.get(step.field_id(name), ())) for name in new if name not in by_source},
    )


def _direct_edges(graph: Past, owners: Sequence[int], at: int) -> Mapping[int, Sequence[SetEdge]]:
    """The DIRECT edges that hold at a time, by their ends."""
    found: dict[int, list[SetEdge]] = {}
    for edge in graph.content({row.set_id for row in graph.held(at, owners)}):
        if edge.type == _DIRECT:
            found.setdefault(edge.target_id, []).append(edge)
    return found


def _former_name(step: SchemaStep, after: Mapping[int, Sequence[SetEdge]], column: str) -> str:
    """The column of the same dataset that a new one is a copy of, and that is gone."""
    sources = {edge.source_id for edge in after.get(step.field_id(column), ()) if edge.subtype == _IDENTITY}
    former = [name for name in step.gone if step.field_id(name) in sources]
    return former[0] if len(former) == 1 else ""


def _value(edges: Iterable[SetEdge]) -> Value:
    """The value of a column; empty if it is not known, as without the text of an expression."""
    known = list(edges)
    if not all(edge.subtype == _IDENTITY or edge.description for edge in known):
        return frozenset()
    return frozenset((edge.source_id, edge.subtype, edge.masking, edge.description) for edge in known)


def _same_values(step: SchemaStep, before: Mapping[str, Value], after: Mapping[str, Value]) -> dict[str, str]:
    """The new columns that have the value and type of exactly one former column, which no other new one has."""
    former, later = Counter(filter(None, before.values())), Counter(filter(None, after.values()))
    by_value = {value: name for name, value in before.items()}
    return {
        name: by_value[value]
        for name, value in after.items()
        if value and former[value] == 1 == later[value] and step.before[by_value[value]] == step.after[name]
    }
