"""A second judgement: both versions are executed on databases made for them, in search of a difference."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from time import process_time

from sqlglot import exp

from whence.capture.sql.fingerprint.projects.code import ProjectCode
from whence.capture.sql.lineage import Table
from whence.capture.sql.trials.databases import (
    Database,
    InputTable,
    Pool,
    make_database,
    mutated,
    shuffled,
)
from whence.capture.sql.trials.differences import Difference, compare_rows
from whence.capture.sql.trials.execution import MOST_TIMEOUTS, Failure, Laboratory, Outcome, Rows, open_laboratory
from whence.capture.sql.trials.faithfulness import NotTriedError, check_same_meaning, check_same_types, depends_on_order
from whence.capture.sql.trials.inputs import input_shapes, input_table, make_pools
from whence.capture.sql.trials.mutants import Mutant, mutants_of
from whence.capture.sql.trials.plans import Plan, plan_version
from whence.capture.sql.trials.uses import read_uses
from whence.capture.sql.trials.witnesses import input_rows, output_rows, smallest
from whence.model.changes import Trial
from whence.model.names import DatasetName

DATABASES = 120
"""On which versions without a difference are compared."""
_AFTER_FOUND = 80
"""Databases after the first difference, to find all columns that differ."""
_MOST_FERTILE = 40
MORE_DATABASES = 80
"""If the first ones show too few of the small changes of the base."""
MOST_SURVIVING = 0.25
"""The share of the small changes of the base that the databases need not show: some change nothing."""
MOST_NEAR = 0.34
"""That share of those of the parts that the head has not."""
LEAST_FILLED = 20
"""Databases on which the base has rows: with fewer, nothing is known."""
_MOST_EXAMPLES = 5
_NO_EXAMPLE = "the difference is one of types, of a version that fails, or of rows whose order is open"
_MOST_SECONDS = 15
"""Of CPU, for all datasets of a head."""


@dataclass(frozen=True, slots=True)
class DatasetTrial:
    """What executing showed of one dataset. `trials`: for changes of each column that differs, and for all others."""

    difference: Difference
    trials: Mapping[str, Trial]

    def trial_of(self, column: str | None) -> Trial:
        """What is said with a change."""
        return self.trials.get((column or "").lower()) or self.trials[""]


Named = Mapping[DatasetName, frozenset[str] | None]
"""The datasets to compare, with the columns that may differ, in lower case; None: all."""


def run_trials(base: ProjectCode, head: ProjectCode, datasets: Named) -> Mapping[DatasetName, DatasetTrial]:
    """Execute both versions of some datasets. Both projects have the same keys and types."""
    if not datasets:
        return {}
    try:
        with _comparison(base, head, datasets) as comparison:
            comparison.run()
            return {name: DatasetTrial(one, comparison.trials_of(name)) for name, one in comparison.found.items()}
    except NotTriedError as error:
        untried = DatasetTrial(Difference(), {"": Trial(untried=str(error))})
        return dict.fromkeys(datasets, untried)


def _doubt(of: Difference) -> str:
    """Why a dataset without a difference is not known to have none."""
    if of.is_found:
        return ""
    if of.filled < LEAST_FILLED:
        return f"the base has rows on {of.filled} of {of.compared} databases only"
    near, whole = (of.near, of.near_survivors, MOST_NEAR), (of.mutants, of.survivors, MOST_SURVIVING)
    for mutants, survivors, most in (near, whole):
        if survivors > most * mutants:
            return f"the databases show {mutants - survivors} of {mutants} small changes of its query only"
    return ""


@dataclass(slots=True)
class _Comparison:
    plans: tuple[Plan, Plan]
    laboratory: Laboratory
    tables: Sequence[InputTable]
    pools: Mapping[str, Pool]
    named: Named
    seed: str
    is_tied: bool
    found: dict[DatasetName, Difference] = field(default_factory=dict)
    written: Mapping[DatasetName, int] = field(default_factory=dict)
    """The datasets that exist before, and the place of their table."""
    fertile: list[Database] = field(default_factory=list)
    deadline: float = field(default_factory=lambda: process_time() + _MOST_SECONDS)
    late: list[Database] = field(default_factory=list)
    survivors: list[Mutant] = field(default_factory=list)

    def run(self) -> None:
        """Execute both versions until a difference is found, or the databases show that they would show one."""
        if self._compare_on(range(DATABASES)):
            return
        self._kill_mutants(self.fertile, mutants_of(*self.plans))
        if not self._is_weak():
            return
        self._compare_on(range(DATABASES, DATABASES + MORE_DATABASES))
        self._kill_mutants(self.late, self.survivors)

    def trials_of(self, name: DatasetName) -> Mapping[str, Trial]:
        """What is known of a dataset, with an example of a difference: of its rows (empty), and of its columns."""
        found, named = self.found[name], self.named[name]
        plain = Trial(databases=found.compared, untried=_NO_EXAMPLE if found.is_found else _doubt(found))
        wanted = [""] if named is None else sorted(named & found.smallest.keys())[:_MOST_EXAMPLES]
        return {"": plain} | {one: self._example(name, one) for one in wanted if one in found.smallest}

    def _example(self, name: DatasetName, column: str) -> Trial:
        """The smallest database found that shows a difference of a column, or of rows."""

        def differs(one: Outcome, other: Outcome) -> bool:
            return _shows(one, other, name, column)

        database = smallest(self.found[name].smallest[column], self._run, differs)
        self.laboratory.load(database)
        before, after = output_rows(self.laboratory, self.plans, name, column)
        inputs = tuple(input_rows(database, self.tables, self.plans))
        return Trial(databases=self.found[name].compared, inputs=inputs, before=before, after=after)

    def _compare_on(self, numbers: range) -> bool:
        """Whether all that may be known is known."""
        for number in numbers:
            if all(self._is_settled(name, number) for name in self.found):
                return True
            if self.laboratory.timeouts >= MOST_TIMEOUTS or process_time() > self.deadline:
                raise NotTriedError("it takes too long")
            self._compare(self._database(number))
        return all(one.is_found for one in self.found.values())

    def _is_weak(self) -> bool:
        return any(_doubt(one) or (one.near_survivors and not one.is_found) for one in self.found.values())

    def _kill_mutants(self, databases: Sequence[Database], mutants: Sequence[Mutant]) -> None:
        """Leave the small changes of the base that no database shows."""
        self.survivors = list(mutants)
        for database in databases:
            if not self.survivors:
                break
            self.laboratory.load(database)
            before = self.laboratory.run(self.plans[0])
            self.survivors = [one for one in self.survivors if self._is_same(before, self.laboratory.run(one.plan))]
        for difference in self.found.values():
            difference.mutants = max(difference.mutants, len(mutants))
            difference.near = max(difference.near, sum(one.is_near for one in mutants))
            difference.survivors = len(self.survivors)
            difference.near_survivors = sum(one.is_near for one in self.survivors)

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

    def _compare(self, database: Database) -> None:
        before, after = self._run(database)
        if isinstance(before, Failure):
            if before.is_broken:
                raise NotTriedError(f"the base does not run in DuckDB: {before.message}")
            return
        if isinstance(after, Failure):
            if after.is_broken:
                raise NotTriedError(f"the head does not run in DuckDB: {after.message}")
            for difference in self.found.values():
                difference.add_failure(database)
            return
        tied: Mapping[DatasetName, bool] = {}
        others: tuple[Outcome, Outcome] | None = None
        other = shuffled(database, self.seed) if self.is_tied else database
        if self.is_tied:
            others = self._run(other)
            tied = {name: _differs(before, others[0], name) for name in self.found}
        for name, difference in self.found.items():
            is_tied = tied.get(name, False)
            is_filled = self._has_effect(name, before, database)
            difference.add(before[name], after[name], database, is_tied, is_filled)
            if others is not None and not isinstance(others[0], Failure) and not isinstance(others[1], Failure):
                difference.add(others[0][name], others[1][name], other, is_tied, False)
        if all(self._has_effect(name, before, database) for name in self.found) and database.size:
            known = self.fertile if database.number < DATABASES else self.late
            if len(known) < _MOST_FERTILE:
                known.append(database)

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

    def _run(self, database: Database) -> tuple[Outcome, Outcome]:
        self.laboratory.load(database)
        before = self.laboratory.run(self.plans[0])
        return before, before if isinstance(before, Failure) else self.laboratory.run(self.plans[1])


def _differs(one: Outcome, other: Outcome, name: DatasetName) -> bool:
    """Whether two answers differ."""
    return isinstance(one, Failure) or isinstance(other, Failure) or _shows(one, other, name, "")


def _shows(one: Outcome, other: Outcome, name: DatasetName, column: str) -> bool:
    """Whether two answers differ in a column, or in rows (empty)."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return False
    left, right = one[name], other[name]
    columns, is_other = compare_rows(left, right, [column for column in left.names if column in right.types])
    return column in columns if column else is_other


