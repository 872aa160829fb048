"""A pair of versions that run on many databases at once, and what both make of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from whence.capture.sql.trials.batches.answers import Answers, Batch, Outcomes
from whence.capture.sql.trials.batches.statements import ManySql, over_many
from whence.capture.sql.trials.differences import compare_rows
from whence.capture.sql.trials.execution import Failure, Laboratory, Rows
from whence.capture.sql.trials.generation.databases import shuffled
from whence.capture.sql.trials.generation.tables import Database, InputTable
from whence.capture.sql.trials.plans import Plan
from whence.model.names import DatasetName

BATCH: Final = 80
"""Databases that are executed at once."""
_SHUFFLED: Final = 1_000_000
"""How far the number of a database is from that of the same rows in another order."""
_MOST_OTHER: Final = 0.1
"""The share of databases on which a batch may give another answer, if the order of rows may decide."""

Alone = tuple[Database, Mapping[DatasetName, Rows], Mapping[DatasetName, Rows]]
"""A database, and what both versions make of it when it is the only one."""


@dataclass(slots=True)
class Versions:
    """`is_tied`: whether the order of rows may decide."""

    batch: Batch
    sqls: tuple[ManySql, ManySql]
    is_tied: bool
    seed: str

    def outcomes(self, databases: Sequence[Database]) -> "Both":
        """What both versions make of databases, and of the same rows in another order if that may decide."""
        more = [replace(one, number=one.number + _SHUFFLED) for one in self._shuffled(databases)]
        self.batch.load([*databases, *more])
        before, after = (self.batch.run(sql) for sql in self.sqls)
        if isinstance(before, Failure):
            return Both({}, {})
        return Both(before, {} if isinstance(after, Failure) else after)

    def are_alike(self, alone: Sequence[Alone], tied: set[int]) -> bool:
        """Whether both versions give the same at once as alone."""
        kept = [one for one in alone if one[0].number not in tied]
        self.batch.load([database for database, *_ in kept])
        outcomes = [self.batch.run(sql) for sql in self.sqls]
        others = sum(
            any(_is_other(of, outcome, database.number) for of, outcome in zip(rows, outcomes, strict=True))
            for database, *rows in kept
        )
        return others <= (_MOST_OTHER * len(kept) if self.is_tied else 0)

    def _shuffled(self, databases: Sequence[Database]) -> Iterator[Database]:
        if self.is_tied:
            yield from (shuffled(one, self.seed) for one in databases)


@dataclass(frozen=True, slots=True)
class Both:
    """What both versions made of databases."""

    before: Outcomes
    after: Outcomes

    def has(self, number: int) -> bool:
        """Whether the base runs on a database."""
        return bool(self.before) and all(number in one.rows for one in self.before.values())

    def is_tied(self, number: int) -> bool:
        """Whether the order of a database's rows decides on what the base makes of it."""
        return any(
            number + _SHUFFLED in one.rows and one.texts_of(number) != one.texts_of(number + _SHUFFLED)
            for one in self.before.values()
        )

    def rows(self, name: DatasetName, number: int) -> tuple[Rows, Rows] | None:
        """What both made of a dataset on one database; None if the head does not run there."""
        after = self.after.get(name)
        if after is None or number not in after.rows:
            return None
        return self.before[name].rows_of(number), after.rows_of(number)

    def differing(self, name: DatasetName, number: int) -> frozenset[str] | None:
        """The columns in which they differ on either order of rows (empty: rows alone); None if they do not."""
        found = frozenset[str]()
        is_other = False
        for one in (number, number + _SHUFFLED):
            if one in self.before[name].rows and not self._is_same(name, one):
                is_other, rows = True, self.rows(name, one)
                found |= frozenset() if rows is None else _other_columns(*rows)
        return found if is_other else None

    def _is_same(self, name: DatasetName, number: int) -> bool:
        after = self.after.get(name)
        if after is None or number not in after.rows or after.types != self.before[name].types:
            return False
        return self.before[name].texts_of(number) == after.texts_of(number)


def open_versions(
    laboratory: Laboratory, tables: Sequence[InputTable], plans: tuple[Plan, Plan], is_tied: bool, seed: str
) -> Versions | None:
    """None if a version is not one that many databases take at once."""
    batch = Batch(laboratory, tables)
    base, head = (over_many(plan, batch.names) for plan in plans)
    return None if base is None or head is None else Versions(batch, (base, head), is_tied, seed)


def _other_columns(before: Rows, after: Rows) -> frozenset[str]:
    shared = [name for name in before.names if name in after.types]
    return frozenset(compare_rows(before, after, shared)[0])


def _is_other(alone: Mapping[DatasetName, Rows], outcomes: Outcomes | Failure, number: int) -> bool:
    """Whether a batch gives something else on a database."""
    if isinstance(outcomes, Failure):
        return True
    return any(_is_other_in(rows, outcomes[name], number) for name, rows in alone.items())


def _is_other_in(rows: Rows, answers: Answers, number: int) -> bool:
    if number not in answers.rows or rows.types != answers.types:
        return True
    return sorted(rows.rows) != sorted(answers.rows_of(number).rows)
