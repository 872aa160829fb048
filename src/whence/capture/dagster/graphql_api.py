"""The GraphQL API of Dagster, as far as the capture reads it (https://docs.dagster.io/api/graphql)."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence.capture.dagster import queries
from whence.capture.dagster.records import Asset, Key, key_of
from whence.capture.polling.http_source import HttpSource, basic_login
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

TOKEN, USER, PASSWORD = "WHENCE_DAGSTER_TOKEN", "WHENCE_DAGSTER_USER", "WHENCE_DAGSTER_PASSWORD"
_PATH = "graphql"
_RUNS, _EVENTS, _KEYS = 200, 1000, 100
_GOING_ON = ("STARTED", "CANCELING")
_ERRORS = 3


class QueryError(SourceError):
    """Dagster answered a query with an error: it is of what was asked for, not of the server."""


@dataclass(slots=True)
class GraphqlApi:
    """The API of one Dagster. Every method raises SourceError if the server does not answer, or answers an error."""

    source: HttpSource
    page: int = _RUNS

    def version(self) -> str:
        """The release of the webserver."""
        return str(self._ask(queries.VERSION).get("version") or "")

    def broken_locations(self) -> dict[str, str]:
        """Why code locations are not loaded, by name: the definitions of their assets are missing."""
        found = self._member(queries.LOCATIONS, "workspaceOrError", "Workspace")
        loaded = ((one["name"], one.get("locationOrLoadError") or {}) for one in found["locationEntries"])
        return {
            str(name): str(one.get("message") or "it is being loaded").strip().partition("\n")[0]
            for name, one in loaded
            if one.get("__typename") != "RepositoryLocation"
        }

    def running(self) -> list[Json]:
        """The runs that go on, briefly."""
        return self._runs({"statuses": list(_GOING_ON)})

    def updated(self, since: float, until: float | None) -> list[Json]:
        """The runs that changed in a time (seconds since 1970), briefly, by the times of their changes."""
        bounds = {"updatedAfter": since, "updatedBefore": until}
        found = self._runs({name: value for name, value in bounds.items() if value})
        return sorted(found, key=lambda one: (updated_at(one), one["runId"]))

    def run(self, run: str) -> Json:
        """A run, whole."""
        return self._member(queries.RUN, "runOrError", "Run", run=run)

    def log(self, run: str) -> Iterator[Json]:
        """The events of a run's log that a record keeps, in their order."""
        cursor, more = None, True
        while more:
            page = self._member(queries.LOG, "logsForRun", "EventConnection", run=run, cursor=cursor, limit=_EVENTS)
            cursor, more = page["cursor"], page["hasMore"]
            yield from (one for one in page["events"] if one["__typename"] in queries.LOG_EVENTS)

    def describe(self, keys: Iterable[Key], before: float | None = None) -> dict[Key, Asset]:
        """What is known of assets, with their last materialization before a time (seconds since 1970)."""
        found: dict[Key, Asset] = {}
        listed = sorted(set(keys))
        limit = None if before is None else str(int(before * 1000))
        for start in range(0, len(listed), _KEYS):
            chosen = [{"path": list(key)} for key in listed[start : start + _KEYS]]
            page = self._member(queries.DESCRIBE, "assetsOrError", "AssetConnection", keys=chosen, before=limit)
            for one in page["nodes"]:
                event: Json = next(iter(one["assetMaterializations"]), {})
                found[key_of(one["key"])] = Asset(definition=one.get("definition") or {}, event=event)
        return found

    def reported(self, since: float) -> list[Json]:
        """The asset events since a time that belong to no run, by their times."""
        found: list[Json] = []
        for key in self._assets_since(since):
            found += (one for one in self._history(key, since) if not one["runId"])
        return sorted(found, key=lambda one: (int(one["timestamp"]), key_of(one["assetKey"])))

    def close(self) -> None:
        """End the connections."""
        self.source.close()

    def _runs(self, wanted: Json) -> list[Json]:
        """The runs of a filter, each once. Dagster lists nothing behind a run that was deleted in the meantime."""
        found: dict[str, Json] = {}
        passed: list[str] = []
        while True:
            cursor = passed[-1] if passed else None
            variables: Json = {"filter": wanted, "cursor": cursor, "limit": self.page}
            page = self._member(queries.RUNS, "runsOrError", "Runs", **variables)["results"]
            if page:
                found.update((one["runId"], one) for one in page)
                passed += [one["runId"] for one in page]
            elif cursor is None or self._is_there(cursor):
                return list(found.values())
            else:
                passed = [one for one in passed if one != cursor]

    def _is_there(self, run: str) -> bool:
        return str(self._ask(queries.RUN, run=run)["runOrError"]["__typename"]) != "RunNotFoundError"

    def _assets_since(self, since: float) -> Iterator[Key]:
        """The keys of assets with a materialization or an observation since a time."""
        cursor, more = None, True
        while more:
            page = self._member(queries.ASSETS, "assetsOrError", "AssetConnection", cursor=cursor, limit=_EVENTS)
            for one in page["nodes"]:
                times = (one["latestMaterializationTimestamp"], one["latestObservationTimestamp"])
                if any(at is not None and float(at) / 1000 >= since for at in times):
                    yield key_of(one["key"])
            more, cursor = bool(page["nodes"]) and page["cursor"] != cursor, page["cursor"]

    def _history(self, key: Key, since: float) -> Iterator[Json]:
        cursor, after = None, str(int(since * 1000) - 1)
        while True:
            variables: Json = {"key": {"path": list(key)}, "after": after, "cursor": cursor, "limit": _EVENTS}
            page = self._member(queries.HISTORY, "assetOrError", "Asset", **variables)["assetEventHistory"]
            if not page["results"]:
                return
            yield from page["results"]
            cursor = page["cursor"]

    def _member(self, query: str, name: str, expected: str, **variables: Any) -> Json:
        """The answer of a query if it is of the expected type; else it is an error."""
        found: Json = self._ask(query, **variables).get(name) or {}
        if (kind := found.get("__typename")) != expected:
            raise QueryError(self.source.address, f"{name}: {kind or 'no answer'}: {found.get('message', '')}")
        return found

    def _ask(self, query: str, **variables: Any) -> Json:
        reply = self.source.send("POST", _PATH, json={"query": query, "variables": variables})
        document = self.source.document(_PATH, reply)
        if errors := document.get("errors"):
            texts = [str(one.get("message")) for one in errors[:_ERRORS]]
            raise QueryError(self.source.address, f"GraphQL: {'; '.join(texts)}")
        if not isinstance(data := document.get("data"), dict):
            raise SourceError(self.source.address, "no GraphQL: the server has no Dagster at this address")
        return data


def updated_at(run: Json) -> float:
    """When a run changed, in seconds since 1970."""
    return float(run.get("updateTime") or run.get("endTime") or run.get("creationTime") or 0)


def authorize(source: HttpSource) -> Mapping[str, str]:
    """The headers with the credentials of the environment: a token of Dagster+, or the password of a proxy."""
    if token := os.environ.get(TOKEN):
        return {"Dagster-Cloud-Api-Token": token}
    return basic_login(USER, PASSWORD)
