"""The rules that were declared (of certification, and policies), as OpenLineage facets of registry datasets. Each
declaration has a registry dataset of its own, so that none replaces another.
"""

from dataclasses import dataclass
from hashlib import sha256

from whence.model.catalog import RegistryKind
from whence.model.ids import netstrings
from whence.model.names import DatasetName

CERTIFICATION_RULE, POLICY = "whence_certificationRule", "whence_policy"
"""The facets' keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRecord:
    """A rule of one namespace from the time of its event on. `text`: the rule alone, as JSON of the form of its file;
    empty if it was ended, or for a reader who may not see everything.
    """

    name: str
    text: str = ""
    ended: bool = False


def rule_id(namespace: str, name: str) -> str:
    """The id of a rule: who may write in one namespace cannot change a rule of another."""
    return _digest(namespace, name)


def rule_version(text: str) -> str:
    """The version of a rule: a hash of its text."""
    return _digest(text)


def rule_dataset(kind: RegistryKind, namespace: str, record: RuleRecord, at: int) -> DatasetName:
    """The registry dataset of a declaration at a time (µs)."""
    return kind.dataset_of(f"{rule_id(namespace, record.name)}/{_digest(str(at), record.text)}/{namespace}")


def _digest(*parts: str) -> str:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
