"""What a query gives: columns in order, each with its flow, and what influences which rows there are."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from whence.capture.sql.confidence import SINGLE, STALE
from whence.capture.sql.flows import IDENTITY, NOTHING, TRANSFORMATION, Flow, Home, Leaf, joined
from whence.capture.sql.lineage import Table

STAR = "*"
NAMELESS = "col"
"""What elements are called where nothing names them."""
_VALUES = IDENTITY | TRANSFORMATION


class Output:
    """One column of a relation. `fields`: what is known of the fields of its value. `*` stands for all columns of
    tables whose columns are not known, except those `hidden`."""

    __slots__ = ("element", "fields", "flow", "hidden", "name", "node")

    def __init__(
        self,
        name: str,
        flow: Flow,
        fields: "Mapping[str, Output] | None" = None,
        hidden: frozenset[str] = frozenset(),
        node: object = None,
        element: bool = False,
    ) -> None:
        self.name = name
        self.flow = flow
        self.fields = fields
        self.hidden = hidden
        self.node = node
        self.element = element
        """An element of an array: a field of it is a nested column, although the value did not come as it is."""

    def called(self, name: str) -> "Output":
        if name == self.name:
            return self
        return Output(name, self.flow, self.fields, self.hidden, self.node, self.element)

    def with_flow(self, flow: Flow) -> "Output":
        return Output(self.name, flow, self.fields, self.hidden, self.node, self.element)


class Relation:
    """Columns in order (names may repeat), `rows`: INDIRECT influences on all of them, `reads`: base tables."""

    __slots__ = ("_index", "_open", "_outputs", "element", "reads", "rows")

    def __init__(self, outputs: list[Output], rows: Flow = NOTHING, reads: frozenset[Table] = frozenset()) -> None:
        self._outputs: list[Output] | None = outputs
        self.rows = rows
        self.reads = reads
        self.element: Output | None = None
        """What UNNEST gives: its fields are columns too."""
        self._index: dict[str, Output] | None = None
        self._open: list[Output] | None = None

    @property
    def outputs(self) -> list[Output]:
        return self._outputs or []

    @property
    def index(self) -> dict[str, Output]:
        """The columns by name; the first of those with the same."""
        if self._index is None:
            self._index = {}
            for output in self.outputs:
                self._index.setdefault(output.name, output)
        return self._index

    @property
    def opens(self) -> list[Output]:
        """The stars: columns that are not known by name."""
        if self._open is None:
            self._open = [output for output in self.outputs if output.name == STAR]
        return self._open

    def find(self, name: str) -> Output | None:
        """A column known by its name."""
        return self.index.get(name)

    def guess(self, name: str) -> Output | None:
        """A column of this name out of the stars, if there are any that may have it."""
        stars = [star for star in self.opens if name not in star.hidden]
        return Output(name, joined(*(opened(star.flow, name) for star in stars))) if stars else None


class Base(Relation):
    """A table with known columns. Most queries name a few of them: each is made when it is asked for."""

    __slots__ = ("_columns", "_confidence", "_found", "_home", "_names", "_reason")

    def __init__(self, home: Home, columns: Iterable[str], confidence: float, reason: str) -> None:
        super().__init__([], reads=frozenset((home.table,)))
        self._outputs = None
        self._home = home
        self._names = tuple(columns)
        self._columns = dict.fromkeys(self._names)
        self._confidence = confidence
        self._reason = reason
        self._found: dict[str, Output] = {}
        self._open = []

    @property
    def outputs(self) -> list[Output]:
        if self._outputs is None:
            self._outputs = [self._made(name) for name in self._columns]
        return self._outputs

    def find(self, name: str) -> Output | None:
        """A column by its name; else the only one that differs in case: catalogs often do not say what was quoted."""
        if name in self._columns:
            return self._made(name)
        other = _folded(self._names).get(name.lower())
        return self._made(other) if other is not None else None

    def missing(self, name: str) -> Output:
        """A column that is not known: the schema may be older than the statement."""
        return Output(name, {self._home.leaf(name, *STALE): IDENTITY})

    def _made(self, name: str) -> Output:
        found = self._found.get(name)
        if found is None:
            leaf = self._home.leaf(name, self._confidence, self._reason)
            found = self._found[name] = Output(name, {leaf: IDENTITY})
        return found


EMPTY = Relation([])


def stale_column(relation: Relation, name: str) -> Output | None:
    """A column of a table whose known columns do not have it, but which may have changed since."""
    return relation.missing(name) if isinstance(relation, Base) else None


@lru_cache(maxsize=4_096)
def _folded(names: tuple[str, ...]) -> dict[str, str]:
    """Names by their lower case; without those that several have."""
    found: dict[str, str] = {}
    for name in names:
        key = name.lower()
        found[key] = "" if key in found else name
    return {key: name for key, name in found.items() if name}


def base(home: Home, columns: Iterable[str] | None, confidence: float, reason: str) -> Relation:
    """A table, with the columns that are known of it."""
    if columns is not None:
        return Base(home, columns, confidence, reason)
    star = Output(STAR, {home.leaf(STAR, *SINGLE): IDENTITY})
    return Relation([star], reads=frozenset((home.table,)))


def with_columns(relation: Relation, names: Iterable[str]) -> Relation:
    """A relation with columns that it must have, since a statement sets them; one that is known stays as it is."""
    if not relation.opens:
        return relation
    guessed = [relation.guess(name) for name in dict.fromkeys(names) if relation.find(name) is None]
    return Relation([*(one for one in guessed if one is not None), *relation.outputs], relation.rows, relation.reads)


def opened(flow: Flow, name: str) -> Flow:
    """The flow of a column called `name`, out of the flow of a star."""
    return {
        leaf.home.leaf(name, leaf.confidence, leaf.reason) if leaf.name == STAR else leaf: bits
        for leaf, bits in flow.items()
    }


def weakened(flow: Flow, confidence: float, reason: str) -> Flow:
    """The same leaves, less sure."""
    return {
        leaf.home.leaf(leaf.name, confidence, reason) if leaf.confidence > confidence else leaf: bits
        for leaf, bits in flow.items()
    }


def field(output: Output, name: str) -> Output:
    """One field of a column's value: of a column that came unchanged, its nested column; else of the same sources."""
    if output.fields is not None:
        known = output.fields.get(name)
        if known is not None:
            return known
    flow: Flow = {}
    for leaf, bits in output.flow.items():
        nested = bits == IDENTITY or (output.element and bits & _VALUES)
        inner = _nested(leaf, name) if nested and leaf.name != STAR else leaf
        flow[inner] = flow.get(inner, 0) | bits
    return Output(name, flow, element=output.element)


