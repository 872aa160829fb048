"""Recorded transitions of incidents, as those in a store."""

from dataclasses import replace

from govern.notifications.notices import MINUTE, NOW
from whence.govern.incidents.records import IncidentTransition
from whence.model.names import DatasetName
from whence.model.records.incidents import IncidentStateText, IncidentTransitionRecord, incident_transition_id
from whence.model.slo_records import NotifyText

STATES: tuple[IncidentStateText, ...] = ("open", "acknowledged", "resolved")


def history(
    number: int,
    states: tuple[IncidentStateText, ...] = STATES,
    notify: NotifyText | None = "page",
    start: int = NOW,
    into: str = "",
) -> list[IncidentTransition]:
    """The transitions of one incident, a minute apart."""
    root = DatasetName("postgres://prod", f"shop.orders_{number}\x1b<!channel>")
    blank = IncidentTransitionRecord(
        incident=f"{number:016x}", dataset=str(root), finding="f", after="open", since=start, notify=notify
    )
    made: list[IncidentTransition] = []
    for index, state in enumerate(states):
        over = state in ("resolved", "merged")
        record = replace(
            blank,
            before=made[-1].record.after if made else "",
            after=state,
            notify=None if over else notify,
            into=into if state == "merged" else "",
            previous=made[-1].id if made else "",
        )
        made.append(IncidentTransition(id=incident_transition_id(record), time=start + index * MINUTE, record=record))
    return made
