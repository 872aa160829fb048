"""A cluster of Kafka Connect as a capture: each connector that changed since the last poll."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote

from whence.capture.kafka_connect.events import connector_events, state_of
from whence.capture.kafka_connect.records import ConnectorRecord
from whence.capture.kafka_connect.routing import route_topic
from whence.capture.polling.http_source import HttpSource, basic_login, name_server, require_url
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window
from whence_client.events.runs import ENDED

VERSIONS = Versions("4.3.1", "4.3.1")
URL, BOOTSTRAP = "WHENCE_CONNECT_URL", "WHENCE_CONNECT_BOOTSTRAP"
USER, PASSWORD = "WHENCE_CONNECT_USER", "WHENCE_CONNECT_PASSWORD"
_NOT_THERE = frozenset((400, 403, 404))
"""A worker with topic.tracking.enable=false says 403; one whose server takes no path with %2F in it says 400."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectCluster:
    """One cluster, or some of its connectors. `bootstrap` are the servers of Kafka, as other jobs write them."""

    source: HttpSource
    bootstrap: str
    instance: str
    connectors: tuple[str, ...] = ("*",)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    name: str = "kafka-connect"
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """Whether a worker answers, and with a release that is known."""
        try:
            found = str(self.source.get("").get("version", ""))
        except SourceError as error:
            return Findings(problems=(str(error),))
        finally:
            self.source.close()
        is_known = found.split(".")[:2] == VERSIONS.newest.split(".")[:2]
        return Findings(found, doubts=() if is_known else (f"Connect {found} was not tried, {VERSIONS.newest} was",))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[ConnectorRecord, Json]]:
        """The connectors that changed since the cursor, and those that are gone. Raises SourceError.

        The cursor has of each connector when it began, and a digest of what is known of it. Connect keeps nothing of
        the past: there is nothing in a window that ends.
        """
        if window.until is not None:
            return
        try:
            yield from self._changed(dict(cursor) if isinstance(cursor, dict) else {})
        finally:
            self.source.close()

    def translate(self, record: ConnectorRecord, naming: Naming) -> Iterator[Json]:
        """The events of a connector."""
        return connector_events(record, self.bootstrap, naming)

    def _changed(self, known: Json) -> Iterator[tuple[ConnectorRecord, Json]]:
        now = self.clock().isoformat()
        listed = self.source.get("connectors", expand=("info", "status"))
        for name in sorted(filter(self._is_wanted, listed)):
            before = known.get(name) or {}
            began = now if before.get("ended", True) else before["began"]
            record = self._read(name, listed[name], began, now)
            digest = _digest(record)
            if digest != before.get("digest"):
                known = {**known, name: _kept(record, digest)}
                yield record, known
        for name in sorted(set(known) - set(listed)):
            before, known = known[name], {one: known[one] for one in known if one != name}
            if not before["ended"]:
                topics = tuple(before["topics"])
                yield ConnectorRecord(name=name, began=before["began"], polled=now, topics=topics), known

    def _read(self, name: str, found: Json, began: str, now: str) -> ConnectorRecord:
        record = ConnectorRecord(
            name=name, info=found.get("info") or {}, status=found.get("status") or {}, began=began, polled=now
        )
        reply = self.source.send("GET", f"connectors/{quote(name, safe='')}/topics")
        if reply.status_code in _NOT_THERE:
            return replace(record, topics=_named_topics(record), is_tracked=False)
        topics = self.source.document("topics", reply).get(name, {}).get("topics") or ()
        tables = self._tables(name) if record.kind == "JdbcSource" else ()
        return replace(record, topics=tuple(sorted(topics)), tables=tables)

    def _tables(self, name: str) -> tuple[str, ...]:
        """The tables that the offsets of a source name."""
        path = f"connectors/{quote(name, safe='')}/offsets"
        reply = self.source.send("GET", path)
        if reply.status_code in _NOT_THERE:
            return ()
        partitions = [one.get("partition") or {} for one in self.source.document(path, reply).get("offsets") or ()]
        return tuple(str(one["table"]) for one in partitions if one.get("table"))

    def _is_wanted(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.connectors)


def _named_topics(record: ConnectorRecord) -> tuple[str, ...]:
    """The topics that a configuration names one by one; patterns and prefixes name none."""
    listed = record.settings.get("topics" if record.is_sink else "topic", "").split(",")
    names = (one.strip() for one in listed if one.strip())
    routed = names if record.is_sink else (route_topic(record.settings, one) for one in names)
    return tuple(sorted(one for one in routed if one))


def _kept(record: ConnectorRecord, digest: str) -> Json:
    is_ended = state_of(record) in ENDED
    return {"began": record.began, "digest": digest, "ended": is_ended, "topics": list(record.topics)}


def _digest(record: ConnectorRecord) -> str:
    tasks = [one["state"] for one in record.status.get("tasks") or ()]
    states = [record.status.get("connector", {}).get("state"), *tasks]
    known = json.dumps([record.settings, states, record.topics, record.tables], sort_keys=True)
    return hashlib.sha256(known.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ConnectCapture:
    """What the entry point `kafka-connect` names."""

    name: str = "kafka-connect"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "url": f"a worker, such as http://connect:8083; {URL} if not given",
            "bootstrap": f"the servers of Kafka, as other jobs write them, like kafka:9092; {BOOTSTRAP} if not given",
            "connectors": "names of connectors, with * for any text, separated by commas; all if not given",
        }
    )

    def check(self) -> Findings:
        """No package is needed: Connect is asked over HTTP."""
        return Findings()

    def translate(self, record: ConnectorRecord, naming: Naming) -> Iterator[Json]:
        """The events of a record whose topics are of the cluster that the environment names."""
        return connector_events(record, os.environ.get(BOOTSTRAP, ""), naming)

    def configure(self, options: Mapping[str, str]) -> ConnectCluster:
        """The capture of one cluster. Raises ValueError for an address that is missing."""
        url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "http://connect:8083")
        bootstrap = options.get("bootstrap") or os.environ.get(BOOTSTRAP, "")
        if not bootstrap:
            raise ValueError(
                f"no servers of Kafka: set bootstrap=kafka:9092, or {BOOTSTRAP}; Connect does not tell them"
            )
        patterns = tuple(one.strip() for one in options.get("connectors", "*").split(",") if one.strip())
        return ConnectCluster(
            source=HttpSource(url=url, variables=(USER, PASSWORD), authorize=lambda _: basic_login(USER, PASSWORD)),
            bootstrap=bootstrap,
            instance=name_server("kafka-connect", url),
            connectors=patterns or ("*",),
        )


capture = ConnectCapture()
