"""BigQuery's REST API (cloud.google.com/bigquery/docs/reference/rest): jobs, datasets, and queries of their schemas."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from whence.capture.polling.http_source import HttpSource
from whence.capture.sql_log.rows import Row
from whence.capture.warehouses.statements import StatementError
from whence.openlineage.json.wire import Json

_REFUSED = frozenset((400, 403, 404))
_PAUSE = 1.0
_TRIES = 600
_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RestApi:
    """One project. Every method raises SourceError when the API does not answer, StatementError when it refuses."""

    source: HttpSource
    project: str

    def jobs(self, since: datetime, until: datetime) -> Iterator[Json]:
        """The jobs of all users that were created in a time and are done, the latest first."""
        times = {"minCreationTime": _milliseconds(since), "maxCreationTime": _milliseconds(until)}
        return self._listed("jobs", "jobs", allUsers="true", projection="full", stateFilter="done", **times)

    def datasets(self) -> Iterator[str]:
        """The ids of the datasets."""
        for one in self._listed("datasets", "datasets"):
            yield str(one["datasetReference"]["datasetId"])

    def run(self, statement: str) -> Iterator[Row]:
        """The rows of a statement, each cell a text or None."""
        body = {"query": statement, "useLegacySql": False, "timeoutMs": 30_000, "labels": {"whence": "poll"}}
        reply = self._ask("POST", "queries", json=body)
        job = reply.get("jobReference") or {}
        path, place = f"queries/{job.get('jobId', '')}", {"location": job["location"]} if job.get("location") else {}
        for _ in range(_TRIES):
            if reply.get("jobComplete"):
                break
            self.source.pause(_PAUSE)
            reply = self._ask("GET", path, params=place)
        names = [str(one["name"]).lower() for one in (reply.get("schema") or {}).get("fields", ())]
        while True:
            yield from (dict(zip(names, _cells(row), strict=True)) for row in reply.get("rows", ()))
            if not (token := reply.get("pageToken")):
                return
            reply = self._ask("GET", path, params={**place, "pageToken": token})

    def _listed(self, path: str, member: str, **parameters: str) -> Iterator[Json]:
        query: dict[str, Any] = {**parameters, "maxResults": _PAGE}
        while True:
            page = self._ask("GET", path, params=query)
            yield from page.get(member, ())
            if not (token := page.get("nextPageToken")):
                return
            query["pageToken"] = token

    def _ask(self, method: str, path: str, **sent: Any) -> Json:
        whole = f"bigquery/v2/projects/{self.project}/{path}"
        reply = self.source.send(method, whole, **sent)
        if reply.status_code in _REFUSED:
            raise StatementError(self.source.address, f"HTTP {reply.status_code} for {path}: {_message(reply)}")
        return self.source.document(whole, reply)


def _cells(row: Json) -> list[Any]:
    return [one.get("v") for one in row["f"]]


def _milliseconds(at: datetime) -> str:
    return str(max(0, int(at.timestamp() * 1_000)))


def _message(reply: Any) -> str:
    try:
        return str(reply.json()["error"]["message"])[:300]
    except (ValueError, KeyError, TypeError):
        return str(reply.text)[:300]