@contextmanager
def _comparison(base: ProjectCode, head: ProjectCode, datasets: Named) -> Iterator[_Comparison]:
    plans = plan_version(base, tuple(datasets)), plan_version(head, tuple(datasets))
    statements = [one for plan in plans for one in plan.statements]
    check_same_meaning(list(plans[0].statements), list(plans[1].statements), base.dialect)
    shapes = input_shapes(base, plans)
    kinds: dict[str, frozenset[str]] = {}
    for name, shape in (one for listed in shapes.values() for one in listed.items()):
        kinds[name.lower()] = kinds.get(name.lower(), frozenset()) | {shape.kind}
    check_same_types(statements, kinds, base.dialect)
    columns = frozenset(kinds)
    uses = read_uses(statements, columns)
    tables = [input_table(table, kinds, base, uses) for table, kinds in sorted(shapes.items(), key=str)]
    made = [table for plan in plans for step in plan.steps for table in step.writes]
    with open_laboratory(tables, made) as laboratory:
        pools = dict(make_pools(tables, uses, laboratory))
        yield _Comparison(
            plans=plans,
            laboratory=laboratory,
            tables=tables,
            pools=pools,
            named=datasets,
            seed=_seed(statements),
            is_tied=any(map(depends_on_order, statements)),
            found={name: Difference() for name in datasets},
            written=_written(plans, tables),
        )


def _written(plans: tuple[Plan, Plan], tables: Sequence[InputTable]) -> Mapping[DatasetName, int]:
    places = {Table(table.parts): place for place, table in enumerate(tables)}
    return {name: places[table] for plan in plans for name, table in plan.outputs.items() if table in places}


def _seed(statements: Sequence[exp.Expr]) -> str:
    return blake2b("\0".join(one.sql() for one in statements).encode(), digest_size=8).hexdigest()
