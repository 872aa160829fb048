"""The result of a query: columns in order, each with its flow, and the influences on its rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from whence.capture.sql.lineage import Table
from whence.capture.sql.provenance.confidence import SINGLE, STALE
from whence.capture.sql.provenance.flows import IDENTITY, NOTHING, TRANSFORMATION, Flow, Home, Leaf, merge_flows
from whence.capture.sql.provenance.formulas import Formula

STAR = "*"
NAMELESS = "col"
"""The name of elements without a name."""
_VALUES = IDENTITY | TRANSFORMATION


class Output:
    """One column of a relation. `fields`: the known fields of its value. `*` stands for all columns of tables with
    unknown columns, except those `hidden`.
    """

    __slots__ = ("data_type", "element", "fields", "flow", "formula", "hidden", "name", "node", "origin")

    def __init__(
        self,
        name: str,
        flow: Flow,
        fields: "Mapping[str, Output] | None" = None,
        hidden: frozenset[str] = frozenset(),
        node: object = None,
        element: bool = False,
        formula: Formula | None = None,
        origin: "Output | None" = None,
        data_type: Formula | None = None,
    ) -> None:
        self.name = name
        self.flow = flow
        self.fields = fields
        self.hidden = hidden
        self.node = node
        self.origin = origin
        """The column of a query inside that it passes on unchanged: its expression says how the values are made."""
        self.element = element
        """An element of an array: a field of it is a nested column, although the value did not arrive unchanged."""
        self.formula = formula
        """What the value is made of, if the statement is read for its meaning (`queries/meanings.py`)."""
        self.data_type = data_type
        """The type of the value, as far as the same reading tells (`fingerprint/data_types`)."""

    def with_name(self, name: str) -> "Output":
        if name == self.name:
            return self
        return self._copy(name, self.flow, self.formula, self.data_type)

    def with_flow(self, flow: Flow) -> "Output":
        return self._copy(self.name, flow, self.formula, self.data_type)

    def with_formula(self, formula: Formula | None) -> "Output":
        return self._copy(self.name, self.flow, formula, self.data_type)

    def with_type(self, data_type: Formula | None) -> "Output":
        return self._copy(self.name, self.flow, self.formula, data_type)

    def _copy(self, name: str, flow: Flow, formula: Formula | None, data_type: Formula | None) -> "Output":
        return Output(name, flow, self.fields, self.hidden, self.node, self.element, formula, self.origin, data_type)


class Relation:
    """Columns in order (names may repeat), `rows`: INDIRECT influences on all of them, `reads`: base tables."""

    __slots__ = ("_index", "_open", "_outputs", "element", "meaning", "reads", "rows")

    def __init__(self, outputs: list[Output], rows: Flow = NOTHING, reads: frozenset[Table] = frozenset()) -> None:
        self._outputs: list[Output] | None = outputs
        self.rows = rows
        self.reads = reads
        self.meaning: object = None
        """Its rows, if the statement is read for its meaning."""
        self.element: Output | None = None
        """The element of an UNNEST: its fields are columns too."""
        self._index: dict[str, Output] | None = None
        self._open: list[Output] | None = None

    @property
    def outputs(self) -> list[Output]:
        return self._outputs or []

    @property
    def index(self) -> dict[str, Output]:
        """The columns by name; of columns with the same name, the first."""
        if self._index is None:
            self._index = {}
            for output in self.outputs:
                self._index.setdefault(output.name, output)
        return self._index

    @property
    def stars(self) -> list[Output]:
        """The stars: columns of tables with unknown columns."""
        if self._open is None:
            self._open = [output for output in self.outputs if output.name == STAR]
        return self._open

    def find(self, name: str) -> Output | None:
        """The column with a known name, or None."""
        return self.index.get(name)

    def guess(self, name: str) -> Output | None:
        """A column of this name derived from the stars, or None if no star can contain it."""
        stars = [star for star in self.stars if name not in star.hidden]
        if not stars:
            return None
        formula = formula_of_star([star.formula for star in stars], name)
        flow = merge_flows(*(column_of_star(star.flow, name) for star in stars))
        return Output(name, flow, formula=formula, data_type=_own_type(formula, flow))


def _own_type(formula: Formula | None, flow: Flow) -> Formula | None:
    """The type of a column that nobody declares: it is its own."""
    if formula is None:
        return None
    names = sorted({(str(leaf.home.table), leaf.name) for leaf in flow})
    return formula.store.make("datatype_of", "column", *(part for name in names for part in name))


class Base(Relation):
    """A table with known columns. Outputs are created on demand, since most queries name only a few."""

    __slots__ = ("_columns", "_confidence", "_home", "_made", "_names", "_reason", "formula_of", "type_of")

    def __init__(self, home: Home, columns: Iterable[str], confidence: float, reason: str) -> None:
        super().__init__([], reads=frozenset((home.table,)))
        self._outputs = None
        self._home = home
        self._names = tuple(columns)
        self._columns = dict.fromkeys(self._names)
        self._confidence = confidence
        self._reason = reason
        self._made: dict[str, Output] = {}
        self._open = []
        self.formula_of: Callable[[str], Formula] | None = None
        self.type_of: Callable[[str], Formula | None] | None = None

    @property
    def outputs(self) -> list[Output]:
        if self._outputs is None:
            self._outputs = [self._output_of(name) for name in self._columns]
        return self._outputs

    def find(self, name: str) -> Output | None:
        """The column of a name, else the only one that differs in case: catalogs often omit what was quoted."""
        if name in self._columns:
            return self._output_of(name)
        other = _names_by_lower_case(self._names).get(name.lower())
        return self._output_of(other) if other is not None else None

    def stale_output(self, name: str) -> Output:
        """A column that the known schema lacks: the schema may be older than the statement."""
        formula = self.formula_of(name) if self.formula_of is not None else None
        return Output(name, {self._home.leaf(name, *STALE): IDENTITY}, formula=formula)

    @property
    def table(self) -> Table:
        return self._home.table

    def _output_of(self, name: str) -> Output:
        output = self._made.get(name)
        if output is None:
            leaf = self._home.leaf(name, self._confidence, self._reason)
            formula = self.formula_of(name) if self.formula_of is not None else None
            data_type = self.type_of(name) if self.type_of is not None else None
            output = self._made[name] = Output(name, {leaf: IDENTITY}, formula=formula, data_type=data_type)
        return output


EMPTY = Relation([])


def stale_column(relation: Relation, name: str) -> Output | None:
    """A column that the known columns of a table lack, since the table may have changed. None for other relations."""
    return relation.stale_output(name) if isinstance(relation, Base) else None


@lru_cache(maxsize=4_096)
def _names_by_lower_case(names: tuple[str, ...]) -> dict[str, str]:
    """Names by their lower case, without those that several names share."""
    by_lower_case: dict[str, str] = {}
    for name in names:
        key = name.lower()
        by_lower_case[key] = "" if key in by_lower_case else name
    return {key: name for key, name in by_lower_case.items() if name}


def base_relation(home: Home, columns: Iterable[str] | None, confidence: float, reason: str) -> Relation:
    """A table as a relation, with its known columns or a star."""
    if columns is not None:
        return Base(home, columns, confidence, reason)
    star = Output(STAR, {home.leaf(STAR, *SINGLE): IDENTITY})
    return Relation([star], reads=frozenset((home.table,)))


def with_columns(relation: Relation, names: Iterable[str]) -> Relation:
    """Add the columns that a relation must have because a statement sets them. Known columns stay unchanged."""
    if not relation.stars:
        return relation
    guessed = [relation.guess(name) for name in dict.fromkeys(names) if relation.find(name) is None]
    return Relation(
        [*(output for output in guessed if output is not None), *relation.outputs], relation.rows, relation.reads
    )


def column_of_star(flow: Flow, name: str) -> Flow:
    """The flow of a column called `name`, derived from the flow of a star."""
    return {
        leaf.home.leaf(name, leaf.confidence, leaf.reason) if leaf.name == STAR else leaf: bits
        for leaf, bits in flow.items()
    }


def lower_confidence(flow: Flow, confidence: float, reason: str) -> Flow:
    """The same leaves with at most this confidence."""
    return {
        leaf.home.leaf(leaf.name, confidence, reason) if leaf.confidence > confidence else leaf: bits
        for leaf, bits in flow.items()
    }


def field_of(output: Output, name: str) -> Output:
    """One field of a column's value. An unchanged column yields its nested column; others yield the same sources."""
    if output.fields is not None:
        known = output.fields.get(name)
        if known is not None:
            is_known = known.formula is not None or output.formula is None
            return known if is_known else known.with_formula(_field_formula(output, name))
    flow: Flow = {}
    for leaf, bits in output.flow.items():
        nested = bits == IDENTITY or (output.element and bits & _VALUES)
        inner = _nested(leaf, name) if nested and leaf.name != STAR else leaf
        flow[inner] = flow.get(inner, 0) | bits
    return Output(name, flow, element=output.element, formula=_field_formula(output, name))


