"""An oracle that nobody wrote by hand: change one input column on DuckDB, see which output columns change.

What changes shows an influence, which the lineage must claim (issue 5, acceptance 2). What does not change shows
nothing: few rows, and few changes of them, are tried.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any, NamedTuple

import duckdb

from capture.sql.golden_cases import Claim

Columns = Mapping[str, tuple[str, ...]]
Shown = Mapping[str, Counter[str]]
ROWS = 11
TURNS = range(3)
"""Variants of each column: one row is another, some are, all are."""
_UNCOUNTED = re.compile(
    r"\b(DISTINCT|UNION(?! ALL)|EXCEPT|INTERSECT|MINUS|unnest|explode|posexplode|inline|stack)\b", re.IGNORECASE
)


class Kind(NamedTuple):
    """The type of a column, and the values that it may have."""

    sql: str
    values: tuple[Any, ...]
    nullable: bool = True
    serial: bool = False
    """A key: the rows have the values in turn."""


INTEGER = Kind("INTEGER", tuple(range(-1, 5)))
BOOLEAN = Kind("BOOLEAN", (True, False))
TEXT = Kind("VARCHAR", ("q1", "q2", "x", "Y"))
LIST = Kind("INTEGER[]", ([0], [1, 2], [3, 0], [1], [4, 4, 2]), nullable=False)
"""Never NULL: UNNEST leaves such rows out, and has no edge for that."""


class Influence(NamedTuple):
    """A change of source changed target; a target is a column of `result` or of a table that was written."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Estate:
    """Tables with rows in a DuckDB of their own, and beside them the variants of the columns that a query names.

    A variant is a schema with one changed table; it stands before the schema with all of them on the search path.
    """

    connection: duckdb.DuckDBPyConnection
    columns: Columns
    typed: Mapping[str, Sequence[tuple[str, Kind]]]
    rows: Mapping[str, Sequence[list[Any]]]
    seed: int
    made: set[str]

    @classmethod
    def of(
        cls,
        columns: Columns,
        kinds: Mapping[str, Kind] = {},
        seed: int = 0,
        plan: bool = False,
        rows: Mapping[str, int] = {},
    ) -> "Estate":
        """Fill the tables. `kinds` of a column by its bare name: INTEGER unless said. `rows` of a table: else 11.

        `plan`: for joins of many tables; for few, planning costs more than the rows do.
        """
        connection = duckdb.connect(config={"threads": 1, "memory_limit": "500MB", "max_temp_directory_size": "1GB"})
        connection.execute("PRAGMA enable_optimizer" if plan else "PRAGMA disable_optimizer")
        connection.execute("SET enable_external_access = false")  # a case that copies to a file writes none
        random = Random(seed)
        typed = {table: [(name, kinds.get(name, INTEGER)) for name in names] for table, names in columns.items()}
        filled = {}
        for table, of in typed.items():
            filled[table] = [[_value(random, kind, row) for _, kind in of] for row in range(rows.get(table, ROWS))]
            _write(connection, "main", table, of, filled[table])
        return cls(connection, columns, typed, filled, seed, set())

    def answers(self, sql: str) -> bool:
        """Whether a query says anything: a row that is more than NULL and 0."""
        self.connection.execute("SET search_path = 'main'")
        return any(value for row in self.connection.execute(sql).fetchall() for value in row)

    def valued(self, sql: str) -> frozenset[str]:
        """The columns of an answer that have a value in any row."""
        shown = self._run("main", sql, ("result",))
        return frozenset(target for target, values in shown.items() if set(values) - {"None"})

    def influences(
        self, sql: str, targets: Sequence[str] = ("result",), turns: Sequence[int] = TURNS
    ) -> frozenset[Influence]:
        """What can be seen of a query or script. Raises duckdb.Error where it does not run on the rows unchanged."""
        before = self._run("main", sql, targets)
        return frozenset(
            Influence(f"{table}.{name}", target)
            for table in named_tables(self.columns, sql)
            for place, name in enumerate(self.columns[table])
            for turn in turns
            for target in self._differing(self._variant(table, place, turn), sql, targets, before)
        )

    def _variant(self, table: str, place: int, turn: int) -> str:
        """The schema in which one column is changed; made when it is first asked for."""
        name, kind = self.typed[table][place]
        schema = f"of_{table}_{name}_{turn}".lower()
        if schema not in self.made:
            self.made.add(schema)
            changed = _changed(Random(f"{self.seed}{schema}"), self.rows[table], place, kind, turn)
            _write(self.connection, schema, table, self.typed[table], changed)
        return schema

    def _differing(self, schema: str, sql: str, targets: Sequence[str], before: Shown) -> list[str]:
        """A change after which the query fails, for a subquery of one value has two, shows nothing."""
        try:
            after = self._run(f"{schema},main", sql, targets)
        except duckdb.Error:
            return []
        return [target for target, values in before.items() if after[target] != values]

    def _run(self, path: str, sql: str, targets: Sequence[str]) -> Shown:
        self.connection.execute(f"BEGIN; SET search_path = '{path}'")
        try:
            ran = self.connection.execute(sql)
            shown: dict[str, Counter[str]] = {}
            for target in targets:
                answer = ran if target == "result" else self.connection.execute(f"FROM {target}")
                shown |= _shown(target, answer, counted=is_counted(sql))
            return shown
        finally:
            self.connection.execute("ROLLBACK")


