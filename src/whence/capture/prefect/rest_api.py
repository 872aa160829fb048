"""The REST API of Prefect 3, as far as the capture reads it (https://docs.prefect.io/v3/api-ref/rest-api)."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from whence.capture.polling.http_source import HttpSource, basic_login
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

KEY, USER, PASSWORD = "WHENCE_PREFECT_KEY", "WHENCE_PREFECT_USER", "WHENCE_PREFECT_PASSWORD"
_PAGE, _EVENTS = 200, 50
_GOING_ON = ("RUNNING", "CANCELLING", "PAUSED")
_ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
_FORBIDDEN, _ABSENT = 403, 404
_ERROR_LEVEL = 40
_EVENT_NAMES, _HEARTBEAT = ("prefect.asset.", "prefect.flow-run."), "prefect.flow-run.heartbeat"


@dataclass(slots=True)
class RestApi:
    """The API of one Prefect. Every method raises SourceError if the server does not answer.

    What this user may not read (HTTP 403) is empty, and kept in `refused`. Only flow runs must be readable.
    """

    source: HttpSource
    page: int = _PAGE
    refused: set[str] = field(default_factory=set)

    def version(self) -> str:
        """The release of the server."""
        return str(self._json("GET", "admin/version"))

    def running(self) -> list[Json]:
        """The flow runs that go on."""
        found: dict[str, Json] = {}
        offset = 0
        while page := self._runs({"state": {"type": {"any_": list(_GOING_ON)}}}, "ID_DESC", offset):
            found.update((one["id"], one) for one in page)
            offset += len(page)
        return list(found.values())

    def ended(self, since: str, until: str | None) -> list[Json]:
        """The flow runs that ended in a time, by their ends.

        Prefect lists the latest first. Each page begins at the time of the last row before, for rows may vanish.
        """
        found: dict[str, Json] = {}
        before, offset = until, 0
        while True:
            times = {"after_": since, **({"before_": before} if before else {})}
            wanted: Json = {"end_time": times, "state": {"type": {"any_": list(_ENDED)}}}
            if not (page := self._runs(wanted, "END_TIME_DESC", offset)):
                return sorted(found.values(), key=lambda one: (one["end_time"], one["id"]))
            is_new = any(one["id"] not in found for one in page)
            found.update((one["id"], one) for one in page)
            last = str(page[-1]["end_time"])
            offset = offset + len(page) if last == before or not is_new else 0
            before = last

    def flow_run(self, run: str) -> Json:
        """A flow run; empty if it is deleted."""
        return self._find("flow runs", f"flow_runs/{run}")

    def flow(self, flow: str) -> Json:
        """A flow; empty if it is deleted."""
        return self._find("flows", f"flows/{flow}")

    def deployment(self, deployment: str) -> Json:
        """A deployment; empty if it is deleted."""
        return self._find("deployments", f"deployments/{deployment}")

    def task_run(self, run: str) -> Json:
        """A task run; empty if it is deleted."""
        return self._find("task runs", f"task_runs/{run}")

    def tasks(self, run: str) -> tuple[Json, ...]:
        """The task runs of a flow run, by their starts."""
        body: Json = {"flow_runs": {"id": {"any_": [run]}}, "sort": "EXPECTED_START_TIME_ASC"}
        return tuple(self._pages("task runs", "task_runs/filter", body))

    def errors(self, run: str) -> dict[str, str]:
        """The text of the last error in the logs of each task run of a flow run; that of the flow run under ""."""
        wanted: Json = {"flow_run_id": {"any_": [run]}, "level": {"ge_": _ERROR_LEVEL}}
        body: Json = {"logs": wanted, "sort": "TIMESTAMP_ASC"}
        return {
            str(one.get("task_run_id") or ""): str(one["message"])
            for one in self._pages("logs", "logs/filter", body)
            if "Traceback" in str(one["message"])
        }

    def events(self, run: str, since: str, until: str | None) -> tuple[Json, ...]:
        """The events of a flow run and of the assets of its tasks, by their times."""
        resource = {"id": [f"prefect.flow-run.{run}"]}
        names = {"prefix": list(_EVENT_NAMES), "exclude_name": [_HEARTBEAT]}
        occurred = {"since": since, **({"until": until} if until else {})}
        wanted: Json = {"occurred": occurred, "any_resource": resource, "event": names}
        reply = self.source.send("POST", "events/filter", json={"filter": {**wanted, "order": "ASC"}, "limit": _EVENTS})
        return tuple(self._event_pages(reply))

    def close(self) -> None:
        """End the connections, and forget what was refused: at the next poll it may be allowed."""
        self.refused.clear()
        self.source.close()

    def _event_pages(self, reply: Any) -> Iterator[Json]:
        while True:
            if reply.status_code == _FORBIDDEN:
                self.refused.add("events")
                return
            document = self.source.document("events/filter", reply)
            yield from document.get("events") or ()
            if not (following := document.get("next_page")):
                return
            # The server may write another address of itself.
            reply = self.source.send("GET", f"events/filter/next?{urlsplit(str(following)).query}")

    def _runs(self, wanted: Json, sort: str, offset: int) -> list[Json]:
        body: Json = {"flow_runs": wanted, "sort": sort, "limit": self.page, "offset": offset}
        found = self._json("POST", "flow_runs/filter", json=body)
        if not isinstance(found, list):
            raise SourceError(self.source.address, "no list of flow runs: url is the address of Prefect's API")
        return found

    def _pages(self, what: str, path: str, body: Json) -> Iterator[Json]:
        offset = 0
        while True:
            reply = self.source.send("POST", path, json={**body, "limit": self.page, "offset": offset})
            if reply.status_code == _FORBIDDEN:
                self.refused.add(what)
                return
            if not (rows := self._read(path, reply)):
                return
            yield from rows
            offset += len(rows)

    def _find(self, what: str, path: str) -> Json:
        reply = self.source.send("GET", path)
        if reply.status_code == _FORBIDDEN:
            self.refused.add(what)
        return {} if reply.status_code in (_FORBIDDEN, _ABSENT) else self.source.document(path, reply)

    def _json(self, method: str, path: str, **sent: Any) -> Any:
        return self._read(path, self.source.send(method, path, **sent))

    def _read(self, path: str, reply: Any) -> Any:
        try:
            return self.source.checked(path, reply).json()
        except ValueError:
            raise SourceError(self.source.address, f"no JSON for {path}: {reply.text[:300]}") from None


def authorize(source: HttpSource) -> Mapping[str, str]:
    """The headers with the credentials of the environment: a key of Prefect Cloud, or the server's password."""
    if key := os.environ.get(KEY):
        return {"Authorization": f"Bearer {key}"}
    return basic_login(USER, PASSWORD)
