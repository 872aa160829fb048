"""A warehouse as a capture: views that changed, then queries in the order of their ends."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from whence.capture.sql import Catalog
from whence.capture.sql_log.batch import Sessions, with_temporary
from whence.capture.sql_log.query import Query
from whence.capture.warehouses.events import record_events
from whence.capture.warehouses.records import Dialect, RanQuery, Record, View
from whence.capture.warehouses.statements import moment_at
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window

VERSIONS = Versions("", "")
"""A service has no release: its answers are those of the documented API."""
_SESSIONS = 1_000
"""Sessions whose temporary tables a cursor has."""


class Warehouse(Protocol):
    """What a warehouse is asked. Times are those at which queries ended, by the warehouse's clock.

    Every method raises SourceError if the warehouse does not answer. What its user may not read is missing, and a
    sentence about it is in `refused`.
    """

    refused: dict[str, str]
    histories: tuple[str, ...]
    """The names of its histories of queries. One may be further behind than another, so each has a cursor."""

    def queries(self, history: str, since: datetime, until: datetime | None) -> Iterator[Query]:
        """The queries in a history that ended in a time, in the order of their ends."""
        ...

    def views(self, since: datetime, until: datetime | None) -> Iterator[View]:
        """The views that were changed in a time and still are there."""
        ...

    def columns(self) -> Catalog:
        """The columns of all tables and views."""
        ...

    def close(self) -> None:
        """Close the connections, and forget what was refused."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseServer:
    """One warehouse. `namespace` is that of its tables; `instance` names the cursor of its polls.

    `overlap`: how far before the cursor a poll reads again, if its history has rows that come later than others.
    """

    warehouse: Warehouse
    namespace: str
    dialect: Dialect
    name: str
    project: str = ""
    overlap: timedelta = timedelta()
    kind: str = POLL
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The namespace; with the project where one namespace has all of them."""
        return f"{self.namespace}:{self.project}" if self.project else self.namespace

    def check(self) -> Findings:
        """Whether the warehouse answers, and what of it may be read."""
        now = datetime.now(UTC)
        try:
            for history in self.warehouse.histories:
                next(self.warehouse.queries(history, now - timedelta(minutes=1), now), None)
            refused = tuple(self.warehouse.refused.values())
        except SourceError as error:
            return Findings(problems=(str(error),))
        finally:
            self.warehouse.close()
        return Findings(doubts=refused)

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """Views that changed, then queries, since the cursor less the overlap. Raises SourceError.

        The cursor has the latest end of a query by history, and the latest change of a view, in microseconds. It has
        the temporary tables of sessions: a later poll may not see where they were created.
        """
        place: Json = dict(cursor) if isinstance(cursor, dict) else {}
        try:
            catalog = self.warehouse.columns()
            for view in self.warehouse.views(self._first(place.get("changed"), window), window.until):
                place = {**place, "changed": max(place.get("changed", 0), view.changed)}
                yield replace(view, catalog=catalog), place
            for history in self.warehouse.histories:
                for query, reached in self._queries(history, place, window):
                    place = reached
                    refused = tuple(self.warehouse.refused.values())
                    yield RanQuery(query=query, catalog=catalog, refused=refused), place
        finally:
            self.warehouse.close()

    def translate(self, record: Record, naming: Naming) -> list[Json]:
        """The events of a record."""
        return record_events(record, self.dialect, self.namespace, naming)

    def _queries(self, history: str, place: Json, window: Window) -> Iterator[tuple[Query, Json]]:
        sessions: Sessions = OrderedDict((key, tuple(names)) for key, names in place.get("temporary", {}).items())
        reached: int = place.get("ended", {}).get(history, 0)
        found = self.warehouse.queries(history, self._first(reached, window), window.until)
        for query in with_temporary(found, sessions):
            assert isinstance(query, Query)
            reached = max(reached, query.ended)
            place = {**place, "ended": {**place.get("ended", {}), history: reached}}
            if query.temporary:
                place["temporary"] = dict(list(sessions.items())[-_SESSIONS:])
            yield query, place

    def _first(self, reached: int | None, window: Window) -> datetime:
        since = window.since.astimezone(UTC) if window.since else moment_at(0)
        if not reached:
            return since
        overlap = max(window.overlap, self.overlap)
        return max(since, moment_at(reached) - overlap)


@dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseCapture:
    """What the entry point of a warehouse names."""

    name: str
    options: Mapping[str, str]
    make: Callable[[Mapping[str, str]], WarehouseServer]
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """No package is needed: the warehouse is asked over HTTP."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> list[Json]:
        """A record does not name its warehouse: see `configure`. Raises ValueError."""
        raise ValueError("the capture is not configured: a query needs a warehouse and a dialect")

    def configure(self, options: Mapping[str, str]) -> WarehouseServer:
        """The capture of one warehouse. Raises ValueError for an option that is missing or wrong."""
        return self.make(options)


def read_minutes(options: Mapping[str, str], name: str, default: int) -> int:
    """A whole number of minutes. Raises ValueError with a sentence."""
    given = options.get(name, str(default))
    if not given.isdecimal():
        raise ValueError(f"the option {name} must be a number of minutes, not {given!r}")
    return int(given)
