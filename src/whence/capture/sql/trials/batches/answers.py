"""Many databases in DuckDB at once, and what a version makes of each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from whence.capture.sql.trials.batches.statements import NUMBER, NUMBERS, ManySql, Names, batch_names
from whence.capture.sql.trials.execution import Failure, Laboratory, Rows, plain
from whence.capture.sql.trials.generation.tables import NULL, Database, InputTable
from whence.model.names import DatasetName

if TYPE_CHECKING:
    import duckdb

_MOST_SECONDS: Final = 4.0
"""Of one version on all databases that are loaded."""
_MOST_RUNS: Final = 24
"""Of one version, if it fails on some of them."""


@dataclass(slots=True)
class Answers:
    """What a version made of many databases. `rows`: the values of each database's rows, by its number."""

    types: Mapping[str, str]
    rows: dict[int, list[tuple[object, ...]]]
    _texts: dict[int, list[str]] = field(default_factory=dict)

    def rows_of(self, number: int) -> Rows:
        """What it made of one."""
        return Rows(self.types, tuple(self.types), tuple(tuple(map(repr, row)) for row in self.rows[number]))

    def texts_of(self, number: int) -> list[str]:
        """The rows of one, each as a text, in an order that follows from them."""
        if number not in self._texts:
            self._texts[number] = sorted(map(repr, self.rows[number]))
        return self._texts[number]


Outcomes = Mapping[DatasetName, Answers]


class Batch:
    """The rows of many databases, in one table for each that is read."""

    def __init__(self, laboratory: Laboratory, tables: Sequence[InputTable]) -> None:
        self._laboratory = laboratory
        self._tables = tables
        self._places: dict[str, dict[str, int]] = {}
        self._lists: dict[str, str] = {}
        self.numbers: list[int] = []
        """Those of the databases that are loaded."""
        self._make_tables()

    @cached_property
    def names(self) -> Names:
        return batch_names(self._tables)

    def load(self, databases: Sequence[Database]) -> None:
        """Replace the rows of all tables."""
        self.numbers = sorted(database.number for database in databases)
        self._replace(NUMBERS, [self.numbers], [NUMBER])
        for place, (table, name) in enumerate(zip(self._tables, self.names.values(), strict=True)):
            rows = [(database.number, row) for database in databases for row in database.rows[place]]
            columns: list[Sequence[int | None]] = [[number for number, _ in rows]]
            taken = [NUMBER]
            for at, column in enumerate(table.columns):
                type_ = column.shape.type
                columns.append(self._encoded(type_, [row[at] for _, row in rows]))
                taken.append(f"list_extract((SELECT list(value ORDER BY place) FROM {self._lists[type_]}), c{at + 1})")
            self._replace(name, columns, taken)

    def run(self, sql: ManySql, numbers: Sequence[int] = ()) -> Outcomes | Failure:
        """What a version makes of the loaded databases; without those on which it fails. `numbers`: of these alone.

        Raises NotTriedError if the trial took too long.
        """
        parts, runs = [list(numbers) or self.numbers], 0
        found: dict[DatasetName, Answers] = {}
        while parts and runs < _MOST_RUNS:
            self._laboratory.check_time()
            part, runs = parts.pop(), runs + 1
            outcome = self._laboratory.attempt(partial(self._fetch, sql, part), _MOST_SECONDS)
            if isinstance(outcome, Failure):
                if outcome.is_broken:
                    return outcome
                half = len(part) // 2
                parts += [one for one in (part[:half], part[half:]) if half]
                continue
            for name, answers in outcome.items():
                known = found.setdefault(name, answers)
                known.rows.update(answers.rows)
        return found or Failure("it runs on none of them", is_broken=False)

    def _fetch(self, sql: ManySql, numbers: Sequence[int]) -> Mapping[DatasetName, Answers]:
        for name, query in sql.makes.items():
            self._execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}", numbers)
        return {name: self._answers(query, numbers) for name, query in sql.outputs.items()}

    def _answers(self, query: str, numbers: Sequence[int]) -> Answers:
        cursor = self._execute(query, numbers)
        types = {str(name).lower(): str(kind) for name, kind, *_ in (cursor.description or [])[1:]}
        rows: dict[int, list[tuple[object, ...]]] = {number: [] for number in numbers}
        for number, *row in cursor.fetchall():
            rows[number].append(tuple(map(plain, row)))
        return Answers(types, rows)

    def _execute(self, sql: str, numbers: Sequence[int]) -> "duckdb.DuckDBPyConnection":
        bounds = {"low": numbers[0], "high": numbers[-1]} if "$low" in sql else None
        return self._laboratory.connection.execute(sql, bounds)

    def _make_tables(self) -> None:
        execute = self._laboratory.connection.execute
        execute(f"CREATE TABLE {NUMBERS} ({NUMBER} INTEGER)")
        for table, name in zip(self._tables, self.names.values(), strict=True):
            columns = ", ".join(f"{_quoted(one.name)} {one.shape.type}" for one in table.columns)
            execute(f"CREATE TABLE {name} ({NUMBER} INTEGER, {columns})")
            for column in table.columns:
                self._make_list(column.shape.type)

    def _make_list(self, type_: str) -> None:
        if type_ not in self._lists:
            self._lists[type_] = f"whence_values_{len(self._lists)}"
            self._places[type_] = {}
            self._laboratory.connection.execute(f"CREATE TABLE {self._lists[type_]} (place INTEGER, value {type_})")

    def _encoded(self, type_: str, literals: Sequence[str]) -> list[int | None]:
        """The places of literals among the values of a type, from 1 on; none for NULL."""
        known = self._places[type_]
        fresh = [one for one in dict.fromkeys(literals) if one not in known and one != NULL]
        if fresh:
            known |= {one: place for place, one in enumerate(fresh, len(known) + 1)}
            listed = ", ".join(f"({known[one]}, CAST({one} AS {type_}))" for one in fresh)
            self._laboratory.connection.execute(f"INSERT INTO {self._lists[type_]} VALUES {listed}")
        return [known.get(one) for one in literals]

    def _replace(self, name: str, columns: Sequence[Sequence[int | None]], taken: Sequence[str]) -> None:
        connection = self._laboratory.connection
        connection.execute(f"DELETE FROM {name}")
        if columns[0]:
            unnested = ", ".join(f"unnest(?::INTEGER[]) AS c{place}" for place in range(1, len(columns)))
            unnested = f"unnest(?::INTEGER[]) AS {NUMBER}" + (f", {unnested}" if unnested else "")
            connection.execute(f"INSERT INTO {name} SELECT {', '.join(taken)} FROM (SELECT {unnested})", list(columns))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
