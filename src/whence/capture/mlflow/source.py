"""A tracking server as a capture: runs in the order of their ends, and the states of registered model versions."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from whence.capture.mlflow.events import run_events
from whence.capture.mlflow.models import version_events
from whence.capture.mlflow.records import Record, RunRecord, VersionRecord, members
from whence.capture.mlflow.tracking_server import TrackingServer
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window
from whence_client.naming import name_tracking_server

VERSIONS = Versions("3.17.2", "3.17.2")

_PROMPT = "mlflow.prompt.is_prompt"
"""The tag of what is no model, though the registry has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MlflowServer:
    """One tracking server, or some of its experiments. `instance` is its namespace, `mlflow://host:port`.

    `folder` is that of relative paths, for runs that do not name their working directory. `warehouse` is where Spark
    has the tables that it names.
    """

    server: TrackingServer
    instance: str
    experiments: tuple[str, ...] = ("*",)
    folder: str = ""
    warehouse: str = ""
    name: str = "mlflow"
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """Whether the server answers, and with a release that is known."""
        try:
            found = self.server.version()
        except SourceError as error:
            return Findings(problems=(str(error),))
        finally:
            self.server.close()
        is_known = found.split(".")[:2] == VERSIONS.newest.split(".")[:2]
        return Findings(found, doubts=() if is_known else (f"MLflow {found} was not tried, {VERSIONS.newest} was",))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """Runs that go on, runs by their ends since the cursor, then versions that changed. Raises SourceError.

        The cursor has the latest end, and a digest of each version's state: a change of an alias has no time.
        """
        cursor = cursor if isinstance(cursor, dict) else {"ended": 0, "versions": {}}
        try:
            yield from self._read(cursor, window)
        finally:
            self.server.close()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a run or of a registered version."""
        return _events(record, replace(naming, folder=self.folder), self.warehouse)

    def _read(self, cursor: Json, window: Window) -> Iterator[tuple[Record, Json]]:
        chosen = {
            str(one["experiment_id"]): str(one["name"])
            for one in self.server.experiments()
            if any(fnmatchcase(str(one["name"]), pattern) for pattern in self.experiments)
        }
        if chosen:
            for record, ended in self._runs(chosen, cursor["ended"], window):
                cursor = {**cursor, "ended": max(cursor["ended"], ended)}
                yield record, cursor
        for version, states in self._versions(cursor["versions"], window):
            cursor = {**cursor, "versions": states}
            yield version, cursor

    def _runs(self, chosen: Mapping[str, str], ended: int, window: Window) -> Iterator[tuple[RunRecord, int]]:
        ids, names = list(chosen), dict(chosen)
        since, until = _milliseconds(window.since), _milliseconds(window.until)
        if until is None:
            for run in self.server.runs(ids, "attributes.status = 'RUNNING'"):
                yield self._record(run, names), 0
        first = max(ended - round(window.overlap.total_seconds() * 1000), since or 0)
        condition = f"attributes.end_time >= {first}" + (f" AND attributes.end_time < {until}" if until else "")
        for run in self.server.runs(ids, condition, order="attributes.end_time ASC"):
            yield self._record(run, names), int(run["info"]["end_time"])

    def _record(self, run: Json, names: dict[str, str]) -> RunRecord:
        outputs = run.get("outputs", {}).get("model_outputs") or ()
        ids = dict.fromkeys(str(one["model_id"]) for one in outputs)
        found = {model_id: self.server.logged_model(model_id) for model_id in ids}
        models = {model_id: model for model_id, model in found.items() if model}
        signatures = {model_id: self.server.signature(model_id) for model_id in models}
        parent = members(run.get("data", {}).get("tags")).get("mlflow.parentRunId", "")
        return RunRecord(
            names[str(run["info"]["experiment_id"])], run, models, signatures, self._parent(parent, run, names)
        )

    def _parent(self, parent: str, run: Json, names: dict[str, str]) -> str:
        """The experiment of the parent run; empty without a parent."""
        if not parent:
            return ""
        found = self.server.run(parent) or run
        experiment_id = str(found["info"]["experiment_id"])
        if experiment_id not in names:
            names[experiment_id] = str((self.server.experiment(experiment_id) or {}).get("name", experiment_id))
        return names[experiment_id]

    def _versions(self, known: Mapping[str, Any], window: Window) -> Iterator[tuple[VersionRecord, dict[str, Any]]]:
        """The versions whose state differs from the known one, each with all states that are known then."""
        states, seen = dict(known), set()
        aliases, versions = _aliases(self.server.registered_models()), list(self.server.model_versions())
        sources = {_key(version): str(version.get("source") or "").removeprefix("models:/") for version in versions}
        for version in versions:
            key = _key(version)
            seen.add(key)
            if _PROMPT in members(version.get("tags")) or not _is_wanted(version, window):
                continue
            mine = aliases.get((str(version["name"]), str(version["version"])), ())
            updated, digest = int(version["last_updated_timestamp"]), _digest(version, mine)
            before = states.get(key)
            if before is None or before[1] != digest:
                at = updated if before is None or updated > before[0] else self.server.time
                states[key] = [updated, digest]
                yield VersionRecord(version, at, mine, self._signature(key, sources)), dict(states)
        if window.since is None and window.until is None:
            yield from self._deleted(states, seen)

    def _deleted(self, states: dict[str, Any], seen: set[str]) -> Iterator[tuple[VersionRecord, dict[str, Any]]]:
        for key in [key for key in states if key not in seen]:
            del states[key]
            name, _, number = key.rpartition("/")
            gone = {"name": name, "version": number}
            yield VersionRecord(gone, self.server.time, is_deleted=True), dict(states)

    def _signature(self, key: str, sources: Mapping[str, str]) -> Json:
        """The signature of the logged model that a version is, through the versions that it was copied from."""
        passed: set[str] = set()
        while key in sources and key not in passed:
            passed.add(key)
            key = sources[key]
        return self.server.signature(key) if key.startswith("m-") else {}


@dataclass(frozen=True, slots=True)
class MlflowCapture:
    """What the entry point `mlflow` names."""

    name: str = "mlflow"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "uri": "the tracking server, such as http://tracking:5000; MLFLOW_TRACKING_URI if not given",
            "experiments": "names of experiments, with * for any text, separated by commas; all if not given",
            "folder": "the folder of relative paths, for runs that name no working directory",
            "warehouse": "where Spark has its tables: hive://host:port, or a folder",
            "namespace": "the namespace of models, if jobs reach the server at another address: mlflow://host:port",
        }
    )

    def check(self) -> Findings:
        """No package is needed: MLflow is asked over HTTP."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record, whichever server it comes from."""
        return _events(record, naming, "")

    def configure(self, options: Mapping[str, str]) -> MlflowServer:
        """The capture of one server. Raises ValueError for an address that is missing or none of HTTP."""
        uri = options.get("uri") or os.environ.get("MLFLOW_TRACKING_URI", "")
        if urlsplit(uri).scheme not in ("http", "https"):
            given = uri.partition("://")[0]
            raise ValueError(
                f"{given or 'no address'} is no HTTP server: set uri=http://HOST:PORT. "
                "For a database or folder of MLflow, start `mlflow server --backend-store-uri …` first"
            )
        patterns = tuple(one.strip() for one in options.get("experiments", "*").split(",") if one.strip())
        return MlflowServer(
            server=TrackingServer(uri),
            instance=options.get("namespace") or name_tracking_server(uri),
            experiments=patterns or ("*",),
            folder=options.get("folder", ""),
            warehouse=options.get("warehouse", ""),
        )


def _events(record: Record, naming: Naming, warehouse: str) -> Iterator[Json]:
    match record:
        case RunRecord():
            return run_events(record, naming, warehouse)
        case VersionRecord():
            return version_events(record, naming)


def _aliases(models: Iterator[Json]) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for model in models:
        for one in model.get("aliases") or ():
            key = str(model["name"]), str(one["version"])
            found[key] = (*found.get(key, ()), str(one["alias"]))
    return found


def _key(version: Json) -> str:
    return f"{version['name']}/{version['version']}"


def _is_wanted(version: Json, window: Window) -> bool:
    updated = int(version["last_updated_timestamp"])
    since, until = _milliseconds(window.since), _milliseconds(window.until)
    return (since is None or updated >= since) and (until is None or updated < until)


def _digest(version: Json, aliases: tuple[str, ...]) -> str:
    text = json.dumps([version, sorted(aliases)], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _milliseconds(at: datetime | None) -> int | None:
    return None if at is None else round(at.timestamp() * 1000)


capture = MlflowCapture()
