"""The versions of a dataset, as its events report them: of Delta and Iceberg tables, and of others with versions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from whence.model.events import RunState
from whence.model.names import DatasetName, RunName
from whence.openlineage.names.naming import normalise
from whence.query.answers.values import Completeness

Json = Mapping[str, Any]

DETAILS = "whence_tableVersion"
"""The facet with what a table's own history has of a version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVersion:
    """One version of a dataset. `at`: microseconds since 1970 UTC. `run`: the run that made it, None if none is known.

    `state`: of that run, which may fail after it has made its version. `has_new_data`: False for versions with the rows
    of the one before, such as a compaction. `lost`: how many versions before it had left the table's history.
    """

    version: str
    at: int
    run: RunName | None = None
    state: RunState | None = None
    operation: str = ""
    has_new_data: bool = True
    before: str = ""
    user: str = ""
    engine: str = ""
    rows: int | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVersions:
    """The versions of a dataset, the newest first."""

    dataset: DatasetName
    versions: tuple[DatasetVersion, ...]
    completeness: Completeness


def collect_versions(
    reported: Iterable[tuple[RunName | None, Json]],
    names: frozenset[DatasetName],
    states: Mapping[RunName, RunState],
) -> tuple[DatasetVersion, ...]:
    """The versions in events, the newest first; each once.

    `reported`: event bodies, each with the run that it is about. `names`: all names of the dataset. `states`: of the
    runs. A version that is reported several times has the time of the table's own history, else the earliest.
    """
    found: dict[str, DatasetVersion] = {}
    for run, event in reported:
        for one in _versions_in(event, run, names):
            found[one.version] = _merge(found[one.version], one) if one.version in found else one
    known = [replace(one, state=states.get(one.run)) if one.run else one for one in found.values()]
    return tuple(sorted(known, key=lambda one: (-one.at, one.version)))


def _versions_in(event: Json, run: RunName | None, names: frozenset[DatasetName]) -> Iterator[DatasetVersion]:
    for dataset in (event.get("dataset"), *_listed(event.get("outputs"))):
        if not isinstance(dataset, dict) or _name(dataset) not in names:
            continue
        facets = dataset.get("facets")
        facets = facets if isinstance(facets, dict) else {}
        stated, details = facets.get("version"), facets.get(DETAILS)
        version = stated.get("datasetVersion") if isinstance(stated, dict) else None
        if isinstance(version, str) and version:
            yield _version(version, _time(event), run, details if isinstance(details, dict) else {})


def _version(version: str, at: int, run: RunName | None, details: Json) -> DatasetVersion:
    rows, lost = details.get("rows"), details.get("lostVersions")
    return DatasetVersion(
        version=version,
        at=at,
        run=run,
        operation=_text(details, "operation"),
        has_new_data=details.get("hasNewData") is not False,
        before=_text(details, "before"),
        user=_text(details, "user"),
        engine=_text(details, "engine"),
        rows=rows if isinstance(rows, int) and rows >= 0 else None,
        lost=lost if isinstance(lost, int) and lost > 0 else 0,
    )


def _merge(one: DatasetVersion, other: DatasetVersion) -> DatasetVersion:
    """Both reports of a version: what the table's own history has, and the run that either names."""
    first, second = sorted((one, other), key=lambda each: (not each.operation, each.at, str(each.run)))
    return DatasetVersion(
        version=first.version,
        at=first.at,
        run=first.run or second.run,
        operation=first.operation,
        has_new_data=first.has_new_data,
        before=first.before,
        user=first.user,
        engine=first.engine,
        rows=first.rows if first.rows is not None else second.rows,
        lost=first.lost,
    )


def _time(event: Json) -> int:
    """The time of an event in microseconds. An accepted event has one."""
    at = datetime.fromisoformat(str(event["eventTime"]))
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000_000)


def _name(dataset: Json) -> DatasetName | None:
    namespace, name = dataset.get("namespace"), dataset.get("name")
    return normalise(namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(facet: Json, key: str) -> str:
    value = facet.get(key)
    return value if isinstance(value, str) else ""
