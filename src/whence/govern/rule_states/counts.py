"""How many datasets rules say something of, as one viewer may read it. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import TypedDict

from whence.govern.rule_states.documents import CurrentState
from whence.model.access import Action, Viewer
from whence.query.answers.instants import iso


class PolicyCounts(TypedDict):
    """Policies that are declared, and pairs of one and a dataset. `blocking`: those that block a gate. `since`: of the
    oldest violation.
    """

    declared: int
    violated: int
    blocking: int
    not_evaluated: int
    since: str | None


class CertificationCounts(TypedDict):
    """Datasets by what the rules of certification say of them. `lapsed`: they were certified before."""

    certified: int
    lapsed: int
    not_certified: int
    not_evaluated: int


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """The counts of visible datasets, and how many open states of other datasets there are."""

    policies: PolicyCounts
    certification: CertificationCounts
    hidden: int


def count_states(states: Iterable[CurrentState], viewer: Viewer, policies_in: Iterable[str] = ()) -> RuleCounts:
    """Count states: an open one says that something is not as it should be. `policies_in`: the namespace of each
    declared policy.
    """
    policies, certification, hidden, since = Counter[str](), Counter[str](), 0, None
    for one in states:
        record = one.last.record
        if not viewer.can_see(one.last.dataset):
            hidden += record.after in ("violated", "not certified", "not evaluated")
        elif record.rule_kind == "certification":
            certification[record.after] += 1
            certification["lapsed"] += one.has_lapsed
        else:
            policies[record.after] += 1
            policies["blocks"] += record.blocks and record.after in ("violated", "not evaluated")
            if record.after == "violated":
                since = one.last.time if since is None else min(since, one.last.time)
    return RuleCounts(
        policies={
            "declared": sum(viewer.is_allowed(Action.READ, one) for one in policies_in),
            "violated": policies["violated"],
            "blocking": policies["blocks"],
            "not_evaluated": policies["not evaluated"],
            "since": None if since is None else iso(since),
        },
        certification={
            "certified": certification["certified"],
            "lapsed": certification["lapsed"],
            "not_certified": certification["not certified"],
            "not_evaluated": certification["not evaluated"],
        },
        hidden=hidden,
    )
