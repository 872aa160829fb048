"""Delta tables by their paths or URLs: creating, finding and changing them, and their files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.fs import DeltaStorageHandler
from deltalake.transaction import AddAction, RemoveAction
from pyarrow import fs

from whence.errors import TableBusyError, TableError


def make_table(
    uri: str,
    schema: pa.Schema,
    name: str,
    *,
    partition_by: str = "",
    properties: Mapping[str, str | None] | None = None,
) -> DeltaTable:
    """The table at a path or a URL, created if it is missing. Raises TableError."""
    with table_errors(uri):
        if (root := local_path(uri)) is not None:
            root.mkdir(parents=True, exist_ok=True)
        return DeltaTable.create(
            uri,
            schema,
            mode="ignore",
            name=name,
            partition_by=[partition_by] if partition_by else None,
            configuration=properties,
            raise_if_key_not_exists=False,
        )


def find_table(uri: str) -> DeltaTable | None:
    """The table at a path or a URL, or None if there is none. Raises TableError."""
    with table_errors(uri):
        return DeltaTable(uri) if DeltaTable.is_deltatable(uri) else None


def table_uri(root: str, name: str) -> str:
    """The URI of a table under a root."""
    return f"{root.rstrip('/')}/{name}"


def commit(
    uri: str,
    table: DeltaTable,
    actions: Sequence[AddAction | RemoveAction],
    schema: pa.Schema,
    properties: CommitProperties,
    *,
    mode: str = "append",
    partition_by: str = "",
) -> None:
    """Change the table in one commit. Raises TableBusyError if it conflicts with commits since the table's version."""
    with table_errors(uri):
        table.create_write_transaction(
            list(actions),
            mode,
            schema,
            partition_by=[partition_by] if partition_by else None,
            commit_properties=properties,
        )


def storage(uri: str) -> fs.FileSystem:
    """The file system of the table's files, by their paths in it."""
    root = local_path(uri)
    # When killed, deltalake's own handler leaves files that vacuum does not find.
    return fs.SubTreeFileSystem(str(root), fs.LocalFileSystem()) if root else fs.PyFileSystem(DeltaStorageHandler(uri))


def local_path(uri: str) -> Path | None:
    """The table's directory if it is on a local disk, otherwise None."""
    if uri.startswith("file://"):
        return Path(uri.removeprefix("file://"))
    return None if "://" in uri else Path(uri)


@contextmanager
def table_errors(uri: str) -> Iterator[None]:
    """Convert deltalake's errors to TableError and TableBusyError."""
    try:
        yield
    except CommitFailedError as error:
        raise TableBusyError(uri) from error
    except (DeltaError, OSError) as error:
        raise TableError(uri, str(error)) from error
