"""The record of a poll: a flow run in Prefect's own JSON, with what belongs to it already beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whence.openlineage.json.wire import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRunRecord:
    """A flow run as `flow_runs/filter` returns it.

    `flow` and `deployment` are as they are today, empty if they are deleted. `tasks` are its task runs, `events` those
    of its assets. `logs` has the text of the last error by task run, and that of the flow run under "". `above` are the
    flow runs that it is in, the nearest first, each with its `flow` and `deployment` beside it. `refused`: what the
    user of the API may not read of it. `has_events` is false if Prefect has removed all events of the run.
    """

    run: Json
    flow: Json = field(default_factory=dict)
    deployment: Json = field(default_factory=dict)
    tasks: tuple[Json, ...] = ()
    events: tuple[Json, ...] = ()
    logs: Mapping[str, str] = field(default_factory=dict)
    above: tuple["FlowRunRecord", ...] = ()
    refused: tuple[str, ...] = ()
    has_events: bool = True
