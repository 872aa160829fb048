"""Columns from files: a JSON file, or dbt's `target/` directory."""

from pathlib import Path

import msgspec

from whence.capture.dbt import known_columns, read_project
from whence.capture.sql import Catalog
from whence.errors import SchemaError

_ARTIFACTS = ("manifest.json", "catalog.json")


def read_schema_file(path: Path, dialect: str) -> Catalog:
    """Read the columns of a file `{"db.table": ["column", …]}`, or of dbt's artifacts: their directory, or one of them.

    The file may have the columns with their types, as that of the gate: `{"db.table": {"column": "integer"}}`.
    Raises SchemaError, ArtifactError, DialectError.
    """
    if path.is_dir() or path.name in _ARTIFACTS:
        return known_columns(read_project(path if path.is_dir() else path.absolute().parent), dialect)
    try:
        columns = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str] | dict[str, str]])
    except OSError as error:
        raise SchemaError(str(path), f"it cannot be read: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SchemaError(str(path), f'a schema file is JSON, {{"db.table": ["column", …]}}: {error}') from error
    return Catalog.from_columns({table: list(names) for table, names in columns.items()}, dialect)
