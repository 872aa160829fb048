"""Airflow 3 over its REST API v2, and Airflow 2 over v1: a DAG is paused and unpaused.

https://airflow.apache.org/docs/apache-airflow/stable/stable-rest-api-ref.html
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.govern.containment.orchestrators.port import Receipt, TargetState
from whence.govern.containment.steps import Target

_ABSENT, _FORBIDDEN = 404, 403
Authorize = Callable[[HttpSource], Mapping[str, str]]


@dataclass(slots=True, kw_only=True)
class Airflow:
    """One Airflow. `token`: gives the headers of v2, `basic` those of v1. Which of them it has is asked of it."""

    name: str
    url: str
    token: Authorize
    basic: Authorize
    _source: HttpSource | None = field(default=None)
    _api: str = field(default="")

    def read_state(self, target: Target) -> TargetState:
        """Whether a DAG is paused, and how many of its runs go on, if this user may read that."""
        path = self._path(target)
        found = self._dag(target, self._client().send("GET", path))
        runs = self._client().send("GET", f"{path}/dagRuns", params={"state": "running", "limit": 1})
        if runs.status_code == _FORBIDDEN:
            return TargetState(is_paused=found)
        total = self._client().document(f"{path}/dagRuns", runs).get("total_entries")
        return TargetState(is_paused=found, running=total if isinstance(total, int) else None)

    def pause(self, target: Target) -> Receipt:
        """Pause a DAG. Its runs that go on are not stopped."""
        self._set(target, is_paused=True)
        return Receipt(target=target)

    def resume(self, receipt: Receipt) -> None:
        """Unpause a DAG."""
        self._set(receipt.target, is_paused=False)

    def close(self) -> None:
        """Close the connections."""
        if self._source is not None:
            self._source.close()

    def _set(self, target: Target, *, is_paused: bool) -> None:
        path, body = self._path(target), {"is_paused": is_paused}
        reply = self._client().send("PATCH", path, params={"update_mask": "is_paused"}, json=body)
        if self._dag(target, reply) is not is_paused:
            raise SourceError(self._client().address, f"the DAG {target.id!r} is unchanged")

    def _dag(self, target: Target, reply: httpx2.Response) -> bool:
        """Whether the DAG in an answer is paused."""
        source = self._client()
        if reply.status_code == _ABSENT:
            raise SourceError(source.address, f"it has no DAG {target.id!r}")
        found = source.document(f"dags/{target.id}", reply).get("is_paused")
        if not isinstance(found, bool):
            raise SourceError(source.address, f"it does not tell whether the DAG {target.id!r} is paused")
        return found

    def _path(self, target: Target) -> str:
        self._client()
        return f"{self._api}/dags/{quote(target.id, safe='')}"

    def _client(self) -> HttpSource:
        if self._source is None:
            probe = HttpSource(url=self.url)
            try:
                is_v2 = probe.send("GET", "api/v2/version").status_code != _ABSENT
            finally:
                probe.close()
            self._api = "api/v2" if is_v2 else "api/v1"
            self._source = HttpSource(url=self.url, authorize=self.token if is_v2 else self.basic)
        return self._source
