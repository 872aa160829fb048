"""What queries say of each column: literals beside it, conditions on it alone, columns that it is compared with."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Final

from sqlglot import exp

from whence.capture.sql.trials.generation.values import Hints, Kind, shape_of, spans_of

_COMPARED: Final = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.Between, exp.In, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.Binary, exp.Func, exp.Bracket),
)
"""Nodes whose literals are said of the columns in them."""
_PARTED: Final = (exp.Connector, exp.Case, exp.If, exp.AggFunc, exp.Cast)
"""Nodes of which only the parts say something of a column."""
_CONDITIONS: Final = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.Between, exp.In, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.StartsWith, exp.Contains),
)
_RELATING: Final = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Sub, exp.DateDiff, exp.TimestampDiff, exp.Like, exp.ILike),
)
"""Nodes that compare their columns with each other."""
_OPAQUE: Final = (exp.Select, exp.SetOperation, exp.Subquery, exp.Window, exp.AggFunc)
_DEEPEST: Final = 4
_LONGEST: Final = 40
"""A comparison, in nodes: what a longer one says of its columns is not known."""


@dataclass(slots=True)
class Uses:
    """What the queries of both versions say, by the names of columns in lower case."""

    hints: dict[str, Hints] = field(default_factory=dict)
    conditions: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Conditions on one column alone, as SQL without qualifiers, and whether rows are left out without them."""
    conversions: dict[str, dict[str, None]] = field(default_factory=dict)
    """Conditions that a text can be converted as a query does."""
    links: dict[str, str] = field(default_factory=dict)
    """Each name's representative among those that it is compared with."""
    grouping: set[str] = field(default_factory=set)
    """The columns by whose values rows are grouped, joined or partitioned."""
    everywhere: Hints = field(default_factory=Hints)
    named: set[str] = field(default_factory=set)
    """All names in the queries."""
    has_star: bool = False
    relations: dict[frozenset[str], Hints] = field(default_factory=dict)
    """The comparisons of columns with each other."""
    sources: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names that each alias is made of."""

    def hints_of(self, names: Iterable[str]) -> Hints:
        found = Hints(spans=self.everywhere.spans, units=self.everywhere.units)
        for name in names:
            found = found | self.hints.get(name, Hints())
        return found

    def names_column(self, name: str) -> bool:
        """Whether a query reads a column of this name."""
        return self.has_star or name.lower() in self.named

    def sources_of(self, names: Iterable[str]) -> frozenset[str]:
        """The columns of tables that some names are made of, through aliases."""
        return frozenset(source for name in names for source in {name, *self.sources.get(name, ())})

    def group_of(self, name: str) -> str:
        while (above := self.links.get(name, name)) != name:
            name = above
        return name


def read_uses(statements: Sequence[exp.Expr], columns: frozenset[str]) -> Uses:
    """`columns`: the names of columns of tables that are not built, in lower case."""
    definitions = _definitions(statements)
    aliased = _aliased(definitions)
    uses = Uses(sources=aliased)
    for statement in statements:
        uses.everywhere = uses.everywhere | _hints_in([*statement.walk()]) | Hints(units=_units_in(statement))
        uses.named |= {one.name.lower() for one in statement.find_all(exp.Identifier)}
        uses.has_star = uses.has_star or any(
            not isinstance(one.parent, exp.Count) for one in statement.find_all(exp.Star)
        )
        for node in statement.walk():
            if isinstance(node, exp.Case) and node.this is not None:
                tests = [exp.EQ(this=node.this.copy(), expression=one.this.copy()) for one in node.args["ifs"]]
                for test in tests:
                    _add_hints(uses, test, aliased, columns)
                    _add_condition(uses, test, definitions, columns)
            if isinstance(node, _COMPARED) and not isinstance(node, _PARTED):
                _add_hints(uses, node, aliased, columns)
            if isinstance(node, _RELATING):
                _add_relation(uses, node, aliased, columns)
            if isinstance(node, _CONDITIONS):
                _add_condition(uses, node, definitions, columns)
            if isinstance(node, (exp.Cast, exp.StrToTime, exp.StrToDate)):
                _add_cast(uses, node, aliased, columns)
            if isinstance(node, (exp.Group, exp.Window)):
                parts = node.args.get("partition_by") or [] if isinstance(node, exp.Window) else [node]
                names = {one.name.lower() for part in parts for one in part.find_all(exp.Column)}
                uses.grouping |= {source for name in names for source in _sources(name, aliased, columns)}
            _link(uses, node, aliased, columns)
    return uses


def _definitions(statements: Sequence[exp.Expr]) -> dict[str, list[exp.Expr]]:
    found: dict[str, list[exp.Expr]] = {}
    for statement in statements:
        for node in statement.find_all(exp.Alias):
            if isinstance(node.this, exp.Expr) and node.alias:
                listed = found.setdefault(node.alias.lower(), [])
                if node.this not in listed:
                    listed.append(node.this)
    return found


def _aliased(definitions: dict[str, list[exp.Expr]]) -> dict[str, frozenset[str]]:
    """The names that each alias is made of, through other aliases."""
    found = {
        alias: frozenset(column.name.lower() for one in of for column in one.find_all(exp.Column))
        for alias, of in definitions.items()
    }
    for _ in range(_DEEPEST):
        found = {
            alias: names.union(*(found[name] for name in names if name in found and name != alias))
            for alias, names in found.items()
        }
    return found


def _sources(name: str, aliased: dict[str, frozenset[str]], columns: frozenset[str]) -> frozenset[str]:
    return ((aliased.get(name, frozenset()) | {name}) & columns) or frozenset({name})


def _add_hints(uses: Uses, node: exp.Expr, aliased: dict[str, frozenset[str]], columns: frozenset[str]) -> None:
    near = list(_near(node))
    names = {one.name.lower() for one in near if isinstance(one, exp.Column)}
    hints = _hints_in(near)
    if not names or len(near) > _LONGEST or hints == Hints():
        return
    for name in {source for one in names for source in _sources(one, aliased, columns)}:
        uses.hints[name] = uses.hints.get(name, Hints()) | hints


def _add_relation(uses: Uses, node: exp.Expr, aliased: dict[str, frozenset[str]], columns: frozenset[str]) -> None:
    near = list(_near(node))
    named = [one.name.lower() for one in near if isinstance(one, exp.Column)]
    names = frozenset(source for one in named for source in _sources(one, aliased, columns)) & columns
    if len(named) > 1 and names and len(near) <= _LONGEST:
        hints = _hints_in(near) | Hints(units=_units_in(node))
        uses.relations[names] = uses.relations.get(names, Hints()) | hints


def _add_cast(uses: Uses, node: exp.Expr, aliased: dict[str, frozenset[str]], columns: frozenset[str]) -> None:
    kinds: frozenset[Kind] = frozenset({"timestamp"})
    if isinstance(node, exp.Cast):
        shape = shape_of(node.to.sql("duckdb"))
        kinds = frozenset({shape.kind} if shape is not None else ())
    names = {one.name.lower() for one in _near(node) if isinstance(one, exp.Column)}
    for name in {source for one in names for source in _sources(one, aliased, columns)}:
        uses.hints[name] = uses.hints.get(name, Hints()) | Hints(casts=kinds)
        if isinstance(node, exp.Cast):
            quoted = exp.column(exp.to_identifier(name, quoted=True)).sql("duckdb")
            text = f"TRY_CAST({quoted} AS {node.to.sql('duckdb')}) IS NOT NULL"
            uses.conversions.setdefault(name, {})[text] = None


def _near(node: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes under one, without those of subqueries."""
    yield from node.walk(prune=lambda one: one is not node and isinstance(one, (exp.Query, exp.Case)))


