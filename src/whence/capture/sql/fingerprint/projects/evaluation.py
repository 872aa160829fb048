"""One version of a project: each dataset read after those that it is made of, with the columns that they have then."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whence.capture.sql.fingerprint.meaning import Model
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.projects.reading_order import in_order, last_name, table_of
from whence.capture.sql.fingerprint.targets import ScriptTargets, Target, TargetColumn, model_of, read_targets
from whence.capture.sql.lineage import RESULT, Span, Table
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.provenance.formulas import Formula, Formulas, RowKey
from whence.capture.sql.provenance.relations import STAR
from whence.model.names import DatasetName

_FUNCTION = re.compile(r"\bcreate\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?(?:function|macro)\s+([\w.\"`]+)", re.IGNORECASE)
_HARMLESS = frozenset(
    {"grant", "revoke", "analyze", "comment", "use", "vacuum", "commit", "begin", "optimize", "refresh"}
)
"""First words of statements that change no value and no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVersion:
    """What one version of a project writes into a dataset. `code`: the last of the files that write it, `files` all;
    `reads`: the tables that it reads there.
    """

    code: Code
    targets: tuple[Target, ...]
    parents: tuple[DatasetName, ...] = ()
    problem: str = ""
    reads: frozenset[Table] = frozenset()
    files: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self.targets[0].span.line if self.targets else 0


@dataclass(frozen=True, slots=True)
class _Declarations:
    """What a project declares. `tables`: the columns of tables; `text`: the declared keys and types."""

    project: ProjectCode
    tables: Mapping[Table, tuple[str, ...]]
    keys: Mapping[Table, tuple[UniqueKey, ...]]
    text: str

    def are_of(self, other: ProjectCode) -> bool:
        """Whether another project declares the same."""
        own = self.project
        return (own.dialect, own.columns, own.keys, own.types) == (
            other.dialect,
            other.columns,
            other.keys,
            other.types,
        )


@dataclass(slots=True)
class Readings:
    """A cache of files that were read, so that unchanged files are read once. Formulas live as long as this."""

    store: Formulas = field(default_factory=Formulas)
    found: dict[object, ScriptTargets] = field(default_factory=dict)
    last: _Declarations | None = None
    """What the last project declared: the store has its types."""

    def declarations(self, project: ProjectCode) -> _Declarations:
        """What a project declares. Its types become those of the store."""
        if self.last is None or not self.last.are_of(project):
            self.store.types = _types(project, self.store)
            self.store.kinds.clear()
            self.store.decided.clear()
            self.last = _declarations(project)
        return self.last


def _declarations(project: ProjectCode) -> _Declarations:
    known = Catalog.from_columns(project.columns, project.dialect)
    keys = {table_of(name, project.dialect): keys for name, keys in project.keys.items()}
    text = str((sorted(project.keys.items(), key=str), sorted(project.types.items(), key=str)))
    return _Declarations(project, known.tables, keys, text)


def _types(project: ProjectCode, store: Formulas) -> dict[Formula, Mapping[str, str]]:
    """The types of columns by the rows of their tables. Oracle's dates have a time."""
    if project.dialect == "oracle":
        return {}
    return {
        store.make("table", str(table_of(name, project.dialect))): {
            column: kind.lower() for column, kind in types.items()
        }
        for name, types in project.types.items()
    }


@dataclass(frozen=True, slots=True)
class ProjectVersion:
    """The datasets of a project, each after those that it reads. `problems`: what was not read, by file. `columns`: of
    all tables.
    """

    datasets: Mapping[DatasetName, DatasetVersion]
    tables: frozenset[Table]
    problems: Mapping[str, str]
    columns: Mapping[Table, tuple[str, ...]]


def evaluate(project: ProjectCode, readings: Readings) -> ProjectVersion:
    """Read all datasets of a project; each counts as what it is made of. Raises DialectError."""
    evaluation = _Evaluation(project, readings, through=True)
    for code, tables in in_order(project):
        evaluation.read(code, tables)
    return _version(evaluation)


def evaluate_alone(
    project: ProjectCode, readings: Readings, whole: ProjectVersion, files: frozenset[str]
) -> ProjectVersion:
    """Read some files of a project, whose tables are known from `whole`; each table that they read is itself."""
    evaluation = _Evaluation(project, readings, through=False)
    evaluation.know(whole.columns)
    for code, tables in in_order(project):
        if code.file in files:
            evaluation.read(code, tables)
    return _version(evaluation)


def _version(of: "_Evaluation") -> ProjectVersion:
    return ProjectVersion(of.versions, frozenset(of.names), of.problems, of.columns)


