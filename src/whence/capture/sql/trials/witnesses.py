"""The smallest database found on which two versions differ, for a person: rows that go in, rows that come out."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from whence.capture.sql.trials.execution import Failure, Laboratory, Outcome, Rows
from whence.capture.sql.trials.generation.tables import Database, InputTable
from whence.capture.sql.trials.plans import Plan
from whence.model.changes import ExampleRows
from whence.model.names import DatasetName

_MOST_RUNS: Final = 40
_MOST_ROWS: Final = 4
_MOST_TEXT: Final = 60

Run = Callable[[Database], tuple[Outcome, Outcome]]


def smallest(database: Database, run: Run, differs: Callable[[Outcome, Outcome], bool]) -> Database:
    """The database without the rows that the difference does not need."""
    runs, size = 0, max(1, max(map(len, database.rows), default=1) // 2)
    while size:
        place, start = 0, 0
        while place < len(database.rows):
            rows = database.rows[place]
            if start >= len(rows):
                place, start = place + 1, 0
                continue
            if (runs := runs + 1) > _MOST_RUNS:
                return database
            kept = (*rows[:start], *rows[start + size :])
            fewer = replace(database, rows=(*database.rows[:place], kept, *database.rows[place + 1 :]))
            if differs(*run(fewer)):
                database = fewer
            else:
                start += size
        size //= 2
    return database


def input_rows(database: Database, tables: Sequence[InputTable], plans: Sequence[Plan]) -> Iterator[ExampleRows]:
    """The rows that go in, of the columns that the versions name."""
    statements = [one for plan in plans for one in plan.statements]
    named = {one.name.lower() for statement in statements for one in statement.find_all(exp.Column)}
    for table, rows in zip(tables, database.rows, strict=True):
        places = [place for place, column in enumerate(table.columns) if column.name.lower() in named]
        yield ExampleRows(
            table=table.parts[-1],
            columns=tuple(table.columns[place].name for place in places),
            rows=tuple(tuple(_short(row[place]) for place in places) for row in rows[:_MOST_ROWS]),
        )


def output_rows(
    laboratory: Laboratory, plans: tuple[Plan, Plan], name: DatasetName, column: str
) -> tuple[ExampleRows | None, ExampleRows | None]:
    """The rows of each version that the other one has not; None of a version that does not run."""
    before, after = (laboratory.run(plan, shown=_shown) for plan in plans)
    if isinstance(before, Failure) or isinstance(after, Failure):
        return None, None
    one, other = before[name], after[name]
    shared = [column for column in one.names if column in other.types]
    left, right = (_projected(rows, shared) for rows in (one, other))
    changed = [n for n in range(len(shared)) if Counter(row[n] for row in left) != Counter(row[n] for row in right)]
    lost, new = list((Counter(left) - Counter(right)).elements()), list((Counter(right) - Counter(left)).elements())
    kept = changed if changed and len(left) == len(right) else list(range(len(shared)))
    if column:
        kept = [shared.index(column)]
    return tuple(  # type: ignore[return-value]
        ExampleRows(
            table=name.name,
            columns=tuple(shared[n] for n in kept),
            rows=tuple(tuple(_short(row[n]) for n in kept) for row in rows[:_MOST_ROWS]),
        )
        for rows in (lost, new)
    )


def _projected(rows: Rows, names: Sequence[str]) -> list[tuple[str, ...]]:
    places = [rows.names.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in rows.rows]


def _shown(value: object) -> str:
    """A value as SQL would write it."""
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
