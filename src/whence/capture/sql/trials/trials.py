"""A second judgement: both versions are executed on databases made for them, in search of a difference."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from time import process_time

from sqlglot import exp

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.fingerprint.projects.code import ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.projects.reading_order import table_of
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import parse_column_name
from whence.capture.sql.trials.databases import (
    NULL,
    Database,
    InputColumn,
    InputTable,
    Key,
    Pool,
    make_database,
    mutated,
    shuffled,
)
from whence.capture.sql.trials.differences import Difference, compare_rows
from whence.capture.sql.trials.execution import MOST_TIMEOUTS, Failure, Laboratory, Outcome, Rows, open_laboratory
from whence.capture.sql.trials.faithfulness import NotTriedError, depends_on_order
from whence.capture.sql.trials.mutants import Mutant, mutants_of
from whence.capture.sql.trials.plans import Plan, defaults_of, find_table, known_types, plan_version
from whence.capture.sql.trials.uses import Uses, read_uses
from whence.capture.sql.trials.values import Hints, Shape, shape_of, values_of
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
_TIES = "only rows whose order is open, or a version that fails, show a difference"
_MOST_SECONDS = 15
"""Of CPU, for all datasets of a head."""
_MOST_CONDITIONS = 40
_MOST_VALUES = 60


@dataclass(frozen=True, slots=True)
class DatasetTrial:
    """What executing showed of one dataset. `trial`: for its changes."""

    difference: Difference
    trial: Trial


Named = Mapping[DatasetName, frozenset[str] | None]
"""The datasets to compare, with the columns that may differ, in lower case; None: all."""


def run_trials(base: ProjectCode, head: ProjectCode, datasets: Named) -> Mapping[DatasetName, DatasetTrial]:
    """Execute both versions of some datasets. Both projects have the same keys and types."""
    if not datasets:
        return {}
    try:
        with _comparison(base, head, datasets) as comparison:
            comparison.run()
            return {name: DatasetTrial(one, comparison.trial_of(name)) for name, one in comparison.found.items()}
    except NotTriedError as error:
        untried = DatasetTrial(Difference(), Trial(untried=str(error)))
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

    def trial_of(self, name: DatasetName) -> Trial:
        """What is known of a dataset, with an example of a difference."""
        found = self.found[name]
        if not found.is_found or found.smallest is None:
            return Trial(databases=found.compared, untried=_doubt(found) or ("" if not found.is_found else _TIES))
        database = smallest(found.smallest, self._run, lambda one, other: _differs(one, other, name))
        self.laboratory.load(database)
        before, after = output_rows(self.laboratory, self.plans, name)
        inputs = tuple(input_rows(database, self.tables, self.plans))
        return Trial(databases=found.compared, inputs=inputs, before=before, after=after)

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
        return all(sorted(one[name].rows) == sorted(other[name].rows) for name in self.found)

    def _run(self, database: Database) -> tuple[Outcome, Outcome]:
        self.laboratory.load(database)
        before = self.laboratory.run(self.plans[0])
        return before, before if isinstance(before, Failure) else self.laboratory.run(self.plans[1])


def _differs(one: Outcome, other: Outcome, name: DatasetName) -> bool:
    """Whether two answers differ."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return True
    left, right = one[name], other[name]
    return compare_rows(left, right, [column for column in left.names if column in right.types])[1]


@contextmanager
def _comparison(base: ProjectCode, head: ProjectCode, datasets: Named) -> Iterator[_Comparison]:
    plans = plan_version(base, tuple(datasets)), plan_version(head, tuple(datasets))
    statements = [one for plan in plans for one in plan.statements]
    shapes = _input_shapes(base, plans)
    columns = frozenset(name.lower() for kinds in shapes.values() for name in kinds)
    uses = read_uses(statements, columns)
    tables = [_input_table(table, kinds, base, uses) for table, kinds in sorted(shapes.items(), key=str)]
    made = [table for plan in plans for step in plan.steps for table in step.writes]
    with open_laboratory(tables, made) as laboratory:
        pools = dict(_pools(tables, uses, laboratory))
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


