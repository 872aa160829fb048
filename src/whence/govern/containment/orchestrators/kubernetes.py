"""Kubernetes over its API: a CronJob is suspended and goes on, with a merge patch of `spec.suspend`.

https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-suspension
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.govern.containment.orchestrators.port import Json, Receipt, TargetState
from whence.govern.containment.steps import Target

_ABSENT = 404
_PATCH = "application/merge-patch+json"


@dataclass(slots=True, kw_only=True)
class Kubernetes:
    """One cluster. An id is `NAMESPACE/CRONJOB`."""

    name: str
    url: str
    authorize: Callable[[HttpSource], Mapping[str, str]]
    _source: HttpSource | None = field(default=None)

    def read_state(self, target: Target) -> TargetState:
        """Whether a CronJob is suspended, and how many of its Jobs go on."""
        path = self._path(target)
        found = self._read(target, self._client().send("GET", path))
        return TargetState(is_paused=bool((found.get("spec") or {}).get("suspend")), running=_active(found))

    def pause(self, target: Target) -> Receipt:
        """Suspend a CronJob. Its Jobs that go on are not stopped."""
        self._suspend(target, suspend=True)
        return Receipt(target=target)

    def resume(self, receipt: Receipt) -> None:
        """Let a CronJob go on. Kubernetes starts what it missed if `startingDeadlineSeconds` is not set."""
        self._suspend(receipt.target, suspend=False)

    def close(self) -> None:
        """Close the connections."""
        if self._source is not None:
            self._source.close()

    def _suspend(self, target: Target, *, suspend: bool) -> None:
        body = json.dumps({"spec": {"suspend": suspend}}).encode()
        reply = self._client().send("PATCH", self._path(target), content=body)
        spec = self._read(target, reply).get("spec") or {}
        if bool(spec.get("suspend")) is not suspend:
            raise SourceError(self._client().address, f"the CronJob {target.id!r} is unchanged")

    def _read(self, target: Target, reply: httpx2.Response) -> Json:
        if reply.status_code == _ABSENT:
            raise SourceError(self._client().address, f"it has no CronJob {target.id!r}")
        return self._client().document(self._path(target), reply)

    def _path(self, target: Target) -> str:
        namespace, slash, name = target.id.partition("/")
        if not slash or not namespace or not name:
            raise SourceError(self.name, f"{target.id!r} is no id of a CronJob: NAMESPACE/NAME")
        return f"apis/batch/v1/namespaces/{quote(namespace, safe='')}/cronjobs/{quote(name, safe='')}"

    def _client(self) -> HttpSource:
        if self._source is None:
            self._source = HttpSource(
                url=self.url, authorize=lambda one: {**self.authorize(one), "Content-Type": _PATCH}
            )
        return self._source


def _active(found: Json) -> int | None:
    status = found.get("status")
    active = status.get("active", []) if isinstance(status, dict) else None
    return len(active) if isinstance(active, list) else None
