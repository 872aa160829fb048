"""When the log received the first recorded transition of each incident: then it was detected."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection

from whence.govern.incidents.records import IncidentTransition
from whence.log import Log, Position
from whence.model.ids import node_id
from whence.model.names import DatasetName, parse_node
from whence.model.records.incidents import incident_transition_dataset
from whence.store.catalog.first_positions import read_first_positions


def read_detections(
    connection: Connection, log: Log | None, transitions: Iterable[IncidentTransition]
) -> Mapping[str, int]:
    """The times (µs) by the id of the incident. Those of which the log has dropped the record, or of which there is no
    log, are left out. Raises LogError.
    """
    first: dict[str, IncidentTransition] = {}
    for one in transitions:
        first.setdefault(one.record.incident, one)
    subjects = {id_: node_id(_dataset_of(one)) for id_, one in first.items()}
    positions = read_first_positions(connection, subjects.values())
    known = [(id_, positions[subject]) for id_, subject in subjects.items() if subject in positions]
    if log is None or not known:
        return {}
    records = log.read_records([Position.from_int(position) for _, position in known])
    return {id_: record.received_at for (id_, _), record in zip(known, records, strict=True) if record is not None}


def _dataset_of(one: IncidentTransition) -> DatasetName:
    root = parse_node(one.record.dataset)
    assert isinstance(root, DatasetName)  # as `list_incident_transitions` checks
    return incident_transition_dataset(root.namespace, one.record)
