"""What declared rules say of datasets, as JSON, and as one viewer may read it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from whence.govern.rule_states.records import RuleTransition
from whence.model.access import Viewer
from whence.query.answers.instants import iso


class RuleStateRow(TypedDict):
    """What a policy (`rule`), or certification, says of a dataset (`node`) since a time. `blocks`: it is violated, or
    not evaluated on a way to a certified dataset. `lapsed`: it was certified before. `columns` and `reason` are for
    callers who may see everything. `owners`: those of the dataset.
    """

    kind: str
    rule: str | None
    node: str
    state: str
    since: str
    blocks: bool
    lapsed: bool
    owners: list[str]
    columns: list[str]
    reason: str | None


@dataclass(frozen=True, slots=True)
class CurrentState:
    """The last transition of a rule about a dataset, and whether it certified the dataset before."""

    last: RuleTransition
    was_certified: bool

    @property
    def order(self) -> tuple[int, str]:
        """The order of lists: the latest first."""
        return -self.last.time, self.last.id

    @property
    def has_lapsed(self) -> bool:
        """Whether the dataset was certified, and is not any more."""
        return self.was_certified and self.last.record.after in ("not certified", "not evaluated")


def current_states(transitions: Iterable[RuleTransition]) -> Sequence[CurrentState]:
    """The states after transitions in order, the latest first."""
    found: dict[str, CurrentState] = {}
    for one in transitions:
        before = found.get(one.record.subject)
        was_certified = before is not None and (before.was_certified or before.last.record.after == "certified")
        found[one.record.subject] = CurrentState(one, was_certified)
    return sorted(found.values(), key=lambda one: one.order)


def visible_states(states: Iterable[CurrentState], viewer: Viewer) -> Iterator[CurrentState]:
    """Those of datasets that the viewer may see."""
    return (one for one in states if viewer.can_see(one.last.dataset))


def state_row(one: CurrentState, viewer: Viewer, owners: Collection[str] = ()) -> RuleStateRow:
    """A state of a visible dataset."""
    record, is_whole = one.last.record, viewer.can_see_all
    return {
        "kind": record.rule_kind,
        "rule": record.rule or None,
        "node": record.dataset,
        "state": record.after,
        "since": iso(one.last.time),
        "blocks": record.blocks,
        "lapsed": one.has_lapsed,
        "owners": sorted(owners),
        "columns": list(record.columns) if is_whole else [],
        "reason": (record.reason or None) if is_whole else None,
    }
