"""The code of a project as values: what builds which dataset, for any tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from whence.capture.sql.lineage import Table
from whence.model.names import DatasetName

CodeKind = Literal["sql", "seed", "python"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One file that builds datasets.

    `builds`: the dataset of a model, whose `sql` is one SELECT; None for a script, whose statements name their tables.
    `table`: the model's name in SQL, quoted as the dialect quotes. `content` identifies everything that decides on its
    data: text, macros, the content of a seed. `parents`: names in SQL of tables that it reads; None if only its text
    tells. `metadata`: what decides on no value, by its name. `settings`: what decides on rows beside the query, by its
    name. `source`: the text as its author wrote it, if `sql` was made from it.
    """

    file: str
    sql: str
    content: str
    kind: CodeKind = "sql"
    builds: DatasetName | None = None
    table: str = ""
    parents: tuple[str, ...] | None = None
    materialized: str = ""
    on_schema_change: str = "ignore"
    columns: tuple[str, ...] = ()
    """The columns of a seed or of a Python model, as far as they are declared."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def line_of(self, line: int) -> int:
        """The author's line of a line of `sql`, if exactly one line has its text; else 0."""
        if not self.source:
            return line
        lines = self.sql.splitlines()
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        found = [place for place, one in enumerate(self.source.splitlines(), start=1) if one.strip() == text]
        return found[0] if len(found) == 1 and text else 0

    @property
    def is_incremental(self) -> bool:
        """Whether a run adds rows to those that exist."""
        return self.materialized in ("incremental", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """Columns of which a test holds that no two rows share them; `is_complete`: and that none of them is NULL."""

    columns: tuple[str, ...]
    is_complete: bool = False


class TableNaming(Protocol):
    """How the datasets of tables are named, as `capture/sql/events/naming.py` does for captures."""

    def dataset(self, table: Table) -> DatasetName | None:
        """The dataset of a table; None if it is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCode:
    """All code of one version of a project. `columns`: of tables that it does not build, by their name in SQL. `keys`:
    of tables that it builds or reads, by their name in SQL.

    `namespace` is that of the datasets whose names come from SQL. `defaults`: the schema or search path of its session.
    `naming`: what their tables are called as datasets, if not as in SQL.
    """

    dialect: str
    namespace: str
    codes: tuple[Code, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: tuple[str, ...] = ()
    naming: TableNaming | None = None
    keys: Mapping[str, tuple[UniqueKey, ...]] = field(default_factory=dict)
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Types of columns of tables that it does not build, by the names of both in SQL: as far as they are certain."""

    def dataset_of(self, table: Table) -> DatasetName:
        """The dataset that a script writes; the result of a SELECT, and what has no name, as in SQL."""
        named = self.naming.dataset(table) if self.naming is not None else None
        return named or DatasetName(self.namespace, str(table))


def code_of_files(
    files: Mapping[str, str],
    dialect: str,
    namespace: str,
    columns: Mapping[str, tuple[str, ...]] | None = None,
    defaults: tuple[str, ...] = (),
    naming: TableNaming | None = None,
) -> ProjectCode:
    """The code of a folder of SQL scripts, by their paths (`capture/repository.py` reads them from Git)."""
    codes = tuple(Code(file=path, sql=text, content=text) for path, text in sorted(files.items()))
    return ProjectCode(
        dialect=dialect,
        namespace=namespace,
        codes=codes,
        columns=columns or {},
        defaults=defaults,
        naming=naming,
    )
