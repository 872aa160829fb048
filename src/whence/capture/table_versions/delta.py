"""Delta tables: the commits in the log of a table, read by the package deltalake."""

from collections.abc import Iterator
from typing import Any

from whence.capture.table_versions.records import TableVersion, moment_of, run_of_commit
from whence.errors import SourceError
from whence_client.events.datasets import Dataset
from whence_client.redaction.credentials import strip_credentials

_SAME_DATA = (
    "OPTIMIZE",
    "VACUUM",
    "REORG",
    "FSCK",
    "SET TBLPROPERTIES",
    "UNSET TBLPROPERTIES",
    "ADD CONSTRAINT",
    "DROP CONSTRAINT",
    "CHANGE COLUMN",
    "UPGRADE PROTOCOL",
    "COMPUTE STATS",
    "ADD FEATURE",
)
"""Beginnings of operations that leave the rows as they are."""
_ROWS = (
    "numOutputRows",
    "num_added_rows",
    "numInsertedRows",
    "numUpdatedRows",
    "num_updated_rows",
    "numDeletedRows",
    "num_deleted_rows",
    "num_target_rows_inserted",
    "num_target_rows_updated",
    "num_target_rows_deleted",
)
"""Counts of rows that an operation wrote, changed or deleted. Spark's MERGE counts them in `numOutputRows`, too."""


def read_versions(uri: str, table: Dataset, after: Any) -> Iterator[tuple[TableVersion, list[Any]]]:
    """The versions of a table after a cursor, in their order, each with the cursor behind it: the id of the table and
    the number. A table that was dropped and recreated has another id, and is read from its first version. Raises
    SourceError.
    """
    try:
        from deltalake import DeltaTable

        found = DeltaTable(uri)
        history: list[dict[str, Any]] = found.history()
        id_ = str(found.metadata().id)
    except ImportError:
        raise SourceError(strip_credentials(uri), "pip install deltalake, to read Delta tables") from None
    except Exception as error:  # deltalake's errors are as many as there are stores of objects
        raise SourceError(strip_credentials(uri), f"{type(error).__name__}: {strip_credentials(str(error))}") from None
    expected = _next(after, id_)
    for commit in sorted(history, key=lambda one: int(one["version"])):
        number = int(commit["version"])
        if number >= expected:
            yield _version(commit, table, lost=number - expected), [id_, number]
            expected = number + 1


def _next(after: Any, id_: str) -> int:
    """The version after a cursor; a cursor of an earlier release is the number alone."""
    match after:
        case int():
            return after + 1
        case [known, int() as number] if known == id_:
            return number + 1
    return 0


def _version(commit: dict[str, Any], table: Dataset, *, lost: int) -> TableVersion:
    number, operation = int(commit["version"]), str(commit.get("operation") or "")
    metrics = commit.get("operationMetrics")
    return TableVersion(
        table=table,
        version=str(number),
        before=str(number - 1) if number else "",
        at=moment_of(int(commit.get("timestamp") or 0)),
        operation=operation,
        has_new_data=not operation.startswith(_SAME_DATA),
        user=str(commit.get("userName") or commit.get("userId") or ""),
        engine=str(commit.get("engineInfo") or ""),
        rows=_rows(metrics if isinstance(metrics, dict) else {}),
        run=run_of_commit(commit) or _run_of_text(commit.get("userMetadata")),
        lost=lost,
    )


def _run_of_text(metadata: object) -> Any:
    """The run in the one text that Spark can put into a commit, `userMetadata`."""
    return run_of_commit({"openlineage.run": metadata})


def _rows(metrics: dict[str, Any]) -> int | None:
    counts = [str(metrics[one]) for one in _ROWS if metrics.get(one) is not None]
    numbers = [int(one) for one in counts if one.isdecimal()]
    return sum(numbers) if numbers else None
