"""A second judgement: both versions are executed on databases made for them, in search of a difference."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b

from sqlglot import exp

from whence.capture.sql.fingerprint.projects.code import ProjectCode
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql.lineage import Table
from whence.capture.sql.trials.comparison import Comparison, Named
from whence.capture.sql.trials.differences import Difference
from whence.capture.sql.trials.execution import open_laboratory
from whence.capture.sql.trials.faithfulness import NotTriedError, check_same_meaning, check_same_types, depends_on_order
from whence.capture.sql.trials.generation.tables import InputTable
from whence.capture.sql.trials.generation.uses import read_uses
from whence.capture.sql.trials.generation.values import Shape
from whence.capture.sql.trials.inputs import input_shapes, input_table, make_pools
from whence.capture.sql.trials.mutants import Mutant, changed_names, mutants_of
from whence.capture.sql.trials.plans import MOST_STEPS, Plan, plan_version
from whence.model.changes import Trial
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True)
class DatasetTrial:
    """What executing showed of one dataset. `trials`: for changes of each column that differs, and for all others."""

    difference: Difference
    trials: Mapping[str, Trial]

    def trial_of(self, column: str | None) -> Trial:
        """What is said with a change."""
        return self.trials.get((column or "").lower()) or self.trials[""]


def run_trials(base: ProjectCode, head: ProjectCode, datasets: Named) -> Mapping[DatasetName, DatasetTrial]:
    """Execute both versions of those datasets that can be, together. Both projects have the same keys and types."""
    untried = _untried(base, head, datasets)
    rest = {name: columns for name, columns in datasets.items() if name not in untried}
    return {**untried, **_run_together(base, head, rest)}


def _untried(base: ProjectCode, head: ProjectCode, datasets: Named) -> dict[DatasetName, DatasetTrial]:
    """The datasets that cannot be executed for a reason of their own, if not all of them can be together."""
    try:
        _plan(base, head, datasets)
    except NotTriedError as error:
        if len(datasets) > MOST_STEPS:  # to plan each costs the square of the project
            return dict.fromkeys(datasets, _not_tried(error))
    else:
        return {}
    found = {}
    for name, columns in datasets.items():
        try:
            _plan(base, head, {name: columns})
        except NotTriedError as error:
            found[name] = _not_tried(error)
    return found


def _not_tried(error: NotTriedError) -> DatasetTrial:
    return DatasetTrial(Difference(), {"": Trial(untried=str(error))})


def _run_together(base: ProjectCode, head: ProjectCode, datasets: Named) -> Mapping[DatasetName, DatasetTrial]:
    if not datasets:
        return {}
    try:
        with _comparison(base, head, datasets) as comparison:
            comparison.run(lambda: mutants_of(*comparison.plans))
            return {name: DatasetTrial(one, comparison.trials_of(name)) for name, one in comparison.found.items()}
    except NotTriedError as error:
        return dict.fromkeys(datasets, _not_tried(error))


@dataclass(frozen=True, slots=True)
class _Planned:
    """What is executed of both versions. `shapes`: of the columns of the tables that exist before; `kinds`: of all
    columns of one name.
    """

    plans: tuple[Plan, Plan]
    statements: Sequence[exp.Expr]
    shapes: Mapping[Table, Mapping[str, Shape]]
    kinds: Mapping[str, frozenset[str]]


def _plan(base: ProjectCode, head: ProjectCode, datasets: Named) -> _Planned:
    """Raises NotTriedError if DuckDB may not execute it as the warehouse does, or a type is not known."""
    plans = plan_version(base, tuple(datasets)), plan_version(head, tuple(datasets))
    statements = [one for plan in plans for one in plan.statements]
    check_same_meaning(list(plans[0].statements), list(plans[1].statements), base.dialect)
    shapes = input_shapes(base, plans)
    kinds: dict[str, frozenset[str]] = {}
    for name, shape in (one for listed in shapes.values() for one in listed.items()):
        kinds[name.lower()] = kinds.get(name.lower(), frozenset()) | {shape.kind}
    check_same_types(statements, kinds, base.dialect)
    return _Planned(plans, statements, shapes, kinds)


@contextmanager
def _comparison(base: ProjectCode, head: ProjectCode, datasets: Named) -> Iterator[Comparison]:
    planned = _plan(base, head, datasets)
    plans, statements = planned.plans, planned.statements
    columns, readings = frozenset(planned.kinds), Readings()
    uses = read_uses(statements, columns)
    tables = [input_table(table, shapes, base, uses) for table, shapes in sorted(planned.shapes.items(), key=str)]
    made = [table for plan in plans for step in plan.steps for table in step.writes]
    with open_laboratory(tables, made) as laboratory:
        pools = dict(make_pools(tables, uses, laboratory))
        yield Comparison(
            plans=plans,
            laboratory=laboratory,
            tables=tables,
            pools=pools,
            named=datasets,
            seed=_seed(statements),
            is_tied=any(map(depends_on_order, statements)),
            aim=uses.sources_of,
            changed=changed_names(*plans),
            is_same_version=lambda mutant: _is_same_version((base, head)[mutant.of], mutant, readings),
            found={name: Difference() for name in datasets},
            written=_written(plans, tables),
        )


def _is_same_version(project: ProjectCode, mutant: Mutant, readings: Readings) -> bool:
    """Whether the fingerprint finds no change of meaning in a small change of a version."""
    if project.dialect != "duckdb":
        return False
    by_file = {step.file: step.sql for step in mutant.plan.steps}
    codes = tuple(replace(code, sql=by_file.get(code.file, code.sql)) for code in project.codes)
    changes = compare_projects(project, replace(project, codes=codes), readings)
    return all(change.kind.is_harmless for change in changes)


def _written(plans: tuple[Plan, Plan], tables: Sequence[InputTable]) -> Mapping[DatasetName, int]:
    places = {Table(table.parts): place for place, table in enumerate(tables)}
    return {name: places[table] for plan in plans for name, table in plan.outputs.items() if table in places}


def _seed(statements: Sequence[exp.Expr]) -> str:
    return blake2b("\0".join(one.sql() for one in statements).encode(), digest_size=8).hexdigest()
