"""Prefect over its REST API: a deployment is paused and resumed, with all its schedules.

https://docs.prefect.io/v3/api-ref/rest-api/server/deployments/pause-deployment
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.govern.containment.orchestrators.port import Receipt, TargetState
from whence.govern.containment.steps import Target

_ABSENT = 404


@dataclass(slots=True, kw_only=True)
class Prefect:
    """One Prefect; its address ends with `/api`. An id is that of a deployment, or `FLOW/DEPLOYMENT`."""

    name: str
    url: str
    authorize: Callable[[HttpSource], Mapping[str, str]]
    _source: HttpSource | None = field(default=None)

    def read_state(self, target: Target) -> TargetState:
        """Whether a deployment is paused."""
        return TargetState(is_paused=self._find(target)[1])

    def pause(self, target: Target) -> Receipt:
        """Pause a deployment. Prefect deletes its runs that are only scheduled; it makes new ones when it resumes."""
        id_, _ = self._find(target)
        self._act(id_, "pause_deployment")
        self._check(target, is_paused=True)
        return Receipt(target=target, detail={"deployment": id_})

    def resume(self, receipt: Receipt) -> None:
        """Resume a deployment: by its id, even if it has another name by now."""
        id_ = receipt.detail.get("deployment")
        self._act(id_ if isinstance(id_, str) else self._find(receipt.target)[0], "resume_deployment")

    def close(self) -> None:
        """Close the connections."""
        if self._source is not None:
            self._source.close()

    def _check(self, target: Target, *, is_paused: bool) -> None:
        if self._find(target)[1] is not is_paused:
            raise SourceError(self._client().address, f"the deployment {target.id!r} is unchanged")

    def _find(self, target: Target) -> tuple[str, bool]:
        """The id of a deployment, and whether it is paused."""
        flow, slash, name = target.id.partition("/")
        path = f"name/{quote(flow, safe='')}/{quote(name, safe='')}" if slash else quote(flow, safe="")
        reply = self._client().send("GET", f"deployments/{path}")
        if reply.status_code == _ABSENT:
            raise SourceError(self._client().address, f"it has no deployment {target.id!r}")
        found = self._client().document(f"deployments/{path}", reply)
        id_, is_paused = found.get("id"), found.get("paused")
        if not isinstance(id_, str) or not isinstance(is_paused, bool):
            raise SourceError(self._client().address, f"it does not tell whether {target.id!r} is paused")
        return id_, is_paused

    def _act(self, id_: str, act: str) -> None:
        path = f"deployments/{quote(id_, safe='')}/{act}"
        self._client().checked(path, self._client().send("POST", path, json={}))

    def _client(self) -> HttpSource:
        self._source = self._source or HttpSource(url=self.url, authorize=self.authorize)
        return self._source
