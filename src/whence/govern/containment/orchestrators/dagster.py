"""Dagster over its GraphQL API: a schedule or a sensor is stopped and started.

https://docs.dagster.io/guides/operate/graphql
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.govern.containment.orchestrators.port import Receipt, TargetState
from whence.govern.containment.steps import Target

_READ = {
    "schedule": """query ReadSchedule($selector: ScheduleSelector!) {
  found: scheduleOrError(scheduleSelector: $selector) {
    __typename
    ... on Schedule { state: scheduleState { id status runningCount } }
    ... on Error { message }
  }
}""",
    "sensor": """query ReadSensor($selector: SensorSelector!) {
  found: sensorOrError(sensorSelector: $selector) {
    __typename
    ... on Sensor { state: sensorState { id status runningCount } }
    ... on Error { message }
  }
}""",
}
_STOP = {
    "schedule": """mutation StopSchedule($id: String!) {
  found: stopRunningSchedule(id: $id) {
    __typename
    ... on ScheduleStateResult { state: scheduleState { id status } }
    ... on Error { message }
  }
}""",
    "sensor": """mutation StopSensor($id: String!) {
  found: stopSensor(id: $id) {
    __typename
    ... on StopSensorMutationResult { state: instigationState { id status } }
    ... on Error { message }
  }
}""",
}
_START = {
    "schedule": """mutation StartSchedule($selector: ScheduleSelector!) {
  found: startSchedule(scheduleSelector: $selector) {
    __typename
    ... on ScheduleStateResult { state: scheduleState { id status } }
    ... on Error { message }
  }
}""",
    "sensor": """mutation StartSensor($selector: SensorSelector!) {
  found: startSensor(sensorSelector: $selector) {
    __typename
    ... on Sensor { state: sensorState { id status } }
    ... on Error { message }
  }
}""",
}
_STATUS = ("RUNNING", "STOPPED")


@dataclass(slots=True, kw_only=True)
class Dagster:
    """One Dagster. An id is `schedule:NAME@REPOSITORY@LOCATION`, or `sensor:` in the place of `schedule:`."""

    name: str
    url: str
    authorize: Callable[[HttpSource], Mapping[str, str]]
    _source: HttpSource | None = field(default=None)

    def read_state(self, target: Target) -> TargetState:
        """Whether a schedule or sensor is stopped, and how many of its runs go on."""
        state = self._read(target)
        running = state.get("runningCount")
        return TargetState(is_paused=self._is_stopped(state), running=running if isinstance(running, int) else None)

    def pause(self, target: Target) -> Receipt:
        """Stop it. Dagster stops by the id of the state, which only it knows."""
        kind, _ = self._selector(target)
        state = self._ask(_STOP[kind], {"id": self._read(target)["id"]})
        if not self._is_stopped(state):
            raise SourceError(self.name, f"{target.id} is not stopped")
        return Receipt(target=target)

    def resume(self, receipt: Receipt) -> None:
        """Start it."""
        kind, selector = self._selector(receipt.target)
        if self._is_stopped(self._ask(_START[kind], {"selector": selector})):
            raise SourceError(self.name, f"{receipt.target.id} is not started")

    def close(self) -> None:
        """Close the connections."""
        if self._source is not None:
            self._source.close()

    def _read(self, target: Target) -> Mapping[str, Any]:
        kind, selector = self._selector(target)
        return self._ask(_READ[kind], {"selector": selector})

    def _selector(self, target: Target) -> tuple[str, Mapping[str, str]]:
        kind, _, rest = target.id.partition(":")
        parts = rest.rsplit("@", 2)
        if kind not in _READ or len(parts) != 3 or not all(parts):
            raise SourceError(self.name, f"{target.id!r} is no id of Dagster: schedule:NAME@REPOSITORY@LOCATION")
        name, repository, location = parts
        named = {"repositoryName": repository, "repositoryLocationName": location, f"{kind}Name": name}
        return kind, named

    def _is_stopped(self, state: Mapping[str, Any]) -> bool:
        if state.get("status") not in _STATUS:
            raise SourceError(self.name, f"it does not tell the status: {state.get('status')!r}")
        return bool(state["status"] == "STOPPED")

    def _ask(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """The state in an answer. Raises SourceError with Dagster's own message if it has none."""
        self._source = source = self._source or HttpSource(url=self.url, authorize=self.authorize)
        reply = source.send("POST", "graphql", json={"query": query, "variables": variables})
        document = source.document("graphql", reply)
        if errors := document.get("errors"):
            raise SourceError(source.address, f"Dagster refuses the query: {errors[0].get('message')}")
        found = (document.get("data") or {}).get("found") or {}
        state = found.get("state")
        if not isinstance(state, dict) or "id" not in state:
            raise SourceError(source.address, f"{found.get('__typename')}: {found.get('message')}")
        return state
