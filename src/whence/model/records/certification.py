"""What Whence records of certification, as OpenLineage facets of registry datasets: which rules were declared, and
which datasets became certified, or no longer are. Each has a registry dataset of its own: none replaces another.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from whence.model.catalog import RegistryKind
from whence.model.ids import netstrings
from whence.model.names import DatasetName

CERTIFICATION_RULE, CERTIFICATION_TRANSITION = "whence_certificationRule", "whence_certificationTransition"
"""The facets' keys."""

CertificationText = Literal["certified", "not certified", "not evaluated", "no rule"]
RequirementText = Literal["owner", "contract", "lineage", "objectives", "checks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRecord:
    """A rule of one namespace from the time of its event on. `text`: the rule alone, as JSON of the form of
    `certification.yaml`; empty if it was ended.
    """

    name: str
    text: str = ""
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificationTransitionRecord:
    """A change of a dataset's certification at the time of its event. `dataset`: a node id; `unmet`: the requirements
    that are not met; `unknown`: those of which that is not known; `previous`: the id of the transition before this one,
    empty for the first.
    """

    dataset: str
    before: CertificationText
    after: CertificationText
    unmet: tuple[RequirementText, ...] = ()
    unknown: tuple[RequirementText, ...] = ()
    previous: str = ""


def rule_id(namespace: str, name: str) -> str:
    """The id of a rule: who may write in one namespace cannot change a rule of another."""
    return _digest(namespace, name)


def rule_version(text: str) -> str:
    """The version of a rule: a hash of its text."""
    return _digest(text)


def rule_dataset(namespace: str, record: RuleRecord, at: int) -> DatasetName:
    """The registry dataset of a declaration at a time (µs)."""
    name = f"{rule_id(namespace, record.name)}/{_digest(str(at), record.text)}/{namespace}"
    return RegistryKind.CERTIFICATION_RULE.dataset_of(name)


def certification_transition_id(record: CertificationTransitionRecord) -> str:
    """The id of a transition. Whoever finds the same change after the same transition gives it the same id."""
    return _digest(record.dataset, record.previous, record.after)


def certification_transition_dataset(namespace: str, record: CertificationTransitionRecord) -> DatasetName:
    """The registry dataset of a transition. `namespace`: of the dataset that it is about."""
    name = f"{_digest(record.dataset)}/{certification_transition_id(record)}/{namespace}"
    return RegistryKind.CERTIFICATION_TRANSITION.dataset_of(name)


def _digest(*parts: str) -> str:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
