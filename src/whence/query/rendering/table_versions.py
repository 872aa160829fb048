"""Versions of datasets as JSON."""

from typing_extensions import TypedDict

from whence.query.answers.instants import iso
from whence.query.history.table_versions import DatasetVersion, DatasetVersions
from whence.query.rendering.listings import Listing


class VersionOfDataset(TypedDict):
    """A version of a dataset. `run`: the run that made it, None if none is known. `run_state`: the state of that run,
    which may fail after it has made its version. `has_new_data`: false if it has the rows of the one before, as after a
    compaction. `lost`: how many versions before it had left the table's history.
    """

    version: str
    time: str
    run: str | None
    job: str | None
    run_state: str | None
    operation: str
    has_new_data: bool
    rows: int | None
    before: str
    user: str
    engine: str
    lost: int


class VersionsOfDataset(TypedDict):
    """The versions of a dataset, the newest first."""

    node: str
    versions: list[VersionOfDataset]


def versions_listing(found: DatasetVersions) -> Listing:
    """Versions, the newest first."""
    several = found.versions
    return Listing(
        head={"node": str(found.dataset)},
        get_completeness=lambda: found.completeness,
        name="versions",
        columns=(
            *("version", "time", "run", "job", "run_state", "operation", "has_new_data"),
            *("rows", "before", "user", "engine", "lost"),
        ),
        keys=[(-one.at, one.version) for one in several],
        part=lambda start, end: {"versions": [_document(one) for one in several[start:end]]},
    )


def _document(one: DatasetVersion) -> VersionOfDataset:
    return {
        "version": one.version,
        "time": iso(one.at),
        "run": None if one.run is None else str(one.run),
        "job": None if one.run is None else str(one.run.job),
        "run_state": None if one.state is None else one.state.name,
        "operation": one.operation,
        "has_new_data": one.has_new_data,
        "rows": one.rows,
        "before": one.before,
        "user": one.user,
        "engine": one.engine,
        "lost": one.lost,
    }
