"""One version of a project: each dataset read after those that it is made of, with the columns that they have then."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.fingerprint.code import Code, ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.meaning import Model
from whence.capture.sql.fingerprint.targets import ScriptTargets, Target, TargetColumn, model_of, read_targets
from whence.capture.sql.lineage import RESULT, Span, Table
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.names.names import parse_name_parts
from whence.capture.sql.provenance.formulas import Formula, Formulas, RowKey
from whence.capture.sql.provenance.relations import STAR
from whence.capture.sql.scripts.script import read_script
from whence.model.names import DatasetName

_FUNCTION = re.compile(r"\bcreate\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?(?:function|macro)\s+([\w.\"`]+)", re.IGNORECASE)
_HARMLESS = frozenset(
    {"grant", "revoke", "analyze", "comment", "use", "vacuum", "commit", "begin", "optimize", "refresh"}
)
"""First words of statements that change no value and no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVersion:
    """What one version of a project writes into a dataset. `missing_tables`: models that it reads and nobody builds."""

    code: Code
    targets: tuple[Target, ...]
    parents: tuple[DatasetName, ...] = ()
    problem: str = ""
    missing_tables: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self.targets[0].span.line if self.targets else 0


@dataclass(slots=True)
class Readings:
    """A cache of files that were read, so that unchanged files are read once. Formulas live as long as this."""

    store: Formulas = field(default_factory=Formulas)
    found: dict[object, ScriptTargets] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProjectVersion:
    """The datasets of a project, each after those that it reads. `problems`: what was not read, by file."""

    datasets: Mapping[DatasetName, DatasetVersion]
    tables: frozenset[Table]
    problems: Mapping[str, str]


def evaluate(
    project: ProjectCode, readings: Readings, through: bool, gone: frozenset[Table] = frozenset()
) -> ProjectVersion:
    """Read all datasets of a project.

    `through`: datasets count as what they are made of; else each table is itself. `gone`: tables that an earlier
    version built, and this one does not. Raises DialectError.
    """
    evaluation = _Evaluation(project, readings, through, gone)
    for code in _in_order(project):
        evaluation.read(code)
    return ProjectVersion(evaluation.versions, frozenset(evaluation.names), evaluation.problems)


