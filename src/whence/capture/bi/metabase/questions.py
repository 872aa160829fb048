"""Questions of MBQL as SQL: each stage reads a table, a card, or the stage before it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.capture.bi.connections import Connection
from whence.capture.bi.metabase.catalog import MetabaseCatalog
from whence.capture.bi.metabase.clauses import filters_of, split, stages_of
from whence.capture.bi.queries import Query
from whence.capture.sql import Table
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json

_AGGREGATES = {"sum": "SUM", "cum-sum": "SUM", "avg": "AVG", "min": "MIN", "max": "MAX", "median": "MEDIAN"}
_MORE = {"stddev": "STDDEV", "var": "VARIANCE", "percentile": "PERCENTILE"}
_NAMES = {"distinct": "count", "cum-count": "count", "cum-sum": "sum", "count-where": "count_where"}
_SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Card:
    """A card as a source of others: its dataset and its columns."""

    name: DatasetName
    columns: tuple[str, ...]


@dataclass(slots=True)
class Questions:
    """Compiles the queries of one database. `own` collects the datasets of cards, by the name that stands for each."""

    catalog: MetabaseCatalog
    cards: Mapping[int, Card]
    connection: Connection
    own: dict[Table, DatasetName | None] = field(default_factory=dict)

    def query(self, document: Json) -> Query:
        """The last stage of a query, over the others. Raises ArtifactError if its source is not known."""
        source: tuple[str, tuple[str, ...]] | None = None
        stages = stages_of(document)
        for stage in stages[:-1]:
            inner = Stage(self, stage, source).query()
            source = f"({self.text(inner)})", (*inner.outputs, *inner.unread)
        return Stage(self, stages[-1], source).query()

    def text(self, query: Query) -> str:
        """A query as SQL. Raises ArtifactError if a part of it is not known."""
        if query.unread or query.gaps:
            raise ArtifactError("", "; ".join((*query.unread.values(), *query.gaps)))
        columns = ", ".join(f"{value} AS {self.connection.quote(name)}" for name, value in query.outputs.items())
        where = f" WHERE {' AND '.join(query.conditions)}" if query.conditions else ""
        keys = [query.outputs[one] for one in query.dimensions]
        groups = f" GROUP BY {', '.join(keys)}" if keys and len(keys) < len(query.outputs) else ""
        return f"SELECT {columns or '1'} FROM {query.source}{where}{groups}"

    def source(self, key: Any) -> tuple[str, tuple[str, ...]]:
        """The SQL and the columns of `source-table`: the id of a table, or `card__12`. Raises ArtifactError."""
        if isinstance(key, str) and key.startswith("card__"):
            return self.card(key.removeprefix("card__"))
        table = self.catalog.table(int(key))
        parts = (table.schema, table.name) if table.schema else (table.name,)
        columns = tuple(self.catalog.field(one).name for one in table.fields)
        return ".".join(self.connection.quote(one) for one in parts), columns

    def card(self, key: str) -> tuple[str, tuple[str, ...]]:
        """What stands for a card in SQL, and its columns. Raises ArtifactError."""
        card = self.cards.get(int(key)) if key.isdigit() else None
        if card is None:
            raise ArtifactError("", f"the card {key} is not there, or the user may not see it")
        self.own[Table((f"card_{key}",))] = card.name
        return self.connection.quote(f"card_{key}"), card.columns


@dataclass(slots=True)
class Stage:
    """One stage. `before` is the SQL and the columns of the stage that it reads; None if it reads a table or a card."""

    questions: Questions
    spec: Json
    before: tuple[str, tuple[str, ...]] | None
    implicit: dict[int, int] = field(default_factory=dict)
    """The foreign keys that fields are reached by, with the table of each."""

    def query(self) -> Query:
        outputs, unread, gaps = dict[str, str](), dict[str, str](), list[str]()
        text, columns = self.before or self.questions.source(self.spec.get("source-table"))
        dimensions = list[str]()
        for name, clause, is_grouped in self._shown(columns):
            label = _unused(name, {*outputs, *unread})
            try:
                outputs[label] = self.sql(clause)
            except ArtifactError as error:
                unread[label] = error.reason
            if is_grouped and label in outputs:
                dimensions.append(label)
        conditions = tuple(self._known(filters_of(self.spec), gaps))
        orders = tuple(self._known((self._order(one) for one in self.spec.get("order-by") or ()), gaps))
        source = f"{text} {self._quote(_SOURCE)}{''.join(self._joins())}"
        return Query(
            source=source,
            outputs=outputs,
            dimensions=tuple(dimensions),
            conditions=conditions,
            orders=orders,
            unread=unread,
            gaps=tuple(gaps),
        )

    def sql(self, clause: Any) -> str:
        """A clause as SQL. Raises ArtifactError for one that is not known."""
        found = split(clause)
        if found is None:
            return "NULL" if clause is None else "'value'"
        operator, options, arguments = found
        match operator:
            case "field":
                return self._field(arguments[0], options)
            case "expression":
                return f"({self.sql((self.spec.get('expressions') or {}).get(str(arguments[0])))})"
            case "aggregation":
                return self._aggregation(arguments[0])
            case "aggregation-options":
                return self.sql(arguments[0])
            case "case" | "if":
                return self._case(arguments, options)
            case "segment" | "metric" | "measure":
                raise ArtifactError("", f"a {operator} of Metabase is not read")
        return self._call(operator, [self.sql(one) for one in arguments])

    def _call(self, operator: str, arguments: list[str]) -> str:
        first = arguments[0] if arguments else "*"
        if operator in ("count", "cum-count"):
            return f"COUNT({first})"
        if operator == "distinct":
            return f"COUNT(DISTINCT {first})"
        if operator in ("count-where", "share"):
            return f"COUNT(CASE WHEN {first} THEN 1 END)"
        if operator in ("sum-where", "distinct-where"):
            return f"SUM(CASE WHEN {arguments[1]} THEN {first} END)"
        if name := {**_AGGREGATES, **_MORE}.get(operator):
            return f"{name}({first})"
        return f"T_{''.join(one if one.isalnum() else f'_{ord(one)}' for one in operator)}({', '.join(arguments)})"

    def _case(self, arguments: tuple[Any, ...], options: Json) -> str:
        pairs = arguments[0] if arguments and isinstance(arguments[0], list) else []
        whens = " ".join(f"WHEN {self.sql(one)} THEN {self.sql(value)}" for one, value in pairs)
        default = options.get("default") if "default" in options else (arguments[1] if len(arguments) > 1 else None)
        return f"CASE {whens} ELSE {self.sql(default)} END"

    def _field(self, key: Any, options: Json) -> str:
        alias = options.get("join-alias")
        if isinstance(key, str):
            return f"{self._quote(str(alias or _SOURCE))}.{self._quote(key)}"
        found = self.questions.catalog.field(int(key))
        if not alias and isinstance(options.get("source-field"), int):
            self.implicit[int(options["source-field"])] = found.table
            alias = f"fk_{options['source-field']}"
        return f"{self._quote(str(alias or _SOURCE))}.{self._quote(found.name)}"

    def _aggregation(self, key: Any) -> str:
        listed = self.spec.get("aggregation") or []
        for number, one in enumerate(listed):
            found = split(one)
            if key == number or (found and key == found[1].get("lib/uuid")):
                return self.sql(one)
        raise ArtifactError("", "it refers to an aggregation that is not there")

    def _shown(self, columns: tuple[str, ...]) -> Iterator[tuple[str, Any, bool]]:
        """The name and the clause of each column, and whether it groups the others."""
        grouped, aggregated = self.spec.get("breakout") or [], self.spec.get("aggregation") or []
        aggregated = [aggregated] if aggregated and isinstance(aggregated[0], str) else aggregated
        if grouped or aggregated:
            yield from ((self._name(one), one, True) for one in grouped)
            yield from ((self._name(one), one, False) for one in aggregated)
            return
        if isinstance(self.spec.get("fields"), list):
            yield from ((self._name(one), one, False) for one in self.spec["fields"])
        else:
            yield from ((one, ["field", one, {}], False) for one in columns)
            yield from ((str(one), ["expression", one], False) for one in self.spec.get("expressions") or {})
        yield from self._joined_columns()

    def _joined_columns(self) -> Iterator[tuple[str, Any, bool]]:
        for join in self.spec.get("joins") or ():
            alias, wanted = str(join.get("alias") or "join"), join.get("fields")
            if wanted == "all":
                for one in self._join_source(join)[1]:
                    yield one, ["field", one, {"join-alias": alias}], False
            elif isinstance(wanted, list):
                yield from ((self._name(one), one, False) for one in wanted)

    def _name(self, clause: Any) -> str:
        operator, options, arguments = split(clause) or ("value", {}, ())
        if operator == "aggregation-options":
            inner = clause[-1] if isinstance(clause[-1], dict) else {}
            return str(inner.get("name") or inner.get("display-name") or self._name(arguments[0]))
        if named := options.get("name") or options.get("display-name"):
            return str(named)
        if operator == "field":
            return arguments[0] if isinstance(arguments[0], str) else self._field_name(int(arguments[0]))
        return str(arguments[0]) if operator == "expression" else _NAMES.get(operator, operator)

    def _field_name(self, key: int) -> str:
        fields = self.questions.catalog.fields
        return fields[key].name if key in fields else f"field {key}"

    def _order(self, clause: Any) -> Any:
        found = split(clause)
        return found[2][0] if found and found[2] else None

    def _joins(self) -> Iterator[str]:
        for join in self.spec.get("joins") or ():
            alias = self._quote(str(join.get("alias") or "join"))
            conditions = [self.sql(one) for one in (join.get("condition"), *(join.get("conditions") or ())) if one]
            kind = str(join.get("strategy") or "left-join").replace("-", " ").upper()
            yield f" {kind} {self._join_source(join)[0]} {alias} ON {' AND '.join(conditions) or '1 = 1'}"
        for key, table in self.implicit.items():
            alias, found = self._quote(f"fk_{key}"), self.questions.catalog.field(key)
            target = self.questions.catalog.field(int(found.target)).name if found.target else "id"
            left = f"{self._quote(_SOURCE)}.{self._quote(found.name)}"
            text = self.questions.source(table)[0]
            yield f" LEFT JOIN {text} {alias} ON {left} = {alias}.{self._quote(target)}"

    def _join_source(self, join: Json) -> tuple[str, tuple[str, ...]]:
        stages = stages_of(join) if join.get("stages") else []
        inner = join.get("source-query") or (join if len(stages) > 1 else None)
        if inner is None:
            return self.questions.source((stages[0] if stages else join).get("source-table"))
        query = self.questions.query(inner)
        return f"({self.questions.text(query)})", tuple(query.outputs)

    def _known(self, clauses: Iterable[Any], gaps: list[str]) -> Iterator[str]:
        for one in clauses:
            try:
                yield self.sql(one)
            except ArtifactError as error:
                gaps.append(f"a filter or an order: {error.reason}")

    def _quote(self, name: str) -> str:
        return self.questions.connection.quote(name)


def _unused(name: str, known: set[str]) -> str:
    """The name, with a number if another column has it: `sum_2`, as Metabase does."""
    number, found = 1, name
    while found in known:
        number += 1
        found = f"{name}_{number}"
    return found