def listed(relation: Relation, names: list[str]) -> Relation:
    """A relation under the names of a column list, if there is one."""
    return Relation(renamed(relation.outputs, names), relation.rows, relation.reads) if names else relation


def renamed(outputs: list[Output], names: list[str]) -> list[Output]:
    """Columns with the names of a column list, as far as it goes."""
    if not names or any(output.name == STAR for output in outputs[: len(names)]):
        return _listed(outputs, names) if names else outputs
    return [output.called(name) for output, name in zip(outputs, names, strict=False)] + outputs[len(names) :]


def _listed(outputs: list[Output], names: list[str]) -> list[Output]:
    """Names over a star: which column each is cannot be known, so each has what the star has."""
    if len(outputs) == 1:
        return [Output(name, outputs[0].flow) for name in names]
    before = next(place for place, output in enumerate(outputs) if output.name == STAR)
    after = len(outputs) - before - 1
    stars = [Output(STAR, outputs[before].flow)] * (len(names) - before - after)
    whole = outputs[:before] + stars + outputs[before + 1 :]
    return [output.called(name) for output, name in zip(whole, names, strict=False)]


def _nested(leaf: Leaf, name: str) -> Leaf:
    return leaf.home.leaf(f"{leaf.name}.{name}", leaf.confidence, leaf.reason)
