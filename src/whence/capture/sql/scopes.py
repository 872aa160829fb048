"""What names mean inside one query: its sources, its own aliases, what is around it."""

from whence.capture.sql import tree
from whence.capture.sql.confidence import EITHER, REMAINING, one_of
from whence.capture.sql.flows import IDENTITY, NOTHING, TRANSFORMATION, Flow, joined, stepped
from whence.capture.sql.lineage import Table
from whence.capture.sql.names import cased, column_name
from whence.capture.sql.pseudocolumns import FILES, kind_of, special_names
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import NAMELESS, STAR, Output, Relation, stale_column, weakened
from whence.capture.sql.relations import field as field_of


class Source:
    """Something in FROM: the name that it goes by, and what it gives. `parts`: the name of its table, if it is one."""

    __slots__ = ("bare", "name", "parts", "relation")

    def __init__(self, name: str, relation: Relation, parts: tuple[str, ...] = (), bare: bool = True) -> None:
        self.name = name
        self.relation = relation
        self.parts = parts
        self.bare = bare
        """Its columns can be named without it; not so `excluded`."""


ROWS_ARE_VALUES = frozenset({"postgres", "bigquery", "duckdb"})
"""Dialects in which the name of a table stands for its row."""


def _has_columns(source: Source) -> bool:
    """Whether a source surely has columns that are not known: an element that has a name may be a plain value."""
    relation = source.relation
    return bool(relation.opens) or (relation.element is not None and NAMELESS in relation.index)


