"""What is recorded of notifications: that a receiver accepted one, as an OpenLineage event and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from whence.govern.assertions import assert_facets
from whence.govern.gate.impact import subject_of
from whence.govern.notifications.messages import Message
from whence.govern.notifications.notice import Act, digest
from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind, namespace_of_registered
from whence.model.names import DatasetName, parse_node
from whence.model.records.notifications import NOTIFICATION, ReceiptRecord, receipt_dataset
from whence.openlineage.write import PRODUCER, own_facet
from whence.query.ports.catalog import Catalog
from whence.query.visibility.notification_records import read_receipt_record

Json = dict[str, Any]
_OWN = PRODUCER.partition("/tree/")[0] + "/tree/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts:
    """What receivers have: the ids of acts, and what each thread refers to."""

    acts: frozenset[str] = frozenset()
    references: Mapping[str, str]

    def has(self, act: Act | Message) -> bool:
        """Whether a receiver has a notification."""
        return act.id in self.acts

    def knows(self, act: Act) -> bool:
        """Whether a receiver has any notification of the incident."""
        return act.thread in self.references


def receipts_of(records: Iterable[ReceiptRecord]) -> Receipts:
    """The receipts, in order of time: of a thread the first reference counts."""
    acts, references = set[str](), dict[str, str]()
    for one in records:
        acts.add(one.act)
        references[one.thread] = references.get(one.thread) or one.reference
    return Receipts(acts=frozenset(acts), references=references)


def receipt_of(act: Act | Message, reference: str, attempts: int) -> ReceiptRecord:
    """The receipt of an act, or of a message, which is its own incident and transition."""
    match act:
        case Act(notice=notice):
            incident, dataset, transition = notice.incident, str(notice.root), notice.transition
        case Message():
            incident, dataset, transition = digest(act.key), str(act.about), act.key
    return ReceiptRecord(
        incident=incident,
        dataset=dataset,
        transition=transition,
        receiver=act.receiver,
        act=act.id,
        thread=act.thread,
        reference=reference,
        attempts=attempts,
    )


def receipt_event(act: Act | Message, record: ReceiptRecord, at: int) -> Json:
    """The event that records a receipt at a time (µs)."""
    members = {name: value for name, value in msgspec.to_builtins(record).items() if value}
    facets = {NOTIFICATION: own_facet("NotificationDatasetFacet", **members)}
    about = act.notice.root if isinstance(act, Act) else act.about
    dataset = receipt_dataset(subject_of(about).namespace, record)
    return assert_facets(dataset, at, PRODUCER, facets)


def list_receipts(catalog: Catalog) -> Sequence[ReceiptRecord]:
    """The receipts, in order of time. Whence alone writes them: what others sent in its form is left out."""
    found = catalog.registered_facets(RegisteredFilter(RegistryKind.NOTIFICATION, NOTIFICATION))
    return [record for one in reversed(found) if (record := _receipt(one))]


def _receipt(one: RegisteredFacet) -> ReceiptRecord | None:
    record, namespace = read_receipt_record(one.payload), namespace_of_registered(one.name)
    root = parse_node(record.dataset) if record else None
    # The producer ends with the release, and another one may have sent it.
    is_own = one.producer.startswith(_OWN) and isinstance(root, DatasetName) and root.namespace == namespace
    return record if is_own else None