def is_counted(sql: str) -> bool:
    """Whether it says something how often a value is there: not where equal rows are folded, or arrays unfolded."""
    return not _UNCOUNTED.search(sql)


def named_tables(columns: Columns, sql: str) -> list[str]:
    """The tables that a query may read."""
    return [table for table in columns if re.search(rf"\b{re.escape(table)}\b", sql, re.IGNORECASE)]


def name_of(column: str, place: int) -> str:
    """What the reader calls a column of the answer: one without a name by its place."""
    return f"#{place}" if re.search(r"[(+*/]", column) else column.lower()


def claimed_pairs(claims: Iterable[Claim]) -> set[tuple[str, str]]:
    """Sources and targets, through the tables between too."""
    return _closed({(claim.source.lower(), claim.target.lower()) for claim in claims})


def unclaimed(seen: Iterable[Influence], claims: Iterable[Claim]) -> list[Influence]:
    """What was seen and is claimed neither for the column nor for its table. A column on itself needs no claim."""
    claimed = claimed_pairs(claims)
    return sorted(
        change
        for change in seen
        if change.source != change.target
        and not {(change.source, change.target), (change.source, table_of(change.target))} & claimed
    )


def unshown(seen: Iterable[Influence], claims: Iterable[Claim]) -> list[Claim]:
    """DIRECT claims that no change has shown."""
    shown = {tuple(change) for change in seen}
    return sorted(
        claim
        for claim in claims
        if claim.type == "DIRECT" and (claim.source.lower(), claim.target.lower()) not in shown
    )


def _closed(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Through the tables between: what decides the rows of a table decides whatever is read from it."""
    through = {
        (source, target)
        for source, middle in pairs
        for again, target in pairs
        if again != target and middle in (again, table_of(again))
    }
    return pairs if through <= pairs else _closed(pairs | through)


def table_of(column: str) -> str:
    """The table of a dotted column."""
    return column.rpartition(".")[0]


def _shown(target: str, answer: duckdb.DuckDBPyConnection, counted: bool) -> Iterator[tuple[str, Counter[str]]]:
    names = [name_of(description[0], place) for place, description in enumerate(answer.description, start=1)]
    rows = answer.fetchall()
    for place, name in enumerate(names):
        values = [text_of(row[place]) for row in rows]
        yield f"{target}.{name}", Counter(values if counted else set(values))


def text_of(value: Any) -> str:
    """A value to compare: of a float what does not depend on the order in which it was summed."""
    return f"{value:.9g}" if isinstance(value, float) else repr(value)


def _changed(random: Random, rows: Sequence[list[Any]], place: int, kind: Kind, turn: int) -> list[list[Any]]:
    share = (0.0, 0.4, 1.0)[turn % 3]
    one = random.randrange(len(rows))
    hit = [(share == 0.0 and index == one) or random.random() < share for index in range(len(rows))]
    return [
        [*row[:place], _other(random, kind, row[place]), *row[place + 1 :]] if change else row
        for row, change in zip(rows, hit, strict=True)
    ]


def _other(random: Random, kind: Kind, than: Any) -> Any:
    return random.choice([value for value in (*kind.values, *[None] * kind.nullable) if value != than])


def _value(random: Random, kind: Kind, row: int) -> Any:
    if kind.serial:
        return kind.values[row % len(kind.values)]
    return None if kind.nullable and random.random() < 0.1 else random.choice(kind.values)


def _write(
    connection: duckdb.DuckDBPyConnection,
    schema: str,
    table: str,
    typed: Sequence[tuple[str, Kind]],
    rows: Sequence[Sequence[Any]],
) -> None:
    columns = ", ".join(f"{name} {kind.sql}" for name, kind in typed)
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}; CREATE TABLE {schema}.{table} ({columns})")
    connection.execute(f"INSERT INTO {schema}.{table} VALUES {values}")


def _literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case date():
            return f"'{value}'"
        case _:
            return str(value)