@dataclass(slots=True)
class _Evaluation:
    project: ProjectCode
    readings: Readings
    through: bool
    models: dict[Table, Model] = field(default_factory=dict)
    columns: dict[Table, tuple[str, ...]] = field(default_factory=dict)
    names: dict[Table, DatasetName] = field(default_factory=dict)
    versions: dict[DatasetName, DatasetVersion] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    keys: Mapping[Table, tuple[UniqueKey, ...]] = field(default_factory=dict)
    declared: str = ""
    """The declared keys and types, as text."""
    known: dict[str, dict[Table, None]] = field(default_factory=dict)
    """The tables with columns or a meaning, by the last part of their names, in lower case."""

    def __post_init__(self) -> None:
        declared = self.readings.declarations(self.project)
        self.know(declared.tables)
        self.functions.update(_functions(self.project.codes))
        self.readings.store.keys.clear()
        self.declared, self.keys = declared.text, declared.keys
        for table in self.keys:
            self._declare_keys(table, Model(self.readings.store.make("table", str(table)), {}))

    def know(self, columns: Mapping[Table, tuple[str, ...]]) -> None:
        """Take over the columns of tables."""
        self.columns.update(columns)
        for table in columns:
            self._add_name(table)

    def _add_name(self, table: Table) -> None:
        self.known.setdefault(last_name(table), {})[table] = None

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

    def read(self, code: Code, tables: frozenset[Table]) -> None:
        if code.kind != "sql":
            self._add_opaque(code)
            return
        found = self._targets(code, tables)
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
            self.versions[code.builds] = DatasetVersion(
                code=code, targets=(), problem=problem or "it has no query", files=(code.file,)
            )
            self.names[table_of(code.table, self.project.dialect)] = code.builds

    def _targets(self, code: Code, tables: frozenset[Table]) -> ScriptTargets:
        """`tables`: those that it may read."""
        parents = self._known_tables(code, tables)
        key = self._key(code, parents)
        found = self.readings.found.get(key)
        if found is None:
            found = self._read(code, {table: self.columns[table] for table in parents if table in self.columns})
            if _reads_only(found, parents):
                self.readings.found[key] = found
            else:
                found = self._read(code, self.columns)
        return found

    def _read(self, code: Code, columns: Mapping[Table, tuple[str, ...]]) -> ScriptTargets:
        empty = Catalog.from_columns({}, self.project.dialect, self.project.defaults)
        catalog, models = empty.with_missing_tables(Catalog(columns)), self.models if self.through else {}
        return read_targets(
            code.sql, self.project.dialect, self.readings.store, catalog, models, functions=self.functions
        )

    def _key(self, code: Code, parents: Sequence[Table]) -> object:
        """Everything that determines the meaning of a file."""
        parts: list[object] = [self.project.dialect, self.project.defaults, code.sql, *sorted(self.functions.items())]
        parts.append(self.declared)
        for table in parents:
            model = self.models.get(table) if self.through else None
            parts += [table, self.columns.get(table)]
            if model is not None:
                parts += [
                    model.rows,
                    *model.columns.items(),
                    *model.types.values(),
                    self.readings.store.keys.get(model.rows),
                ]
        return tuple(parts)

    def _known_tables(self, code: Code, tables: frozenset[Table]) -> list[Table]:
        """The tables that a file may read, and all known ones that are called as one that only its text names."""
        declared = frozenset(table_of(name, self.project.dialect) for name in code.parents or ())
        found = {one for name in map(last_name, tables - declared) for one in self.known.get(name, ())}
        return sorted(found | tables, key=str)

    def _add(self, code: Code, table: Table, targets: list[Target], found: ScriptTargets, problem: str) -> None:
        own = table_of(code.table, self.project.dialect) if code.builds is not None else table
        if code.builds is not None and table != RESULT:
            return
        name = code.builds or self.project.dataset_of(table)
        before = self.versions.get(name)
        kept = (*(before.targets if before is not None else ()), *targets)
        reads = {one for statement in found.lineage for one in statement.reads}
        parents = {self.names[one] for one in reads if one in self.names} - {name}
        self.versions[name] = DatasetVersion(
            code=code,
            targets=kept,
            parents=tuple(sorted(parents | set(before.parents if before is not None else ()))),
            problem=problem,
            reads=frozenset(reads),
            files=(*(before.files if before is not None else ()), code.file),
        )
        self._declare(own, name, kept)

    def _declare(self, table: Table, name: DatasetName, targets: Sequence[Target]) -> None:
        """Make a dataset known to those that read it."""
        self.names[table] = name
        self._add_name(table)
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
        table = table_of(code.table, self.project.dialect)
        store = self.readings.store
        rows = store.make("table", str(table))
        columns = tuple(TargetColumn(name, store.make("name", name)) for name in code.columns)
        span = Span(0, 0, 1, 1)
        target = Target(table=table, kind=code.kind, rows=rows, columns=columns, text=code.content, span=span)
        self.versions[code.builds] = DatasetVersion(code=code, targets=(target,), files=(code.file,))
        self.names[table] = code.builds
        self._add_name(table)
        if code.columns:
            self.columns[table] = code.columns
        content = store.make("content", code.kind, code.content)
        self.models[table] = Model(store.make("decorated", rows, content), {})


def _problem(found: ScriptTargets) -> str:
    """The statements that were not read and may change values, as text."""
    unread = [text for text in found.others if text.startswith("\0") or _verb(text) not in _HARMLESS]
    shown = (text.lstrip("\0").strip()[:80] for text in unread if not _FUNCTION.search(text))
    return "; ".join(dict.fromkeys(shown))


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


def _reads_only(found: ScriptTargets, tables: Iterable[Table]) -> bool:
    """Whether a script reads only tables that are called as these: then they decide on its meaning."""
    names = {last_name(table) for table in tables}
    return all(last_name(one) in names for statement in found.lineage for one in statement.reads)
