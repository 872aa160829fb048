"""What Whence records of notifications, as a facet of a registry dataset of its own: that a receiver has one."""

from dataclasses import dataclass

from whence.model.catalog import RegistryKind
from whence.model.names import DatasetName

NOTIFICATION = "whence_notification"
"""The facet's key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRecord:
    """A receiver accepted the notification of a transition of an incident, at the time of its event.

    `dataset`: the root, a node id; `act`: the id of the notification; `thread`: of all those of the incident for the
    receiver; `reference`: what later ones refer to, such as the number of an issue.
    """

    incident: str
    dataset: str
    transition: str
    receiver: str
    act: str
    thread: str
    reference: str = ""
    attempts: int = 1


def receipt_dataset(namespace: str, record: ReceiptRecord) -> DatasetName:
    """The registry dataset of a receipt. `namespace`: of the incident's root."""
    return RegistryKind.NOTIFICATION.dataset_of(f"{record.incident}/{record.act}/{namespace}")
