"""A folder of SQL files at the two ends of a change: what they build, column by column, and the edges of their code."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

import msgspec

from whence.capture.sql import Catalog
from whence.capture.sql.events.naming import Naming
from whence.capture.sql.fingerprint.projects.code import ProjectCode, code_of_files
from whence.capture.sql.fingerprint.projects.versions import compare_files
from whence.capture.sql.trials.refinement import try_changes
from whence.capture.sql_log import Settings
from whence.capture.sql_log.events import ANY_QUERY, script_event
from whence.cli.gate.code_versions import with_content
from whence.cli.gate.heads import Change, Compared
from whence.errors import ArtifactError
from whence.govern.gate.project import CodeEdges, Project, edges_of, project_of

SUFFIX = ".sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFolder:
    """A folder of SQL in a repository. `namespace`: of its datasets in production; `schema`: of bare table names;
    `columns`: of tables that it does not build; `types`: of those of their columns whose type is known.
    """

    path: str
    dialect: str
    namespace: str
    database: str = ""
    schema: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def has(self, file: str) -> bool:
        """Whether a file of the repository is read with it."""
        folder = self.path.strip("/")
        return file.endswith(SUFFIX) and (folder in ("", ".") or file.startswith(f"{folder}/"))


def sql_folder(
    path: str | None, dialect: str, namespace: str, *, database: str, schema: str, columns: Path | None
) -> SqlFolder | None:
    """The folder, if one is given. `columns`: a file for `read_columns`. Raises ArtifactError."""
    if path is None:
        return None
    known = read_columns(columns) if columns else {}
    return SqlFolder(
        path=path,
        dialect=dialect,
        namespace=namespace,
        database=database,
        schema=schema,
        columns={table: tuple(one) for table, one in known.items()},
        types={table: one for table, one in known.items() if isinstance(one, dict)},
    )


def compare_sql(change: Change, folder: SqlFolder) -> Compared:
    """What the SQL of a head changes. No file is read if none of the folder differs.

    Raises DialectError; ArtifactError if neither end has the folder.
    """
    if not any(map(folder.has, change.files)):
        _check_folder(change, folder)
        return Compared(changes=(), project=Project())
    base, head = (_files(change, commit, folder) for commit in (change.merge_base, change.head.commit))
    versions = _project(base, folder), _project(head, folder)
    changes, unread = compare_files(*versions)
    unread = (*unread, *_not_text(change, folder, base, head))
    changes = with_content(try_changes(changes, *versions), *versions)
    read = lru_cache(maxsize=None)(partial(_edges, _settings(folder)))  # most files are the same in both
    of_base, of_head = ([read(*file) for file in sorted(files.items())] for files in (base, head))
    return Compared(changes=changes, project=project_of(of_base, of_head), unread=unread)


def _not_text(change: Change, folder: SqlFolder, *versions: Mapping[str, str]) -> Iterator[str]:
    """The changed files of the folder that neither end has as text: links, submodules, files of many megabytes."""
    names = (one for one in change.files if folder.has(one))
    return (one for one in names if not any(one in files for files in versions))


def _check_folder(change: Change, folder: SqlFolder) -> None:
    """A misspelt folder has no changes, ever."""
    path = folder.path.strip("/")
    if path not in ("", ".") and not change.repository.has(change.merge_base, path):
        raise ArtifactError(f"--sql {folder.path}", "the repository has no such folder; its path begins at the root")


def read_columns(path: Path) -> Mapping[str, tuple[str, ...] | dict[str, str]]:
    """The columns of tables, from a JSON file: `{"db.table": ["column", …]}`, or with their types:
    `{"db.table": {"column": "type"}}`. Raises ArtifactError.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[str, ...] | dict[str, str]])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(str(path), f'it does not say {{"db.table": ["column", …]}}: {error}') from None


def _files(change: Change, commit: str, folder: SqlFolder) -> Mapping[str, str]:
    return change.repository.files_at(commit, folder.path.strip("/") or ".", SUFFIX)


def _project(files: Mapping[str, str], folder: SqlFolder) -> ProjectCode:
    session = _settings(folder).defaults(ANY_QUERY)
    given = (".".join(filter(None, session)),) if folder.database or folder.schema else ()
    naming = Naming(namespace=folder.namespace, defaults=session)
    code = code_of_files(files, folder.dialect, folder.namespace, folder.columns, given, naming)
    return replace(code, types=folder.types)


def _edges(settings: Settings, path: str, text: str) -> CodeEdges:
    return edges_of([script_event(text, path, settings)])


def _settings(folder: SqlFolder) -> Settings:
    return Settings(
        dialect=folder.dialect,
        namespace=folder.namespace,
        jobs=folder.namespace,
        time=0,
        database=folder.database,
        schema=folder.schema,
        catalog=Catalog.from_columns(folder.columns, folder.dialect),
    )
