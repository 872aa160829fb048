"""The histories of tables as a capture: the versions since the last poll, oldest first, table by table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.capture.table_versions import delta, iceberg
from whence.capture.table_versions.events import record_event
from whence.capture.table_versions.records import Record
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window
from whence_client.captures.contract import check_package
from whence_client.naming.files import name_file

DELTA = Versions("1.6.6", "1.6.6")
ICEBERG = Versions("", "")
"""Format 1 to 3, as written by pyiceberg 0.12.0; no package reads it here."""

ReadTable = Callable[[str, Any], Iterator[tuple[Record, Any]]]
"""The records of the table at a URI after a cursor, each with the cursor after it. Raises SourceError."""


def read_delta(uri: str, cursor: Any) -> Iterator[tuple[Record, Any]]:
    """The versions of a Delta table; its cursor is the id of the table and the number of the last one."""
    yield from delta.read_versions(uri, name_file(uri), cursor)


def read_iceberg(uri: str, cursor: Any) -> Iterator[tuple[Record, Any]]:
    """The columns of an Iceberg table, if they changed, and its snapshots; its cursor has those that were passed."""
    metadata = iceberg.read_metadata(uri)
    table = name_file(str(metadata.get("location") or uri))
    known: Json = cursor if isinstance(cursor, dict) else {}
    columns = iceberg.read_columns(metadata, table)
    schema = [metadata.get("current-schema-id", 0), len(metadata.get("schemas") or ())]
    if known.get("schema") != schema:
        known = {**known, "schema": schema}
        yield columns, known
    kept = [str(one["snapshot-id"]) for one in metadata.get("snapshots") or ()]
    passed = [one for one in known.get("snapshots", ()) if one in kept]
    for version in iceberg.read_versions(metadata, table, frozenset(passed)):
        passed = [*passed, version.version]
        yield version, {**known, "snapshots": passed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Some tables. `places` are their folders or URIs."""

    places: tuple[str, ...]
    read: ReadTable
    instance: str
    name: str
    versions: Versions
    kind: str = POLL

    def check(self) -> Findings:
        """Whether the tables can be read."""
        problems = [str(error) for error in map(self._problem, self.places) if error]
        return Findings(problems=tuple(problems))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """The versions of each table after the cursor, and in the window. Raises SourceError, after all others.

        Versions never change and have an order: nothing is read again.
        """
        place: Json = dict(cursor) if isinstance(cursor, dict) else {}
        failures: list[SourceError] = []
        for uri in self.places:
            try:
                for record, reached in self.read(uri, place.get(uri)):
                    place = {**place, uri: reached}
                    if _is_within(record, window):
                        yield record, place
            except SourceError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def translate(self, record: Record, naming: Naming) -> list[Json]:
        """The event of a record. A record names its table and run itself."""
        return [record_event(record)]

    def _problem(self, uri: str) -> SourceError | None:
        try:
            next(iter(self.read(uri, None)), None)
        except SourceError as error:
            return error
        return None


def _is_within(record: Record, window: Window) -> bool:
    return (window.since is None or record.at >= window.since) and (window.until is None or record.at < window.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesCapture:
    """What the entry points `delta` and `iceberg` name. `marker`: the folder inside of every table."""

    name: str
    read: ReadTable
    marker: str
    package: str
    versions: Versions
    kind: str = POLL

    @property
    def options(self) -> Mapping[str, str]:
        """Where the tables are."""
        return {"tables": "folders or URIs of tables, separated by commas; a folder on this machine may hold many"}

    def check(self) -> Findings:
        """Whether the package that reads the tables is there, if one is needed."""
        return check_package(self.package, self.versions) if self.package else Findings()

    def translate(self, record: Record, naming: Naming) -> list[Json]:
        """As of any table."""
        return [record_event(record)]

    def configure(self, options: Mapping[str, str]) -> Tables:
        """The capture of some tables. Raises ValueError for an option that is missing, or a folder without tables."""
        given = [one.strip() for one in options.get("tables", "").split(",") if one.strip()]
        if not given:
            raise ValueError(f"the option tables=… is missing: {self.options['tables']}")
        places = tuple(place for one in given for place in self._find(one))
        return Tables(
            places=places,
            read=self.read,
            instance=f"{self.name}:{','.join(':'.join(name_file(one).key) for one in given)}",
            name=self.name,
            versions=self.versions,
        )

    def _find(self, place: str) -> list[str]:
        """The tables in a folder of this machine; a URI is a table."""
        if "://" in place:
            return [place]
        folder = Path(place).absolute()
        if folder.is_file() or (folder / self.marker).is_dir():
            return [str(folder)]
        found = sorted(str(one.parent) for one in folder.rglob(self.marker) if one.is_dir())
        if not found:
            raise ValueError(f"there is no table in {place}: no folder in it has {self.marker}")
        return found


capture_delta = TablesCapture(name="delta", read=read_delta, marker="_delta_log", package="deltalake", versions=DELTA)
capture_iceberg = TablesCapture(name="iceberg", read=read_iceberg, marker="metadata", package="", versions=ICEBERG)