def _hints_in(nodes: Iterable[exp.Expr]) -> Hints:
    numbers: set[Decimal] = set()
    spans: set[timedelta] = set()
    texts, patterns, paths = set[str](), set[str](), set[str]()
    for node in nodes:
        match node:
            case exp.Literal() if node.is_string:
                texts.add(node.this)
                if node.this.startswith("$") or node.this.startswith("/"):
                    paths.add(node.this)
                if "%" in node.this or "_" in node.this:
                    patterns.add(node.this)
                numbers.update(_number(node.this))
            case exp.Literal():
                numbers.update(_number(node.this))
            case exp.JSONPath():
                paths.add(node.sql("duckdb").strip("'"))
            case exp.Interval() if isinstance(node.this, exp.Literal) and node.unit is not None:
                spans.update(spans_of((count, node.unit.name) for count in _number(node.this.this)))
    return Hints(frozenset(numbers), frozenset(texts), frozenset(patterns), frozenset(paths), frozenset(spans))


def _units_in(statement: exp.Expr) -> frozenset[str]:
    """The units of time that a statement names, those of its functions included."""
    text = statement.sql("duckdb").lower()
    found = re.findall(r"\b(second|minute|hour|day|week|month|quarter|year)s?\b", text)
    return frozenset({*found, *(["second"] if "epoch" in text else [])})


