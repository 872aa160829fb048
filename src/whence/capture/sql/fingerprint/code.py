"""The code of a project as values: what builds which dataset, whatever tool it was written for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from whence.model.names import DatasetName

CodeKind = Literal["sql", "seed", "python"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One file that builds datasets.

    `builds`: the dataset of a model, whose `sql` is one SELECT; None for a script, whose statements name their tables.
    `table`: the model's name in SQL, quoted as the dialect quotes. `content` identifies everything that decides on its
    data: text, macros, the content of a seed. `parents`: names in SQL of tables that it reads; None if only its text
    tells. `metadata`: what decides on no value, by its name. `line_offset`: lines of `sql` before the author's first.
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
    line_offset: int = 0

    @property
    def is_incremental(self) -> bool:
        """Whether a run adds rows to those that exist."""
        return self.materialized in ("incremental", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCode:
    """All code of one version of a project. `columns`: of tables that it does not build, by their name in SQL.

    `namespace` is that of the datasets whose names come from SQL. `defaults`: the schema or search path of its session.
    """

    dialect: str
    namespace: str
    codes: tuple[Code, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: tuple[str, ...] = ()
