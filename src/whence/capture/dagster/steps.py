"""A run's event log, read into the run itself and the tries of its steps, each with what it made, saw and checked."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from whence.capture.dagster.records import Key, key_of
from whence.openlineage.json.wire import Json

_MADE, _SEEN, _CHECKED = "MaterializationEvent", "ObservationEvent", "AssetCheckEvaluationEvent"
_PLANNED = "AssetMaterializationPlannedEvent"
_BEGINS = frozenset(("ExecutionStepStartEvent", "ExecutionStepRestartEvent"))
_ENDS = frozenset(("ExecutionStepSuccessEvent", "ExecutionStepFailureEvent", "ExecutionStepUpForRetryEvent"))


@dataclass(slots=True)
class Attempt:
    """A try of a step. Times are milliseconds since 1970; `end` is the event that ended it, empty if none did.

    The step "" has what no step of the run did, such as a check that was reported from outside.
    """

    step: str
    number: int
    began: int
    end: Json = field(default_factory=dict)
    made: list[Json] = field(default_factory=list)
    seen: list[Json] = field(default_factory=list)
    checked: list[Json] = field(default_factory=list)

    @property
    def is_failed(self) -> bool:
        """Whether it ended with an error."""
        return bool(self.end) and bool(self.end["__typename"] != "ExecutionStepSuccessEvent")

    @property
    def is_interrupted(self) -> bool:
        """Whether somebody canceled the run: Dagster takes that for a failure of the step."""
        return str((self.end.get("error") or {}).get("className", "")).endswith("InterruptedError")


@dataclass(slots=True)
class History:
    """What a log tells. `planned` are the assets that each step was to make; `ends` are the events that end the run."""

    began: int | None = None
    end: Json = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    planned: dict[str, list[Key]] = field(default_factory=dict)
    made: dict[Key, Json] = field(default_factory=dict)
    """The last materialization of each asset in this run."""


def read_history(log: Iterable[Json]) -> History:
    """The history that a log tells."""
    found = History()
    current: dict[str, Attempt] = {}
    for event in log:
        kind, step = event["__typename"], str(event.get("stepKey") or "")
        if kind in _BEGINS:
            current[step] = _begin(found, current.get(step), event)
        elif kind in _ENDS:
            attempt = current[step] = current.get(step) or _begin(found, None, event)
            attempt.end = event
        elif kind == _PLANNED:
            found.planned.setdefault(step, []).append(key_of(event["assetKey"]))
        elif kind in (_MADE, _SEEN, _CHECKED):
            if step not in current:
                current[step] = _begin(found, None, event)
            _add(found, current[step], event)
        elif kind == "RunStartEvent":
            found.began = time_of(event)
        else:
            found.end = event
    return found


def time_of(event: Json) -> int:
    """The time of an event of the log, in milliseconds since 1970."""
    return int(event["timestamp"])


def _begin(history: History, before: Attempt | None, event: Json) -> Attempt:
    number = before.number + 1 if before else 1
    history.attempts.append(Attempt(str(event.get("stepKey") or ""), number, time_of(event)))
    return history.attempts[-1]


def _add(history: History, attempt: Attempt, event: Json) -> None:
    kind = event["__typename"]
    if kind == _MADE:
        attempt.made.append(event)
        history.made[key_of(event["assetKey"])] = event
    else:
        (attempt.seen if kind == _SEEN else attempt.checked).append(event)
