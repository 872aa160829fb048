"""Two versions on one database after the other: until a difference is found, or small changes of them would show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from whence.capture.sql.trials.batches.versions import BATCH, Alone, Both, Versions, open_versions
from whence.capture.sql.trials.differences import Difference, compare_rows
from whence.capture.sql.trials.execution import Failure, Laboratory, Outcome, Rows
from whence.capture.sql.trials.faithfulness import NotTriedError
from whence.capture.sql.trials.generation.databases import make_database, mutated, shuffled
from whence.capture.sql.trials.generation.tables import Database, InputTable, Pool
from whence.capture.sql.trials.mutants import Mutant, rewritten
from whence.capture.sql.trials.plans import Plan
from whence.capture.sql.trials.survivors import Survivors
from whence.capture.sql.trials.witnesses import input_rows, output_rows, smallest
from whence.model.changes import Trial
from whence.model.names import DatasetName

FIRST: Final = 24
"""Databases on which both versions run one by one. If they give the same on all of them at once, so do the others."""
DATABASES = 120
"""On which versions without a difference are compared."""
MORE_DATABASES = 160
"""After the first ones, made for the changed parts and for small changes that none of these show."""
IN_BATCHES: Final = 3
"""How many times as many there are, if they are executed at once."""
LEAST_AIMED: Final = 40
"""Of these, even if the first ones show every small change."""
LEAST_FILLED: Final = 20
"""Databases on which the base has rows: with fewer, nothing is known."""
_AFTER_FOUND: Final = 80
"""Databases after the first difference, to find all columns that differ."""
_MOST_CONFIRMED: Final = 40
"""Databases of batches that are executed alone to confirm a difference."""
_MOST_FERTILE: Final = 60
_MOST_SPELLED: Final = 5
_MOST_EXAMPLES: Final = 5
_NO_EXAMPLE: Final = "the difference is one of types, of a version that fails, or of rows whose order is open"

Named = Mapping[DatasetName, frozenset[str] | None]
"""The datasets to compare, with the columns that may differ, in lower case; None: all."""


@dataclass(slots=True)
class Comparison:
    """One run of both versions. `aim`: the columns of tables beside the changed parts, and beside given names."""

    plans: tuple[Plan, Plan]
    laboratory: Laboratory
    tables: Sequence[InputTable]
    pools: Mapping[str, Pool]
    named: Named
    seed: str
    is_tied: bool
    aim: Callable[[frozenset[str]], frozenset[str]]
    changed: frozenset[str]
    is_same_version: Callable[[Mutant], bool]
    """Whether a small change is none, by the fingerprint."""
    found: dict[DatasetName, Difference] = field(default_factory=dict)
    written: Mapping[DatasetName, int] = field(default_factory=dict)
    """The datasets that exist before, and the place of their table."""
    fertile: list[Database] = field(default_factory=list)
    survivors: Survivors = field(init=False)
    versions: Versions | None = None
    """For many databases at once, if both give the same there as on each alone."""
    tied: set[int] = field(default_factory=set)
    """The numbers of databases on which the order of rows decides."""
    _alone: list[Alone] = field(default_factory=list)
    """The answers on the first databases."""
    _confirmed: int = 0

    def __post_init__(self) -> None:
        self.survivors = Survivors(
            self.laboratory, self.plans, lambda: [name for name, one in self.found.items() if not one.is_found]
        )

    def run(self, make_mutants: Callable[[], Sequence[Mutant]]) -> None:
        """Execute both versions until a difference is found, or the databases show that they would show one."""
        if self._compare_on(range(FIRST), self._database):
            return
        self._start_batches()
        times = 1 if self.versions is None else IN_BATCHES
        if self._compare_on(range(FIRST, DATABASES * times), self._database):
            return
        self.survivors.start(make_mutants())
        self._show_on_fertile()
        self.survivors.drop_same(self.is_same_version)
        numbers = range(DATABASES * times, (DATABASES + MORE_DATABASES) * times)
        self._compare_on(numbers, self._aimed_database, LEAST_AIMED * times)

    def trials_of(self, name: DatasetName) -> Mapping[str, Trial]:
        """What is known of a dataset, with an example of a difference: of its rows (empty), and of its columns."""
        found, named = self.found[name], self.named[name]
        plain = Trial(databases=found.compared, untried=_NO_EXAMPLE if found.is_found else self.doubt(found))
        wanted = [""] if named is None else sorted(named & found.smallest.keys())[:_MOST_EXAMPLES]
        return {"": plain} | {one: self._example(name, one) for one in wanted if one in found.smallest}

    def doubt(self, of: Difference) -> str:
        """Why a dataset without a difference is not known to have none."""
        if of.is_found:
            return ""
        if of.filled < LEAST_FILLED:
            return f"the base has rows on {of.filled} of {of.compared} databases only"
        return self.survivors.doubt()

    def _example(self, name: DatasetName, column: str) -> Trial:
        """The smallest database found that shows a difference of a column, or of rows."""

        def differs(one: Outcome, other: Outcome) -> bool:
            return shows(one, other, name, column)

        database = smallest(self.found[name].smallest[column], self._run, differs)
        self.laboratory.load(database)
        before, after = output_rows(self.laboratory, self.plans, name, column)
        inputs = tuple(input_rows(database, self.tables, self.plans))
        return Trial(databases=self.found[name].compared, inputs=inputs, before=before, after=after)

    def _compare_on(self, numbers: range, database_of: Callable[[int], Database], least: int | None = None) -> bool:
        """Whether every difference is found. `least`: stop after so many databases if nothing is left in doubt."""
        size = 1 if self.versions is None else BATCH
        for start in range(numbers.start, numbers.stop, size):
            if all(self._is_settled(name, start) for name in self.found):
                return True
            if least is not None and start >= numbers.start + least and not self._is_weak():
                return False
            self.laboratory.check_time()
            databases = [database_of(number) for number in range(start, min(start + size, numbers.stop))]
            if self.versions is not None:
                self._compare_many(self.versions, databases)
            elif self._compare(databases[0]) and self.survivors.show(databases[0].number in self.tied):
                self.fertile.append(databases[0])
        return all(one.is_found for one in self.found.values())

    def _is_weak(self) -> bool:
        return any(self.doubt(one) for one in self.found.values())

    def _start_batches(self) -> None:
        """Execute many databases at once from now on, if both versions give the same there as on each alone."""
        versions = open_versions(self.laboratory, self.tables, self.plans, self.is_tied, self.seed)
        if versions is not None and self._alone and versions.are_alike(self._alone, self.tied):
            self.versions = versions

    def _compare_many(self, versions: Versions, databases: Sequence[Database]) -> None:
        """Compare both versions on databases at once; alone where they seem to differ, and that is new."""
        both = versions.outcomes(databases)
        kept = [one for one in databases if both.has(one.number)]
        self.tied |= {one.number for one in kept if both.is_tied(one.number)}
        fresh = [one for one in kept if self._is_new(both, one.number)]
        for database in kept:
            if database not in fresh:
                self._add(both, database)
        if self.survivors.left:
            self.fertile.extend(self._show_many(versions, kept, both))
        for database in fresh[: max(0, _MOST_CONFIRMED - self._confirmed)]:
            self._confirmed += 1
            self._compare(database)

    def _is_new(self, both: Both, number: int) -> bool:
        """Whether a database seems to show a difference that none has shown alone."""
        for name, difference in self.found.items():
            columns = both.differing(name, number)
            if columns is not None and not (difference.is_found and columns <= difference.columns):
                return True
        return False

    def _add(self, both: Both, database: Database) -> None:
        """Count a database on which nothing is new."""
        is_filled = True
        for name, difference in self.found.items():
            if (rows := both.rows(name, database.number)) is not None:
                difference.add(*rows, database, database.number in self.tied, bool(rows[0].rows))
                is_filled = is_filled and bool(rows[0].rows)
        if is_filled and database.size and len(self.fertile) < _MOST_FERTILE * IN_BATCHES:
            self.fertile.append(database)

    def _show_many(self, versions: Versions, databases: Sequence[Database], both: Both) -> list[Database]:
        return list(self.survivors.show_many(versions.batch, databases, (both.before, both.after), self.tied))

    def _show_on_fertile(self) -> None:
        """Leave the small changes that no database with rows shows."""
        if self.versions is not None:
            for start in range(0, len(self.fertile), BATCH):
                both = self.versions.outcomes(databases := self.fertile[start : start + BATCH])
                self._show_many(self.versions, [one for one in databases if both.has(one.number)], both)
            return
        for place, database in enumerate(self.fertile):
            self.laboratory.load(database)
            if place < _MOST_SPELLED and database.number not in self.tied:
                self._check_spelling()
            self.survivors.show(database.number in self.tied)
            if not self.survivors.left:
                break

    def _check_spelling(self) -> None:
        """Raise NotTriedError if a version gives another answer in the spelling of its mutants."""
        for plan in self.plans:
            one, other = self.laboratory.run(plan), self.laboratory.run(rewritten(plan))
            if any(is_other(one, other, name) for name in self.found):
                raise NotTriedError("SQLGlot spells it otherwise")

    def _is_settled(self, name: DatasetName, number: int) -> bool:
        """Whether a difference is found, in all columns that may have one, or long ago."""
        of, named = self.found[name], self.named[name]
        if not of.is_found:
            return False
        return of.counts or of.columns >= (named or set(of.names)) or number >= of.first + _AFTER_FOUND

    def _database(self, number: int) -> Database:
        if self.fertile and number % 2 and number > 12:
            of = self.fertile[(number * 7) % len(self.fertile)]
            return mutated(of, number, self.tables, self.pools, self.seed)
        return make_database(number, self.tables, self.pools, self.seed)

    def _aimed_database(self, number: int) -> Database:
        """A database for the changed parts, for a small change that none has shown, or a fresh one."""
        if not self.fertile or number % 4 == 0:
            return make_database(number, self.tables, self.pools, self.seed)
        near = self.survivors.near()
        names = near[number % len(near)].names if near and number % 4 != 1 else self.changed
        of = self.fertile[-(1 + (number * 7) % len(self.fertile))]
        return mutated(of, number, self.tables, self.pools, self.seed, self.aim(names))

    def _compare(self, database: Database) -> bool:
        """Whether the base has rows there in all datasets, or changes something."""
        before, after = self._run(database)
        if isinstance(before, Failure):
            if before.is_broken:
                raise NotTriedError(f"the base does not run in DuckDB: {before.message}")
            return False
        if isinstance(after, Failure):
            if after.is_broken:
                raise NotTriedError(f"the head does not run in DuckDB: {after.message}")
            for difference in self.found.values():
                difference.add_failure(database)
            return False
        if database.number < FIRST:
            self._alone.append((database, before, after))
        tied: Mapping[DatasetName, bool] = {}
        others: tuple[Outcome, Outcome] | None = None
        other = shuffled(database, self.seed) if self.is_tied else database
        if self.is_tied:
            others = self._run(other)
            tied = {name: is_other(before, others[0], name) for name in self.found}
            self.laboratory.load(database)
        for name, difference in self.found.items():
            is_tied = tied.get(name, False)
            is_filled = self._has_effect(name, before, database)
            difference.add(before[name], after[name], database, is_tied, is_filled)
            if others is not None and not isinstance(others[0], Failure) and not isinstance(others[1], Failure):
                difference.add(others[0][name], others[1][name], other, is_tied, False)
        has_effect = all(self._has_effect(name, before, database) for name in self.found) and bool(database.size)
        if any(tied.values()):
            self.tied.add(database.number)
        if has_effect and len(self.fertile) < _MOST_FERTILE:
            self.fertile.append(database)
        return has_effect

    def _has_effect(self, name: DatasetName, before: Mapping[DatasetName, Rows], database: Database) -> bool:
        """Whether a query has rows, or a statement changes the table that it writes."""
        place = self.written.get(name)
        if place is None:
            return bool(before[name].rows)
        untouched = self.laboratory.fetch_table(self.tables[place])
        return sorted(untouched.rows) != sorted(before[name].rows)

    def _run(self, database: Database) -> tuple[Outcome, Outcome]:
        self.laboratory.load(database)
        before = self.laboratory.run(self.plans[0])
        return before, before if isinstance(before, Failure) else self.laboratory.run(self.plans[1])


def is_other(one: Outcome, other: Outcome, name: DatasetName) -> bool:
    """Whether two answers differ."""
    return isinstance(one, Failure) or isinstance(other, Failure) or shows(one, other, name, "")


def shows(one: Outcome, other: Outcome, name: DatasetName, column: str) -> bool:
    """Whether two answers differ in a column, or in rows (empty)."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return False
    left, right = one[name], other[name]
    columns, is_other = compare_rows(left, right, [column for column in left.names if column in right.types])
    return column in columns if column else is_other
