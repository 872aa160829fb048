"""What is executed of each version: the code that the changed datasets are made of, and the tables that it reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.reading_order import in_order, read_and_written, table_of
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.trials.faithfulness import NotTriedError, translated
from whence.model.names import DatasetName

MOST_STEPS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file: a model's query (`table` is what it builds), or a script. `sql` is DuckDB's."""

    file: str
    sql: str
    statements: tuple[exp.Expr, ...]
    table: Table | None
    reads: frozenset[Table]
    writes: frozenset[Table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One version, in the order of execution. `outputs`: where each dataset that is compared is found."""

    steps: tuple[Step, ...]
    outputs: Mapping[DatasetName, Table]
    inputs: frozenset[Table] = field(default=frozenset())

    @property
    def statements(self) -> Iterator[exp.Expr]:
        return (one for step in self.steps for one in step.statements)

    @property
    def is_one_query(self) -> bool:
        """Whether there is one model, whose rows are those of its query."""
        return len(self.steps) == 1 and self.steps[0].table is not None


def plan_version(project: ProjectCode, wanted: Sequence[DatasetName]) -> Plan:
    """How a version builds the datasets. Raises NotTriedError."""
    steps: list[tuple[Code, frozenset[Table], frozenset[Table]]] = []
    outputs: dict[DatasetName, Table] = {}
    for code, _ in in_order(project):
        reads, writes = read_and_written(code, project)
        steps.append((code, reads, writes))
        for table in writes:
            name = code.builds or project.dataset_of(table)
            outputs.setdefault(name, table)
    found = {name: outputs[name] for name in wanted if name in outputs}
    if len(found) != len(wanted):
        raise NotTriedError("a version does not build it")
    kept = _closure(steps, set(found.values()))
    if len(kept) > MOST_STEPS:
        raise NotTriedError(f"it is made of {len(kept)} files; at most {MOST_STEPS} are executed")
    made = tuple(_step(project, *one) for one in kept)
    return Plan(steps=made, outputs=found, inputs=frozenset(_inputs(made)))


def _closure(
    steps: Sequence[tuple[Code, frozenset[Table], frozenset[Table]]], wanted: set[Table]
) -> list[tuple[Code, frozenset[Table], frozenset[Table]]]:
    kept = []
    for code, reads, writes in reversed(steps):
        if writes & wanted:
            wanted |= reads | writes
            kept.append((code, reads, writes))
    return kept[::-1]


def _step(project: ProjectCode, code: Code, reads: frozenset[Table], writes: frozenset[Table]) -> Step:
    if code.kind != "sql":
        raise NotTriedError(f"{code.file} is not SQL")
    if code.is_incremental or code.settings.keys() & {"sql_header", "pre-hook", "post-hook"}:
        raise NotTriedError(f"{code.file} adds to the rows that exist, or has hooks")
    try:
        statements = [one for one in sqlglot.parse(code.sql, dialect=dialect_of(project.dialect).parser) if one]
    except (SqlglotError, RecursionError) as error:
        raise NotTriedError(f"{code.file} is not parsed: {str(error).splitlines()[0]}") from None
    is_model = code.builds is not None
    if not statements or (is_model and (len(statements) != 1 or not isinstance(statements[0], exp.Query))):
        raise NotTriedError(f"{code.file} is not one query")
    if not is_model and not all(isinstance(one, _WRITING) for one in statements):
        raise NotTriedError(f"{code.file} has a statement that is not executed here")
    sql = translated(code.sql, statements, project.dialect)
    table = table_of(code.table, project.dialect) if is_model else None
    return Step(file=code.file, sql=sql, statements=tuple(statements), table=table, reads=reads, writes=writes)


_WRITING = (exp.Insert, exp.Create, exp.Merge, exp.Update, exp.Delete)


def _inputs(steps: Iterable[Step]) -> Iterator[Table]:
    """The tables that exist before: those that are read or changed, and not created."""
    created: set[Table] = set()
    for step in steps:
        yield from step.reads - created - step.writes
        if step.table is not None:
            created.add(step.table)
            continue
        made = {one for one in step.writes if any(_creates(statement, one) for statement in step.statements)}
        yield from step.writes - made - created
        created |= made


def _creates(statement: exp.Expr, table: Table) -> bool:
    if not isinstance(statement, exp.Create):
        return False
    target = statement.find(exp.Table)
    return target is not None and target.name.lower() == table.parts[-1].lower()


def known_types(project: ProjectCode) -> Mapping[Table, Mapping[str, str]]:
    """The types of columns of tables that are not built."""
    return {table_of(name, project.dialect): types for name, types in project.types.items()}


def find_table(table: Table, known: Iterable[Table], defaults: Sequence[tuple[str, ...]]) -> Table | None:
    """The known table that a name in SQL means: it, or the only one that it shortens or extends."""
    listed = list(known)
    if table in listed:
        return table
    for prefix in defaults:
        if (one := Table((*prefix, *table.parts))) in listed:
            return one
    parts = tuple(part.lower() for part in table.parts)
    fits = [one for one in listed if _ends_alike(parts, tuple(part.lower() for part in one.parts))]
    return fits[0] if len(fits) == 1 else None


def _ends_alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    count = min(len(one), len(other))
    return one[-count:] == other[-count:]


def defaults_of(project: ProjectCode) -> tuple[tuple[str, ...], ...]:
    return Catalog.from_columns({}, project.dialect, project.defaults).defaults
