"""What Whence records of service level objectives, as OpenLineage facets of registry datasets: what was declared, and
what changed. Each declaration and each transition has a dataset of its own, so that none replaces another.

States are those of an evaluation (`govern/slos/evaluation/states.py`), and `ended` for an objective that was ended.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from whence.model.catalog import RegistryKind
from whence.model.ids import netstrings
from whence.model.names import DatasetName

SLO, SLO_TRANSITION = "whence_slo", "whence_sloTransition"
"""The facets' keys."""

StateText = Literal["holds", "violated", "learning", "not evaluated", "suppressed", "ended"]
NotifyText = Literal["page", "ticket"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationRecord:
    """An objective from the time of its event on. `dataset`: a node id; `text`: the objective alone, as JSON of the
    form of `slos.yaml`; empty if it was ended, or for a reader who may not see everything.
    """

    service: str
    name: str
    dataset: str
    text: str = ""
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionRecord:
    """A change of an objective's state at the time of its event. `slo`: the id of the objective (`slo_id`).

    `notify`: how urgent the most urgent open alert is, None without one. `version`: of the declaration; `previous`:
    the id of the transition before this one, empty for the first.
    """

    slo: str
    service: str
    name: str
    dataset: str
    before: StateText
    after: StateText
    notify_before: NotifyText | None = None
    notify: NotifyText | None = None
    reason: str = ""
    run: str | None = None
    version: str = ""
    previous: str = ""


def slo_id(namespace: str, service: str, name: str) -> str:
    """The id of an objective: who may write in one namespace cannot change an objective of another."""
    return _digest(namespace, service, name)


def version_of(text: str) -> str:
    """The version of an objective: a hash of its text."""
    return _digest(text)


def declaration_dataset(namespace: str, record: DeclarationRecord, at: int) -> DatasetName:
    """The registry dataset of a declaration at a time (µs). `namespace`: of the objective's dataset."""
    id_ = slo_id(namespace, record.service, record.name)
    return RegistryKind.SLO.dataset_of(f"{id_}/{_digest(str(at), record.text)}/{namespace}")


def transition_id(record: TransitionRecord) -> str:
    """The id of a transition. Whoever finds the same change after the same transition gives it the same id."""
    return _digest(record.slo, record.previous, record.after, record.notify or "")


def transition_dataset(namespace: str, record: TransitionRecord) -> DatasetName:
    """The registry dataset of a transition. `namespace`: of the objective's dataset."""
    return RegistryKind.SLO_TRANSITION.dataset_of(f"{record.slo}/{transition_id(record)}/{namespace}")


def _digest(*parts: str) -> str:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