@dataclass(slots=True)
class _Evaluation:
    project: ProjectCode
    readings: Readings
    through: bool
    gone: frozenset[Table]
    models: dict[Table, Model] = field(default_factory=dict)
    columns: dict[Table, tuple[str, ...]] = field(default_factory=dict)
    names: dict[Table, DatasetName] = field(default_factory=dict)
    versions: dict[DatasetName, DatasetVersion] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    keys: dict[Table, tuple[UniqueKey, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = Catalog.from_columns(self.project.columns, self.project.dialect)
        self.columns.update(known.tables)
        self.functions.update(_functions(self.project.codes))
        self.readings.store.keys.clear()
        self.readings.store.types = self._types()
        self.readings.store.kinds.clear()
        self.keys = {_table(name, self.project.dialect): keys for name, keys in self.project.keys.items()}
        for table in self.keys:
            self._declare_keys(table, Model(self.readings.store.make("table", str(table)), {}))

    def _types(self) -> dict[Formula, Mapping[str, str]]:
        """The types of columns by the rows of their tables. Oracle's dates have a time."""
        dialect, make = self.project.dialect, self.readings.store.make
        if dialect == "oracle":
            return {}
        return {
            make("table", str(_table(name, dialect))): {column: kind.lower() for column, kind in types.items()}
            for name, types in self.project.types.items()
        }

    def _declare_keys(self, table: Table, model: Model) -> None:
        """Make the keys of a table known to those that join its rows. A key of unknown columns is left out."""
        make = self.readings.store.make
        found = [
            RowKey(tuple(model.columns.get(name, make("name", name)) for name in key.columns), key.is_complete)
            for key in self.keys.get(table, ())
            if not model.columns or model.columns.keys() >= set(key.columns)
        ]
        if found:
            known = self.readings.store.keys.get(model.rows, ())
            self.readings.store.keys[model.rows] = tuple(dict.fromkeys((*known, *found)))

    def read(self, code: Code) -> None:
        if code.kind != "sql":
            self._add_opaque(code)
            return
        found = self._targets(code)
        problem = _problem(found)
        if problem:
            self.problems[code.file] = problem
        grouped: dict[Table, list[Target]] = {}
        for target in found.targets:
            if not target.is_temporary:
                grouped.setdefault(target.table, []).append(target)
        for table, targets in grouped.items():
            self._add(code, table, targets, found, problem)
        if code.builds is not None and code.builds not in self.versions:
            self.versions[code.builds] = DatasetVersion(code=code, targets=(), problem=problem or "it has no query")
            self.names[_table(code.table, self.project.dialect)] = code.builds

    def _targets(self, code: Code) -> ScriptTargets:
        models = self.models if self.through else {}
        key = self._key(code, models)
        found = self.readings.found.get(key) if key is not None else None
        if found is None:
            catalog, store, dialect = self._catalog(code), self.readings.store, self.project.dialect
            found = read_targets(code.sql, dialect, store, catalog, models, functions=self.functions)
            if key is not None:
                self.readings.found[key] = found
        return found

    def _key(self, code: Code, models: Mapping[Table, Model]) -> object:
        """Everything that determines the meaning of a file; None if its inputs follow only from its text."""
        if code.parents is None:
            return None
        parts: list[object] = [self.project.dialect, self.project.defaults, code.sql, *sorted(self.functions.items())]
        parts += sorted(self.project.keys.items(), key=str)
        parts.append(str(sorted(self.project.types.items(), key=str)))
        for name in code.parents:
            table = _table(name, self.project.dialect)
            model = models.get(table)
            parts += [table, self.columns.get(table)]
            parts += [model.rows, *model.columns.items()] if model is not None else [None]
        return tuple(parts)

    def _catalog(self, code: Code) -> Catalog:
        """The columns of the tables that a file may read: of its parents if they are declared, else of all."""
        tables = self.columns
        if code.parents is not None:
            wanted = {_table(name, self.project.dialect) for name in code.parents}
            tables = {table: columns for table, columns in tables.items() if table in wanted}
        empty = Catalog.from_columns({}, self.project.dialect, self.project.defaults)
        return empty.with_missing_tables(Catalog(tables))

    def _add(self, code: Code, table: Table, targets: list[Target], found: ScriptTargets, problem: str) -> None:
        own = _table(code.table, self.project.dialect) if code.builds is not None else table
        if code.builds is not None and table != RESULT:
            return
        name = code.builds or DatasetName(self.project.namespace, str(table))
        before = self.versions.get(name)
        kept = (*(before.targets if before is not None else ()), *targets)
        reads = {one for statement in found.lineage for one in statement.reads}
        parents = {self.names[one] for one in reads if one in self.names} - {name}
        missing = tuple(sorted(str(one) for one in reads & self.gone if one not in self.names))
        self.versions[name] = DatasetVersion(
            code=code,
            targets=kept,
            parents=tuple(sorted(parents | set(before.parents if before is not None else ()))),
            problem=problem,
            missing_tables=missing,
        )
        self._declare(own, name, kept)

    def _declare(self, table: Table, name: DatasetName, targets: Sequence[Target]) -> None:
        """Make a dataset known to those that read it."""
        self.names[table] = name
        columns = [column.name for column in targets[0].columns]
        if STAR not in columns and all([one.name for one in target.columns] == columns for target in targets):
            self.columns[table] = tuple(dict.fromkeys(columns))
        if len(targets) == 1:
            self.models[table] = model_of(targets[0])
            if not self.versions[name].code.is_incremental:
                self._declare_keys(table, self.models[table])

    def _add_opaque(self, code: Code) -> None:
        """A seed or a Python model: its rows are its content."""
        assert code.builds is not None
        table = _table(code.table, self.project.dialect)
        store = self.readings.store
        rows = store.make("table", str(table))
        columns = tuple(TargetColumn(name, store.make("name", name)) for name in code.columns)
        span = Span(0, 0, 1, 1)
        target = Target(table=table, kind=code.kind, rows=rows, columns=columns, text=code.content, span=span)
        self.versions[code.builds] = DatasetVersion(code=code, targets=(target,))
        self.names[table] = code.builds
        if code.columns:
            self.columns[table] = code.columns
        content = store.make("content", code.kind, code.content)
        self.models[table] = Model(store.make("decorated", rows, content), {})


def _problem(found: ScriptTargets) -> str:
    """The statements that were not read and may change values, as text."""
    unread = [text for text in found.others if text.startswith("\0") or _verb(text) not in _HARMLESS]
    return "; ".join(text.lstrip("\0").strip()[:80] for text in unread if not _FUNCTION.search(text))


def _verb(text: str) -> str:
    word = re.match(r"\W*(\w+)", text)
    return word.group(1).lower() if word else ""


def _functions(codes: Iterable[Code]) -> Iterator[tuple[str, str]]:
    """The functions that scripts define, with their text: a caller depends on it."""
    for code in codes:
        for statement in code.sql.split(";") if "create" in code.sql.lower() else ():
            match = _FUNCTION.search(statement)
            if match is not None:
                yield match.group(1).rpartition(".")[2].strip('"`').lower(), " ".join(statement.split())


def _table(name: str, dialect: str) -> Table:
    return Table(parse_name_parts(dialect_of(dialect), name))


def _in_order(project: ProjectCode) -> list[Code]:
    """The files, each after those that write what it reads; of a circle, in the given order."""
    writers: dict[Table, list[int]] = {}
    reads: list[set[Table]] = []
    for place, code in enumerate(project.codes):
        read, written = _tables_of(project, code)
        reads.append(read)
        for table in written:
            writers.setdefault(table, []).append(place)
    order: list[int] = []
    state = [0] * len(project.codes)

    def parents(place: int) -> Iterator[int]:
        for table in sorted(reads[place], key=str):
            yield from writers.get(table, ())

    for start in range(len(project.codes)):
        _visit(start, parents, state, order)
    return [project.codes[place] for place in order]


def _visit(start: int, parents: Callable[[int], Iterator[int]], state: list[int], order: list[int]) -> None:
    """Depth first, without recursion: chains of models may be long."""
    stack = [(start, parents(start))] if not state[start] else []
    state[start] = 1
    while stack:
        place, rest = stack[-1]
        following = next((one for one in rest if not state[one]), None)
        if following is None:
            order.append(place)
            stack.pop()
        else:
            state[following] = 1
            stack.append((following, parents(following)))


def _tables_of(project: ProjectCode, code: Code) -> tuple[set[Table], set[Table]]:
    """The tables that a file reads, and those that it writes."""
    own = {_table(code.table, project.dialect)} if code.table else set()
    if code.parents is not None:
        return {_table(name, project.dialect) for name in code.parents}, own
    reads, writes = _reads_and_writes(code.sql, project.dialect, project.defaults)
    return set(reads), own or set(writes)


@lru_cache(maxsize=4_096)
def _reads_and_writes(sql: str, dialect: str, defaults: tuple[str, ...]) -> tuple[frozenset[Table], frozenset[Table]]:
    script = read_script(sql, dialect, Catalog.from_columns({}, dialect, defaults))
    reads = frozenset(table for statement in script for table in statement.reads)
    return reads, frozenset(table for statement in script for table in statement.writes)
