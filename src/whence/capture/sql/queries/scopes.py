"""Name resolution inside one query: its sources, its own aliases, and the queries around it."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name, normalize_case
from whence.capture.sql.names.pseudocolumns import FILES, classify_name, special_names
from whence.capture.sql.provenance.confidence import EITHER, REMAINING, one_of
from whence.capture.sql.provenance.flows import IDENTITY, NOTHING, TRANSFORMATION, Flow, apply_step, merge_flows
from whence.capture.sql.provenance.relations import (
    NAMELESS,
    STAR,
    Output,
    Relation,
    field_of,
    lower_confidence,
    stale_column,
)
from whence.capture.sql.queries.meanings import QueryMeaning
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.syntax import tree


class Source:
    """An item of FROM: its name and its relation. `parts`: the name of its table, if it is one."""

    __slots__ = ("bare", "name", "parts", "relation")

    def __init__(self, name: str, relation: Relation, parts: tuple[str, ...] = (), bare: bool = True) -> None:
        self.name = name
        self.relation = relation
        self.parts = parts
        self.bare = bare
        """Its columns can be named without a qualifier; those of `excluded` cannot."""


ROWS_ARE_VALUES = frozenset({"postgres", "bigquery", "duckdb"})
"""Dialects in which the name of a table denotes its row."""


def _has_columns(source: Source) -> bool:
    """Whether a source certainly has unknown columns. A named element may be a plain value."""
    relation = source.relation
    return bool(relation.stars) or (relation.element is not None and NAMELESS in relation.index)


class Scope:
    """The names that one query can use. Each query creates its own scope, which grows while FROM is read."""

    __slots__ = (
        "_parts",
        "_queries",
        "_resolved",
        "_row",
        "aliases",
        "aliases_first",
        "bound",
        "ctes",
        "expanded_column",
        "extra_reads",
        "hidden_sources",
        "meaning",
        "merged",
        "outer",
        "proven",
        "reading",
        "scalars",
        "shared",
        "sources",
        "windows",
    )

    def __init__(self, reading: Reading, outer: "Scope | None" = None) -> None:
        self.reading = reading
        self.outer = outer
        self.sources: list[Source] = []
        self.hidden_sources: list[Source] = []
        """Sources that influence the rows, and that no name can refer to any more."""
        self._row: list[Output] = []
        self._parts: list[Relation] = []
        """The expansion of `*`: columns, and later sources whose columns nobody requested yet."""
        self.merged: dict[str, Output] = {}
        """Columns that USING and NATURAL merged."""
        self.ctes: dict[str, Relation] = outer.ctes if outer else reading.ctes
        self.aliases: dict[str, Output] = {}
        """The select list's own names, as far as the current clause sees them."""
        self.aliases_first = False
        """Aliases take precedence over columns."""
        self.bound: frozenset[str] = frozenset()
        """Parameters of a lambda."""
        self.windows: dict[str, tree.Node] = {}
        self.shared = False
        """Several sources are the same table: T-SQL's `inserted` and `deleted`."""
        self.proven: set[str] = set()
        """Columns that a source must have, since they were used before an alias of that name."""
        self.scalars: dict[str, tree.Node] = {}
        """ClickHouse's `WITH expression AS name`."""
        self.expanded_column: Output | None = None
        """The column that COLUMNS(…) currently denotes."""
        self.extra_reads: set[Table] = set()
        """Tables that only queries inside of expressions read."""
        self._resolved: dict[str, Output | None] = {}
        self._queries: dict[int, Relation] = {}
        self.meaning: QueryMeaning | None = reading.meanings.query(self) if reading.meanings is not None else None

    def add(self, source: Source, visible: bool = True) -> None:
        if self.meaning is not None:
            self.meaning.add_source(source)
        self.sources.append(source)
        self._resolved.clear()
        if visible:
            self._parts.append(source.relation)

    def find_cte(self, parts: tuple[str, ...]) -> Relation | None:
        """The common table expression that a table's name refers to, or None. It precedes a table of that name."""
        return self.ctes.get(_cte_name(self.reading, parts)) if len(parts) == 1 else None

    @property
    def row(self) -> list[Output]:
        """The expansion of `*`."""
        if self._parts:
            self._row = [*self._row, *(output for part in self._parts for output in part.outputs)]
            self._parts = []
        return self._row

    @row.setter
    def row(self, outputs: list[Output]) -> None:
        self._row, self._parts = outputs, []

    def hide_sources(self, sources: list[Source]) -> None:
        """Make sources unnameable from here on: the right sides of SEMI and ANTI joins."""
        if sources:
            self.hidden_sources += sources
            self.sources = [source for source in self.sources if source not in sources]
            self.clear_resolved()

    def query(self, node: tree.Node) -> Relation:
        """Read a query inside of an expression."""
        if self.meaning is not None and id(node) in self._queries:
            return self._queries[id(node)]
        relation = self.reading.query(node, self)
        self._queries[id(node)] = relation
        self.extra_reads |= relation.reads
        self.reading.inner_reads |= relation.reads
        return relation

    def clear_resolved(self) -> None:
        """Forget resolved names, since they may resolve differently from here on."""
        self._resolved.clear()

    def override_column(self, name: str, flow: Flow) -> None:
        """Set the flow of a column: MySQL assigns columns from left to right, and later ones see the new value."""
        self._resolved[name] = Output(name, flow)

    def value(self, parts: list[tree.Node], fields: list[tree.Node]) -> Output:
        """Resolve a path of names to a value. An unresolvable path is reported and has no flow."""
        dialect = self.reading.dialect
        names = [column_name(dialect, part) for part in parts + fields]
        scope: Scope | None = self
        guesses: list[Output] = []
        has_rival = False
        while scope is not None:
            if names[0] in scope.bound:
                return Output(names[-1], NOTHING)
            found = scope.known(names, parts) if len(names) > 1 else scope.named(names[0])
            if found is not None and has_rival and len(names) == 1 and names[0] not in scope.aliases:
                # The inner one is meant if it has the column, and its columns are not known.
                self.reading.report("column_ambiguous", names[0])
                return Output(
                    found.name,
                    merge_flows(*(lower_confidence(output.flow, *one_of(2)) for output in (guesses[0], found))),
                )
            if found is not None:
                return found
            guessed = None if guesses else scope.guess(names, parts)
            if guessed is not None:
                guesses.append(guessed)
                scope.proven.add(names[0])
                has_rival = any(map(_has_columns, scope.sources))
            scope = scope.outer
        if guesses:
            return guesses[0]
        return self._resolve_unknown(names, parts)

    def known(self, names: list[str], parts: list[tree.Node]) -> Output | None:
        """Resolve `t.a`, `s.t.a` or `a.field`: the longest name of a source wins, then a column with fields."""
        for length in range(min(len(names) - 1, 3), 0, -1):
            source = self.source(names[:length], parts)
            if source is None:
                continue
            found = _column_of_source(source, names[length])
            if found is not None and self._is_engine_column(source, names[length], parts):
                return Output(names[length], NOTHING)
            if found is not None:
                return _follow_fields(found, names[length + 1 :])
            nested = source.relation.find(".".join(names[length:]))
            if nested is not None or length == 1:
                return nested or self._report_missing(source, names, parts)
        whole = self.named(names[0])
        if whole is not None:
            return _follow_fields(whole, names[1:])
        return self.named(".".join(names))

    def _is_engine_column(self, source: Source, name: str, parts: list[tree.Node]) -> bool:
        """Whether the engine adds this column to each table, and the source has none of its own."""
        if name.lower() not in special_names(self.reading.dialect) or not source.relation.stars:
            return False
        if source.relation.find(name) is not None or name.lower() in FILES:
            return False
        return classify_name(self.reading.dialect, parts) == "pseudo"

    def source(self, names: list[str], parts: list[tree.Node] | None = None) -> Source | None:
        """Find the source with this name: its alias, or a suffix of its table's name."""
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
        """Resolve a column without a qualifier among the columns with known names."""
        if self.aliases_first and name in self.aliases:
            return self.aliases[name]
        found = self._resolved.get(name, self)
        if found is self:
            found = self._resolved[name] = self._find_column(name)
        return found if isinstance(found, Output) else self.aliases.get(name)

    def guess(self, names: list[str], parts: list[tree.Node]) -> Output | None:
        """A column that an open source may have. Its confidence is lower if the name may be a pseudo-column."""
        special = names[0].lower() in special_names(self.reading.dialect)
        kind = classify_name(self.reading.dialect, parts[:1]) if special else "column"
        if kind == "pseudo" and not (names[0].lower() in FILES and len(self.sources) == 1):
            return None
        found = self._guess(names)
        if found is None or kind != "either":
            return found
        self.reading.report("column_ambiguous", names[0])
        return Output(found.name, lower_confidence(found.flow, *EITHER), found.fields)

    def _guess(self, names: list[str]) -> Output | None:
        """One open source is certain to have the column; of several, each yields a candidate."""
        if len(names) > 1 and (self.source(names[:1]) is not None or not self._has_fields(names)):
            return None
        if names[0].lower() in self.reading.variables:
            return None
        if len(names) == 1 and self._is_open_row(names[0]):
            return self._whole_row(names)
        candidates = [
            found for found in (candidate.relation.guess(names[0]) for candidate in self.sources) if found is not None
        ]
        if len(candidates) > 1 and self.shared:
            relations = {id(source.relation): source.relation for source in self.sources}.values()
            candidates = [found for found in (relation.guess(names[0]) for relation in relations) if found is not None]
        if not candidates:
            return self._guess_field(names)
        homes = len({leaf.home for leaf in candidates[0].flow})
        if len(candidates) == 1 and homes > 1:
            self.reading.report("column_ambiguous", names[0])
            return _follow_fields(Output(names[0], lower_confidence(candidates[0].flow, *one_of(homes))), names[1:])
        if len(candidates) == 1:
            known = len(self.sources) > 1 and any(not source.relation.stars for source in self.sources)
            found = candidates[0]
            if known:
                found = Output(names[0], lower_confidence(found.flow, *REMAINING))
            return _follow_fields(found, names[1:])
        self.reading.report("column_ambiguous", names[0])
        flows = [lower_confidence(found.flow, *one_of(len(candidates))) for found in candidates]
        return _follow_fields(Output(names[0], merge_flows(*flows)), names[1:])

    def _is_open_row(self, name: str) -> bool:
        """Whether a name is an alias of a table with unknown columns, in a dialect where it can denote a row."""
        if self.reading.dialect.name not in ROWS_ARE_VALUES:
            return False
        source = self.source([name])
        own = source.parts[-1].lower() if source is not None and source.parts else ""
        return source is not None and own not in ("", name.lower()) and bool(source.relation.stars)

    def _has_fields(self, names: list[str]) -> bool:
        """Whether `a.b` may be a field, given that no source is called `a`."""
        return self.reading.dialect.structs and names[0].lower() not in (
            "new",
            "old",
            "excluded",
            "inserted",
            "deleted",
        )

    def _guess_field(self, names: list[str]) -> Output | None:
        """A field of an UNNEST's element, used like a column; or a file's own column."""
        elements = [source.relation.element for source in self.sources if source.relation.element is not None]
        if len(elements) == 1:
            return _follow_fields(elements[0], names)
        reads = self.sources[0].relation.reads if len(self.sources) == 1 else ()
        if names[0].lower() not in FILES or len(reads) != 1:
            return None
        home = self.reading.home(next(iter(reads)))
        return Output(names[0], {home.leaf(names[0]): IDENTITY})

    def _find_column(self, name: str) -> Output | None:
        merged = self.merged.get(name)
        if merged is not None:
            return merged
        outputs = [
            output
            for output in (source.relation.find(name) for source in self.sources if source.bare)
            if output is not None
        ]
        if not outputs:
            return _column_of_source(self.sources[0], name) if _is_position(name) and len(self.sources) == 1 else None
        if len(outputs) == 1:
            return outputs[0]
        self.reading.report("column_ambiguous", name)
        return Output(name, merge_flows(*(lower_confidence(output.flow, *one_of(len(outputs))) for output in outputs)))

    def _report_missing(self, source: Source, names: list[str], parts: list[tree.Node]) -> Output | None:
        """Report a qualified column that its source does not have."""
        name = names[1]
        if classify_name(self.reading.dialect, parts[:2]) == "column":
            self.reading.report("column_not_found", ".".join(names))
            stale = stale_column(source.relation, name) if len(names) == 2 else None
            if stale is not None:
                return stale
        return Output(name, NOTHING)

    def _resolve_unknown(self, names: list[str], parts: list[tree.Node]) -> Output:
        variable = self.reading.variable(names[0].lower())
        if variable is not None:
            return _follow_fields(variable, names[1:]) if variable.fields is not None else variable
        whole = self._whole_row(names)
        if whole is not None:
            return whole
        quoted = tree.text_of(parts[0])[1]
        string = quoted and self.reading.dialect.name in ("sqlite", "clickhouse") and len(names) == 1
        named = classify_name(self.reading.dialect, parts) == "column" and names[0][:1] not in "@$:"
        if named and not string and not self.reading.procedural:
            self.reading.report("column_not_found", ".".join(names))
        return Output(names[-1], NOTHING)

    def _whole_row(self, names: list[str]) -> Output | None:
        """A source's name in the place of a value: its row, and a field of that."""
        scope: Scope | None = self
        while scope is not None:
            source = scope.source(names[:1])
            if source is not None and len(names) == 1:
                outputs = source.relation.outputs
                flow = merge_flows(*(apply_step(output.flow, TRANSFORMATION) for output in outputs))
                return Output(names[0], flow, source.relation.index)
            scope = scope.outer
        return None


def _column_of_source(source: Source, name: str) -> Output | None:
    """A column of one source, by name or, as `$2`, by position."""
    relation = source.relation
    if _is_position(name) and not relation.stars and 0 < int(name[1:]) <= len(relation.outputs):
        return relation.outputs[int(name[1:]) - 1]
    found = relation.find(name) or relation.guess(name)
    if found is None and relation.element is not None:
        return field_of(relation.element, name)
    return found


def _is_position(name: str) -> bool:
    """Whether a name is Snowflake's `$2`, a column by its position."""
    return name[:1] == "$" and name[1:].isdigit()


def _follow_fields(output: Output, names: list[str]) -> Output:
    for name in names:
        output = output if output.name == STAR else field_of(output, name)
    return output


def alias_name(reading: Reading, node: tree.Node | None) -> str:
    """The source name that an alias denotes. Aliases compare as columns do."""
    return column_name(reading.dialect, node) if node is not None else ""


def _cte_name(reading: Reading, parts: tuple[str, ...]) -> str:
    """The key of a table's name among the common table expressions."""
    return normalize_case("fold", parts[-1], False) if reading.dialect.columns == "fold" else parts[-1]
