"""The records of a table's history: a version, and the columns of an Iceberg table with their former names."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from whence_client.events.datasets import Dataset, Field
from whence_client.events.runs import RunRef
from whence_client.process.parent import parse_parent

RUN = "openlineage.run"
"""The member of a commit's metadata that names the run: `namespace/job/runId`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """One version of a table. `run` is the run that its commit names, None if it names none.

    `has_new_data`: whether its rows differ from those of the version before, which compaction does not change.
    `lost`: how many versions before it are no longer in the history.
    """

    table: Dataset
    version: str
    at: datetime
    operation: str
    has_new_data: bool = True
    before: str = ""
    user: str = ""
    engine: str = ""
    rows: int | None = None
    run: RunRef | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """The columns of an Iceberg table since a time. `renames`: pairs of an old and a new name of one column."""

    table: Dataset
    at: datetime
    fields: tuple[Field, ...]
    renames: tuple[tuple[str, str], ...] = ()
    replaced: tuple[str, ...] = field(default=())
    """Columns with the name of an older one that was dropped: they have nothing of it."""


Record = TableVersion | TableColumns


def run_of_commit(metadata: object) -> RunRef | None:
    """The run that the metadata of a commit names; None if it names none."""
    named = metadata.get(RUN) if isinstance(metadata, dict) else None
    return parse_parent(named) if isinstance(named, str) else None


def moment_of(milliseconds: int) -> datetime:
    """The time so many milliseconds after the beginning of 1970, UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