def _field_formula(output: Output, name: str) -> Formula | None:
    return output.formula.store.make("field", output.formula, name) if output.formula is not None else None


def formula_of_star(stars: Sequence[Formula | None], name: str) -> Formula | None:
    """The formula of a column called `name` of one of several stars."""
    formulas = [_column_of_formula(star, name) for star in stars if star is not None]
    if len(formulas) < 2:
        return formulas[0] if formulas else None
    return formulas[0].store.make("one_of", *formulas)


def _column_of_formula(star: Formula, name: str) -> Formula:
    if star.op == "name" and star.args == (STAR,):
        return star.store.make("name", name)
    if star.op == "of" and isinstance(star.args[1], Formula):
        return star.store.make("of", star.args[0], _column_of_formula(star.args[1], name))
    return star.store.make("column_of", star, name)


def name_columns(relation: Relation, names: list[str]) -> Relation:
    """Rename the columns of a relation by a column list, if there is one."""
    if not names:
        return relation
    renamed = Relation(rename_outputs(relation.outputs, names), relation.rows, relation.reads)
    renamed.meaning = relation.meaning
    return renamed


def rename_outputs(outputs: list[Output], names: list[str]) -> list[Output]:
    """Rename columns by a column list, as far as it goes."""
    if not names or any(output.name == STAR for output in outputs[: len(names)]):
        return _name_over_star(outputs, names) if names else outputs
    return [output.with_name(name) for output, name in zip(outputs, names, strict=False)] + outputs[len(names) :]


def _name_over_star(outputs: list[Output], names: list[str]) -> list[Output]:
    """Names over a star: their columns cannot be matched, so each gets the star's flow."""
    if len(outputs) == 1:
        return [Output(name, outputs[0].flow) for name in names]
    before = next(position for position, output in enumerate(outputs) if output.name == STAR)
    after = len(outputs) - before - 1
    stars = [Output(STAR, outputs[before].flow)] * (len(names) - before - after)
    outputs_with_stars = outputs[:before] + stars + outputs[before + 1 :]
    return [output.with_name(name) for output, name in zip(outputs_with_stars, names, strict=False)]


def _nested(leaf: Leaf, name: str) -> Leaf:
    return leaf.home.leaf(f"{leaf.name}.{name}", leaf.confidence, leaf.reason)