def _input_shapes(project: ProjectCode, plans: tuple[Plan, Plan]) -> Mapping[Table, Mapping[str, Shape]]:
    """The columns of the tables that are read, with their types. Raises NotTriedError."""
    known, dialect, defaults = known_types(project), dialect_of(project.dialect), defaults_of(project)
    found: dict[Table, Mapping[str, Shape]] = {}
    meant: dict[Table, Table] = {}
    for table in sorted(plans[0].inputs | plans[1].inputs, key=str):
        declared = find_table(table, known, defaults)
        if declared is None:
            raise NotTriedError(f"the types of the columns of {table} are not known")
        if meant.setdefault(declared, table) != table:
            raise NotTriedError(f"it calls {declared} by two names")
        found[table] = {
            parse_column_name(dialect, name): _shape(table, name, kind) for name, kind in known[declared].items()
        }
    return found


def _shape(table: Table, name: str, type_: str) -> Shape:
    shape = shape_of(type_)
    if shape is None:
        raise NotTriedError(f"no values are made for {table}.{name} of the type {type_}")
    return shape


def _input_table(table: Table, shapes: Mapping[str, Shape], project: ProjectCode, uses: Uses) -> InputTable:
    columns = tuple(InputColumn(name, shape, _pool_name(name, shape, uses)) for name, shape in shapes.items())
    return InputTable(table.parts, columns, tuple(_keys(table, list(shapes), project)))


def _pool_name(name: str, shape: Shape, uses: Uses) -> str:
    return f"{uses.group_of(name.lower())}: {shape.type.lower()}"


def _keys(table: Table, names: list[str], project: ProjectCode) -> Iterator[Key]:
    by_table = {table_of(name, project.dialect): keys for name, keys in project.keys.items()}
    declared = find_table(table, by_table, defaults_of(project))
    places = {name.lower(): place for place, name in enumerate(names)}
    for key in by_table[declared] if declared is not None else ():
        if all(name.lower() in places for name in key.columns):
            yield _key(key, places)


def _key(key: UniqueKey, places: Mapping[str, int]) -> Key:
    return Key(tuple(places[name.lower()] for name in key.columns), key.is_complete)


def _pools(tables: Sequence[InputTable], uses: Uses, laboratory: Laboratory) -> Iterator[tuple[str, Pool]]:
    columns: dict[str, list[InputColumn]] = {}
    for table in tables:
        for column in table.columns:
            columns.setdefault(column.pool, []).append(column)
    for name, of in columns.items():
        shape, names = of[0].shape, sorted({column.name.lower() for column in of})
        linked = [one for one in uses.hints if uses.group_of(one) == uses.group_of(names[0])]
        yield name, _pool(shape, uses.hints_of([*names, *linked]), names, uses, laboratory)


def _pool(shape: Shape, hints: Hints, names: Sequence[str], uses: Uses, laboratory: Laboratory) -> Pool:
    values = [*laboratory.are_of(shape, values_of(shape, hints)[:_MOST_VALUES]), NULL]
    if len(values) == 1:
        raise NotTriedError(f"no value of the type {shape.type} is known")
    listed = [(name, *one) for name in names for one in uses.conditions.get(name, {}).items()][:_MOST_CONDITIONS]
    if shape.kind == "text":
        listed += [(name, text, True) for name in names for text in uses.conversions.get(name, ())]
    found: dict[bool, dict[tuple[bool | None, ...], None]] = {True: {}, False: {}}
    for name, text, is_required in listed:
        holds = laboratory.holds(shape, values, name, text)
        if holds is not None and len(set(holds)) > 1:
            found[is_required][holds] = None
    return Pool(tuple(values), tuple(found[True]), tuple(found[False]), not uses.grouping.isdisjoint(names))
