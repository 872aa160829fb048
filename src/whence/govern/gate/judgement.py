"""What a gate says: values. Texts here are the gate's own words; names are beside them, for a renderer to escape."""

from dataclasses import dataclass

from whence.govern.gate.impact import Impact
from whence.govern.gate.policy import Verdict, Waiver
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import Node

NOBODY = ""
"""The owner of what nobody owns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A person's approval of one commit."""

    person: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What is judged: a commit, who wrote it, and where it left the branch that it is to join.

    `reviewed`: the commit that people approve, if `commit` is what the forge made of it for its queue; else empty.
    """

    commit: str = ""
    base: str = ""
    authors: frozenset[str] = frozenset()
    reviewed: str = ""

    def is_approved_by(self, approval: Approval) -> bool:
        """Whether an approval is of this head, and not of an earlier one."""
        return bool(self.commit) and approval.commit in (self.commit, self.reviewed or self.commit)

    def is_author(self, person: str) -> bool:
        """Whether a person wrote it, by the name at a forge, in Git, or as a user of Whence (`user:…`)."""
        names = {person.casefold(), person.casefold().removeprefix("user:")}
        return not names.isdisjoint(one.casefold() for one in self.authors)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a change has its verdict. `nodes`: what the text is about; `owners`: who must approve, if that is needed."""

    rule: str
    text: str
    verdict: Verdict
    nodes: tuple[Node, ...] = ()
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """A change with its verdict. `id` stays the same for the same change, so a waiver can name it."""

    id: str
    change: ColumnChange
    impact: Impact
    verdict: Verdict
    reasons: tuple[Reason, ...]
    waiver: Waiver | None = None

    @property
    def is_unconfirmed_pass(self) -> bool:
        """Whether it passes because executing both versions showed no difference."""
        return self.verdict is Verdict.PASS and self.change.kind is ChangeKind.NOT_CONFIRMED


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredApproval:
    """An owner whose approval is needed (empty: nobody owns it), for which changes, by whom, and who gave it."""

    owner: str
    changes: tuple[str, ...]
    people: tuple[str, ...]
    approved_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """The changed files of pipeline code that nothing judged, and what the rules make of that.

    `needs_approval`: of whoever may approve what nobody owns; `verdict` is what is left after it.
    """

    files: tuple[str, ...] = ()
    verdict: Verdict = Verdict.PASS
    needs_approval: bool = False


ALL_JUDGED = Unjudged()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on a head, with everything that it follows from.

    `stale`: approvals of another commit. `lapsed`: waivers that would fit, and are expired. `skipped`: changes in files
    that the rules leave out. `graph_version`: the state of the production graph.
    """

    verdict: Verdict
    head: Head
    changes: tuple[JudgedChange, ...]
    required: tuple[RequiredApproval, ...] = ()
    stale: tuple[Approval, ...] = ()
    lapsed: tuple[Waiver, ...] = ()
    skipped: int = 0
    unjudged: Unjudged = ALL_JUDGED
    graph_version: str = ""
    notices: tuple[str, ...] = ()
