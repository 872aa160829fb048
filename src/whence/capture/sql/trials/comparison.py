"""Two versions on one database after the other: until a difference is found, or small changes of them would show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Final

from whence.capture.sql.trials.differences import Difference, compare_rows
from whence.capture.sql.trials.execution import MOST_TIMEOUTS, Failure, Laboratory, Outcome, Rows
from whence.capture.sql.trials.faithfulness import NotTriedError
from whence.capture.sql.trials.generation.databases import make_database, mutated, shuffled
from whence.capture.sql.trials.generation.tables import Database, InputTable, Pool
from whence.capture.sql.trials.mutants import Mutant, rewritten
from whence.capture.sql.trials.plans import Plan
from whence.capture.sql.trials.witnesses import input_rows, output_rows, smallest
from whence.model.changes import Trial
from whence.model.names import DatasetName

DATABASES = 120
"""On which versions without a difference are compared."""
MORE_DATABASES = 160
"""After the first ones, made for the changed parts and for small changes that none of these show."""
LEAST_AIMED: Final = 40
"""Of these, even if the first ones show every small change."""
LEAST_PROBED: Final = 12
"""Databases on which a small change has another value in its place. If the answers are the same, the query hides it."""
LEAST_FILLED: Final = 20
"""Databases on which the base has rows: with fewer, nothing is known."""
MOST_SURVIVING: Final = 0.34
"""The share of the small changes in other parts that the databases need not show: some change nothing."""
_AFTER_FOUND: Final = 80
"""Databases after the first difference, to find all columns that differ."""
_MOST_FERTILE: Final = 60
_MOST_SPELLED: Final = 5
_MOST_EXAMPLES: Final = 5
_NO_EXAMPLE: Final = "the difference is one of types, of a version that fails, or of rows whose order is open"
_MOST_SECONDS: Final = 15
"""Of CPU, for all datasets of a head."""

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
    deadline: float = field(default_factory=lambda: process_time() + _MOST_SECONDS)
    survivors: list[Mutant] = field(default_factory=list)
    probed: dict[str, int] = field(default_factory=dict)
    """The databases on which a small change has another value in its place, and none in the answer: how many."""
    tied: set[int] = field(default_factory=set)
    """The numbers of databases on which the order of rows decides."""
    executed: set[str] = field(default_factory=set)
    """The small changes that run on a database."""
    others: int = 0
    """Small changes of the parts that both versions have."""

    def run(self, make_mutants: Callable[[], Sequence[Mutant]]) -> None:
        """Execute both versions until a difference is found, or the databases show that they would show one."""
        if self._compare_on(range(DATABASES), self._database):
            return
        self.survivors = list(make_mutants())
        self.others = sum(not one.is_near for one in self.survivors)
        for place, database in enumerate(self.fertile):
            self.laboratory.load(database)
            if place < _MOST_SPELLED and database.number not in self.tied:
                self._check_spelling()
            self._kill_mutants(database.number in self.tied)
            if not self.survivors:
                break
        self.survivors = [one for one in self.survivors if not (one.is_near and self.is_same_version(one))]
        self._compare_on(range(DATABASES, DATABASES + MORE_DATABASES), self._aimed_database)

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
        if near := self._open_mutants():
            return f"no database shows {near[0].text}" + (f", and {len(near) - 1} more" if len(near) > 1 else "")
        left = sum(not one.is_near for one in self.survivors)
        if left > max(1, MOST_SURVIVING * self.others):
            return f"the databases show {self.others - left} of {self.others} small changes of other parts only"
        return ""

    def _example(self, name: DatasetName, column: str) -> Trial:
        """The smallest database found that shows a difference of a column, or of rows."""

        def differs(one: Outcome, other: Outcome) -> bool:
            return shows(one, other, name, column)

        database = smallest(self.found[name].smallest[column], self._run, differs)
        self.laboratory.load(database)
        before, after = output_rows(self.laboratory, self.plans, name, column)
        inputs = tuple(input_rows(database, self.tables, self.plans))
        return Trial(databases=self.found[name].compared, inputs=inputs, before=before, after=after)

    def _compare_on(self, numbers: range, database_of: Callable[[int], Database]) -> bool:
        """Whether all that may be known is known."""
        for number in numbers:
            if all(self._is_settled(name, number) for name in self.found):
                return True
            if number >= DATABASES + LEAST_AIMED and not self._is_weak():
                return False
            if self.laboratory.timeouts >= MOST_TIMEOUTS or process_time() > self.deadline:
                raise NotTriedError("it takes too long")
            database = database_of(number)
            if self._compare(database) and self._kill_mutants(database.number in self.tied):
                self.fertile.append(database)
        return all(one.is_found for one in self.found.values())

    def _is_weak(self) -> bool:
        return any(self.doubt(one) for one in self.found.values())

    def _check_spelling(self) -> None:
        """Raise NotTriedError if a version gives another answer in the spelling of its mutants."""
        for plan in self.plans:
            if not self._is_same(self.laboratory.run(plan), self.laboratory.run(rewritten(plan))):
                raise NotTriedError("SQLGlot spells it otherwise")

    def _kill_mutants(self, is_tied: bool) -> bool:
        """Leave the small changes that the loaded database does not show; whether it shows one of a changed part.

        `is_tied`: whether the order of rows decides there. Then only another number of rows shows something.
        """
        if not self.survivors:
            return False
        outcomes = [self.laboratory.run(plan) for plan in self.plans]
        found = [(one, self._judge(one, outcomes[one.of], is_tied)) for one in self.survivors]
        self.others -= sum(judged is None and not one.is_near for one, judged in found)
        self.survivors = [one for one, judged in found if judged is False]
        return any(judged and one.is_near for one, judged in found)

    def _judge(self, mutant: Mutant, outcome: Outcome, is_tied: bool) -> bool | None:
        """Whether the loaded database shows a small change; None for one that does not run, or is hidden."""
        found = self.laboratory.run(mutant.plan)
        if isinstance(found, Failure):
            return None if found.is_broken else False
        self.executed.add(mutant.text)
        if not (self._has_same_size if is_tied else self._is_same)(outcome, found):
            return True
        return None if self._is_hidden(mutant) else False

    def _is_hidden(self, mutant: Mutant) -> bool:
        """Whether a small change had another value in its place on many databases, and none in the answers."""
        if mutant.probe is None:
            return False
        found = self.laboratory.run(mutant.probe)
        if not isinstance(found, Failure) and any(row != ("0",) for rows in found.values() for row in rows.rows):
            self.probed[mutant.text] = self.probed.get(mutant.text, 0) + 1
        return self.probed.get(mutant.text, 0) >= LEAST_PROBED

    def _open_mutants(self) -> list[Mutant]:
        """The small changes of changed parts that no database shows, and that hardly one has tried."""
        return [one for one in self.survivors if one.is_near and one.text in self.executed]

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
        near = self._open_mutants()
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

    def _is_same(self, one: Outcome, other: Outcome) -> bool:
        if isinstance(one, Failure) or isinstance(other, Failure):
            return False
        open_ = [name for name, difference in self.found.items() if not difference.is_found]
        return all(sorted(one[name].rows) == sorted(other[name].rows) for name in open_)

    def _has_same_size(self, one: Outcome, other: Outcome) -> bool:
        if isinstance(one, Failure) or isinstance(other, Failure):
            return False
        return all(len(one[name].rows) == len(other[name].rows) for name in self.found)

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