def _number(text: str) -> Iterator[Decimal]:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return
    if number.is_finite() and abs(number) < 10**12:
        yield number


def _add_condition(uses: Uses, node: exp.Expr, definitions: dict[str, list[exp.Expr]], columns: frozenset[str]) -> None:
    if any(isinstance(one, _OPAQUE) for one in node.walk()):
        return
    expanded = _expanded(node, definitions, columns)
    if expanded is None:
        return
    names = {column.name.lower() for column in expanded.find_all(exp.Column)}
    if len(names) == 1 and names <= columns:
        (name,) = names
        known, text = uses.conditions.setdefault(name, {}), expanded.sql("duckdb")
        known[text] = known.get(text, False) or _is_required(node)


def _is_required(node: exp.Expr) -> bool:
    """Whether a condition is one of those that a filter or a join wants."""
    while isinstance(node.parent, (exp.And, exp.Paren)):
        node = node.parent
    return isinstance(node.parent, (exp.Where, exp.Having, exp.Qualify, exp.Join))


def _expanded(node: exp.Expr, definitions: dict[str, list[exp.Expr]], columns: frozenset[str]) -> exp.Expr | None:
    """A condition over columns of tables, without qualifiers; None if an alias in it has several meanings."""
    copy = node.copy()
    for _ in range(_DEEPEST):
        aliases = [one for one in copy.find_all(exp.Column) if one.name.lower() not in columns]
        for one in aliases:
            of = [part for part in definitions.get(one.name.lower(), []) if _is_plain(part, one.name.lower())]
            if len(of) != 1:
                return None
            one.replace(exp.paren(of[0].copy()))
        if not aliases:
            break
    for one in list(copy.find_all(exp.Column)):
        one.replace(exp.column(one.this.copy()))
    return copy


def _is_plain(definition: exp.Expr, alias: str) -> bool:
    """Whether an alias is an expression over other columns of one row."""
    if isinstance(definition, exp.Column) or any(isinstance(part, _OPAQUE) for part in definition.walk()):
        return False
    return all(column.name.lower() != alias for column in definition.find_all(exp.Column))


def _link(uses: Uses, node: exp.Expr, aliased: dict[str, frozenset[str]], columns: frozenset[str]) -> None:
    match node:
        case exp.EQ() | exp.NullSafeEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() | exp.NEQ():
            ends = [node.this, node.expression]
        case exp.In() if node.args.get("query") is not None:
            chosen = node.args["query"].find(exp.Select)
            ends = [node.this, *(chosen.expressions[:1] if chosen is not None else [])]
        case exp.Coalesce():
            ends = [node.this, *node.expressions]
        case _:
            return
    names = [name for end in ends for name in _end(end, aliased, columns)]
    if isinstance(node, exp.EQ) and len(names) == len(ends):
        uses.grouping |= set(names)
    for one in names[1:]:
        left, right = uses.group_of(names[0]), uses.group_of(one)
        if left != right:
            uses.links[max(left, right)] = min(left, right)


def _end(node: exp.Expr, aliased: dict[str, frozenset[str]], columns: frozenset[str]) -> Iterator[str]:
    """The column that one side of a comparison is, below casts and aliases."""
    while isinstance(node, (exp.Cast, exp.Paren, exp.Alias, exp.TryCast)):
        node = node.this
    if isinstance(node, exp.Column):
        found = _sources(node.name.lower(), aliased, columns) & columns
        if len(found) == 1:
            yield from found
