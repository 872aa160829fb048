"""What Whence records of declared rules: how what they say of a dataset changes. Each transition has a registry dataset
of its own, so that none replaces another.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from whence.model.catalog import RegistryKind
from whence.model.ids import netstrings
from whence.model.names import DatasetName

RULE_TRANSITION = "whence_ruleTransition"
"""The facet's key."""

RuleKindText = Literal["policy", "certification", "lineage"]
RuleStateText = Literal["", "ok", "violated", "ended", "certified", "not certified", "no rule", "not evaluated"]
"""Of a policy: ok, violated, not evaluated, or ended; of certification what its rules say together; of the lineage that
was accepted: violated if it differs, and as of a policy otherwise. Empty: before the first transition.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTransitionRecord:
    """A change of what a policy, all rules of certification together, or a lineage baseline say of a dataset, at the
    time of its event.

    `rule`: the name of the policy. `columns`: those of which it does not hold. `blocks`: it is violated, or not
    evaluated on a way to a certified dataset. `previous`: the id of the transition before, empty for the first.
    """

    rule_kind: RuleKindText
    rule: str = ""
    dataset: str
    before: RuleStateText = ""
    after: RuleStateText
    columns: tuple[str, ...] = ()
    blocks: bool = False
    reason: str = ""
    previous: str = ""

    @property
    def subject(self) -> str:
        """The id of the rule and the dataset."""
        return _digest(self.rule_kind, self.rule, self.dataset)


def rule_transition_id(record: RuleTransitionRecord) -> str:
    """The id of a transition. Whoever finds the same change after the same transition gives it the same id."""
    return _digest(record.subject, record.previous, record.after)


def rule_transition_dataset(namespace: str, record: RuleTransitionRecord) -> DatasetName:
    """The registry dataset of a transition. `namespace`: of the dataset."""
    return RegistryKind.RULE_TRANSITION.dataset_of(f"{record.subject}/{rule_transition_id(record)}/{namespace}")


def _digest(*parts: str) -> str:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
