"""Questions about incidents and circuit breakers, acts on incidents, and the answers about breakers."""

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from whence.client.acts.incidents import (
    IncidentAct,
    IncidentActAnswer,
    IncidentAnswer,
    IncidentDetail,
    Incidents,
    IncidentsPage,
    read_incidents,
)
from whence.client.connection import Connection
from whence.client.options import Time, iso_text

Value = TypeVar("Value")
_ROWS_AT_ONCE = 1_000


class BreakerReason(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong with a dataset that a node reads, so many hops away; 0 is the node itself."""

    finding: str
    kind: str
    dataset: str
    column: str | None
    rule: str | None
    since: str
    reason: str | None
    run: str | None
    distance: int
    incident: str
    incident_state: str


class CircuitBreaker(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a node may use the newest data that it reads: `state` is `closed`, `open` or `unknown`.

    `hidden_reasons`: at datasets that this key may not see. `excused`: findings that go on, of incidents that a person
    resolved or mitigated, or whose data is good again. `unknown`: why it is not certain that nothing else is wrong.
    `unwatched`: the nearest of the `unwatched_datasets` of its `datasets` that nothing watches.
    """

    at: str
    node: str
    state: str
    reasons: tuple[BreakerReason, ...]
    hidden_reasons: int
    excused: int
    unknown: tuple[str, ...]
    unwatched: tuple[str, ...]
    unwatched_datasets: int
    datasets: int


class BreakerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about a circuit breaker."""

    data: CircuitBreaker


class IncidentQuestions:
    """The questions of a client about incidents and circuit breakers, and acts on incidents."""

    _connection: Connection

    def incidents(self, *, states: Sequence[str] = (), dataset: str = "", as_of: Time | None = None) -> Incidents:
        """The incidents at a time, those that began last first: all that are not resolved, or those in some states.

        `dataset`: only those with findings of a dataset (its node id).
        """
        options = {"dataset": dataset, "as_of": iso_text(as_of), "limit": _ROWS_AT_ONCE, "state": list(states) or None}
        get, path = self._connection.get, "/api/v2/incidents"
        return read_incidents(lambda some: self._converted(get(path, some), IncidentsPage), options)

    def incident(self, id_: str, *, as_of: Time | None = None) -> IncidentDetail:
        """An incident at a time, or the one into which it was merged."""
        path, options = f"/api/v2/incidents/{quote(id_, safe='')}", {"as_of": iso_text(as_of)}
        return self._converted(self._connection.get(path, options), IncidentAnswer).data

    def act_on_incident(self, id_: str, act: str, **members: Any) -> IncidentAct:
        """Act on an incident as the holder of the key: a steward of the namespace of its root. Raises QuestionError if
        the act would change nothing, or lacks one of its `members` (`text`, `assignee`, `seconds`, `cause`).
        """
        path = f"/api/v2/incidents/{quote(id_, safe='')}/acts"
        return self._converted(self._connection.post(path, {"act": act, **members}), IncidentActAnswer).data

    def circuit_breaker(self, node: str, *, as_of: Time | None = None) -> CircuitBreaker:
        """Whether a model, job, dataset or column may use the newest data that it reads, and why not."""
        options = {"node": node, "as_of": iso_text(as_of)}
        return self._converted(self._connection.get("/api/v2/circuit-breaker", options), BreakerAnswer).data

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        """An answer as a value. Raises ServerVersionError."""
        raise NotImplementedError