class Scope:
    """The names that one query can use. A scope is made new for every query, and changes while FROM is read."""

    __slots__ = (
        "_found",
        "_parts",
        "_row",
        "aliases",
        "aside",
        "before",
        "bound",
        "ctes",
        "extra_reads",
        "merged",
        "outer",
        "proven",
        "reading",
        "scalars",
        "shared",
        "sources",
        "standing",
        "windows",
    )

    def __init__(self, reading: Reading, outer: "Scope | None" = None) -> None:
        self.reading = reading
        self.outer = outer
        self.sources: list[Source] = []
        self.aside: list[Source] = []
        """Sources that decide on rows, and that nothing else can name any more."""
        self._row: list[Output] = []
        self._parts: list[Relation] = []
        """What `*` stands for: columns, and sources behind them whose columns nobody asked for yet."""
        self.merged: dict[str, Output] = {}
        """Columns that USING and NATURAL made one."""
        self.ctes: dict[str, Relation] = outer.ctes if outer else reading.ctes
        self.aliases: dict[str, Output] = {}
        """The select list's own names, as far as this clause sees them."""
        self.before = False
        """Aliases win over columns."""
        self.bound: frozenset[str] = frozenset()
        """Parameters of a lambda."""
        self.windows: dict[str, tree.Node] = {}
        self.shared = False
        """Several sources are the same table: T-SQL's `inserted` and `deleted`."""
        self.proven: set[str] = set()
        """Columns that a source must have, since they were named before any alias of that name."""
        self.scalars: dict[str, tree.Node] = {}
        """ClickHouse's `WITH expression AS name`."""
        self.standing: Output | None = None
        """The column that COLUMNS(…) stands for."""
        self.extra_reads: set[Table] = set()
        """Tables that only queries inside of expressions read."""
        self._found: dict[str, Output | None] = {}

    def add(self, source: Source, visible: bool = True) -> None:
        self.sources.append(source)
        self._found.clear()
        if visible:
            self._parts.append(source.relation)

    @property
    def row(self) -> list[Output]:
        """What `*` stands for."""
        if self._parts:
            self._row = [*self._row, *(output for part in self._parts for output in part.outputs)]
            self._parts = []
        return self._row

    @row.setter
    def row(self, outputs: list[Output]) -> None:
        self._row, self._parts = outputs, []

    def set_aside(self, sources: list[Source]) -> None:
        """From here on nothing can name these: the right sides of SEMI and ANTI joins."""
        if sources:
            self.aside += sources
            self.sources = [one for one in self.sources if one not in sources]
            self.forget()

    def query(self, node: tree.Node) -> Relation:
        """A query inside of an expression."""
        relation = self.reading.query(node, self)
        self.extra_reads |= relation.reads
        self.reading.inner_reads |= relation.reads
        return relation

    def forget(self) -> None:
        """Names may mean something else from here on."""
        self._found.clear()

    def sets(self, name: str, flow: Flow) -> None:
        """MySQL sets columns from left to right: from here on a column is what was set."""
        self._found[name] = Output(name, flow)

    def value(self, parts: list[tree.Node], fields: list[tree.Node]) -> Output:
        """The value that a path of names means; nothing, and a known unknown, if there is none."""
        dialect = self.reading.dialect
        names = [column_name(dialect, part) for part in parts + fields]
        scope: Scope | None = self
        guesses: list[Output] = []
        is_rival = False
        while scope is not None:
            if names[0] in scope.bound:
                return Output(names[-1], NOTHING)
            found = scope.known(names, parts) if len(names) > 1 else scope.named(names[0])
            if found is not None and is_rival and len(names) == 1 and names[0] not in scope.aliases:
                # The inner one is meant if it has the column, and its columns are not known.
                self.reading.report("column_ambiguous", names[0])
                return Output(found.name, joined(*(weakened(one.flow, *one_of(2)) for one in (guesses[0], found))))
            if found is not None:
                return found
            guessed = None if guesses else scope.guess(names, parts)
            if guessed is not None:
                guesses.append(guessed)
                scope.proven.add(names[0])
                is_rival = any(map(_has_columns, scope.sources))
            scope = scope.outer
        if guesses:
            return guesses[0]
        return self._unknown(names, parts)

    def known(self, names: list[str], parts: list[tree.Node]) -> Output | None:
        """`t.a`, `s.t.a`, `a.field`: the longest name of a source wins, then a column with fields."""
        for length in range(min(len(names) - 1, 3), 0, -1):
            source = self.source(names[:length], parts)
            if source is None:
                continue
            found = _of_source(source, names[length])
            if found is not None and self._is_added(source, names[length], parts):
                return Output(names[length], NOTHING)
            if found is not None:
                return _fields(found, names[length + 1 :])
            nested = source.relation.find(".".join(names[length:]))
            if nested is not None or length == 1:
                return nested or self._lost(source, names, parts)
        whole = self.named(names[0])
        if whole is not None:
            return _fields(whole, names[1:])
        return self.named(".".join(names))

    def _is_added(self, source: Source, name: str, parts: list[tree.Node]) -> bool:
        """Whether the engine adds this column to each table, and the source does not have its own."""
        if name.lower() not in special_names(self.reading.dialect) or not source.relation.opens:
            return False
        if source.relation.find(name) is not None or name.lower() in FILES:
            return False
        return kind_of(self.reading.dialect, parts) == "pseudo"

    def source(self, names: list[str], parts: list[tree.Node] | None = None) -> Source | None:
        """The source with this name: its alias, or the end of its table's name."""
        if len(names) == 1:
            for source in self.sources:
                if source.name == names[0]:
                    return source
            return None
        wanted = [name.lower() for name in names]
        for source in self.sources:
            if [part.lower() for part in source.parts[-len(names) :]] == wanted:
                return source
        return None

    def named(self, name: str) -> Output | None:
        """A column without a qualifier, as far as it is known by name."""
        if self.before and name in self.aliases:
            return self.aliases[name]
        found = self._found.get(name, self)
        if found is self:
            found = self._found[name] = self._column_named(name)
        return found if isinstance(found, Output) else self.aliases.get(name)

    def guess(self, names: list[str], parts: list[tree.Node]) -> Output | None:
        """A column that one of the open sources may have; less sure where the name may be a pseudo-column."""
        special = names[0].lower() in special_names(self.reading.dialect)
        kind = kind_of(self.reading.dialect, parts[:1]) if special else "column"
        if kind == "pseudo" and not (names[0].lower() in FILES and len(self.sources) == 1):
            return None
        found = self._guess(names)
        if found is None or kind != "either":
            return found
        self.reading.report("column_ambiguous", names[0])
        return Output(found.name, weakened(found.flow, *EITHER), found.fields)

    def _guess(self, names: list[str]) -> Output | None:
        """Sure if one open source can have the column, else a candidate of each."""
        if len(names) > 1 and (self.source(names[:1]) is not None or not self._has_fields(names)):
            return None
        if names[0].lower() in self.reading.variables:
            return None
        if len(names) == 1 and self._is_open_row(names[0]):
            return self._whole_row(names)
        candidates = [found for found in (one.relation.guess(names[0]) for one in self.sources) if found is not None]
        if len(candidates) > 1 and self.shared:
            relations = {id(source.relation): source.relation for source in self.sources}.values()
            candidates = [found for found in (one.guess(names[0]) for one in relations) if found is not None]
        if not candidates:
            return self._guess_field(names)
        homes = len({leaf.home for leaf in candidates[0].flow})
        if len(candidates) == 1 and homes > 1:
            self.reading.report("column_ambiguous", names[0])
            return _fields(Output(names[0], weakened(candidates[0].flow, *one_of(homes))), names[1:])
        if len(candidates) == 1:
            known = len(self.sources) > 1 and any(not source.relation.opens for source in self.sources)
            found = candidates[0]
            if known:
                found = Output(names[0], weakened(found.flow, *REMAINING))
            return _fields(found, names[1:])
        self.reading.report("column_ambiguous", names[0])
        flows = [weakened(found.flow, *one_of(len(candidates))) for found in candidates]
        return _fields(Output(names[0], joined(*flows)), names[1:])

    def _is_open_row(self, name: str) -> bool:
        """Whether a name is an alias of a table whose columns are not known, where such a name can be a row."""
        if self.reading.dialect.name not in ROWS_ARE_VALUES:
            return False
        source = self.source([name])
        own = source.parts[-1].lower() if source is not None and source.parts else ""
        return source is not None and own not in ("", name.lower()) and bool(source.relation.opens)

    def _has_fields(self, names: list[str]) -> bool:
        """Whether `a.b` may be a field, where no source is called `a`."""
        return self.reading.dialect.structs and names[0].lower() not in (
            "new",
            "old",
            "excluded",
            "inserted",
            "deleted",
        )

    def _guess_field(self, names: list[str]) -> Output | None:
        """A field of what UNNEST gives, used like a column; a file's own columns."""
        elements = [one.relation.element for one in self.sources if one.relation.element is not None]
        if len(elements) == 1:
            return _fields(elements[0], names)
        reads = self.sources[0].relation.reads if len(self.sources) == 1 else ()
        if names[0].lower() not in FILES or len(reads) != 1:
            return None
        home = self.reading.home(next(iter(reads)))
        return Output(names[0], {home.leaf(names[0]): IDENTITY})

    def _column_named(self, name: str) -> Output | None:
        merged = self.merged.get(name)
        if merged is not None:
            return merged
        found = [
            one for one in (source.relation.find(name) for source in self.sources if source.bare) if one is not None
        ]
        if not found:
            return _of_source(self.sources[0], name) if _is_place(name) and len(self.sources) == 1 else None
        if len(found) == 1:
            return found[0]
        self.reading.report("column_ambiguous", name)
        return Output(name, joined(*(weakened(one.flow, *one_of(len(found))) for one in found)))

    def _lost(self, source: Source, names: list[str], parts: list[tree.Node]) -> Output | None:
        """A qualified column that its source does not have."""
        name = names[1]
        if kind_of(self.reading.dialect, parts[:2]) == "column":
            self.reading.report("column_not_found", ".".join(names))
            stale = stale_column(source.relation, name) if len(names) == 2 else None
            if stale is not None:
                return stale
        return Output(name, NOTHING)

    def _unknown(self, names: list[str], parts: list[tree.Node]) -> Output:
        variable = self.reading.variable(names[0].lower())
        if variable is not None:
            return _fields(variable, names[1:]) if variable.fields is not None else variable
        whole = self._whole_row(names)
        if whole is not None:
            return whole
        quoted = tree.text_of(parts[0])[1]
        string = quoted and self.reading.dialect.name in ("sqlite", "clickhouse") and len(names) == 1
        named = kind_of(self.reading.dialect, parts) == "column" and names[0][:1] not in "@$:"
        if named and not string and not self.reading.procedural:
            self.reading.report("column_not_found", ".".join(names))
        return Output(names[-1], NOTHING)

    def _whole_row(self, names: list[str]) -> Output | None:
        """A source's name where a value is expected: its row, and a field of that."""
        scope: Scope | None = self
        while scope is not None:
            source = scope.source(names[:1])
            if source is not None and len(names) == 1:
                outputs = source.relation.outputs
                flow = joined(*(stepped(output.flow, TRANSFORMATION) for output in outputs))
                return Output(names[0], flow, source.relation.index)
            scope = scope.outer
        return None


def _of_source(source: Source, name: str) -> Output | None:
    """A column of one source, by name or, as `$2`, by place."""
    relation = source.relation
    if _is_place(name) and not relation.opens and 0 < int(name[1:]) <= len(relation.outputs):
        return relation.outputs[int(name[1:]) - 1]
    found = relation.find(name) or relation.guess(name)
    if found is None and relation.element is not None:
        return field_of(relation.element, name)
    return found


def _is_place(name: str) -> bool:
    """Snowflake's `$2`: a column by its place."""
    return name[:1] == "$" and name[1:].isdigit()


def _fields(output: Output, names: list[str]) -> Output:
    for name in names:
        output = output if output.name == STAR else field_of(output, name)
    return output


def alias_name(reading: Reading, node: tree.Node | None) -> str:
    """The name that an alias gives a source. Aliases compare as columns do."""
    return column_name(reading.dialect, node) if node is not None else ""


def cte_name(reading: Reading, parts: tuple[str, ...]) -> str:
    """How a table's name is looked up among common table expressions."""
    return cased("fold", parts[-1], False) if reading.dialect.columns == "fold" else parts[-1]
