"""Reviewing a new version of a contract: the class of each change by its real readers, and what the version needs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum

from whence.govern.contracts.changes import ContractChange, Kind, Side
from whence.govern.contracts.compare import compare_contracts
from whence.govern.contracts.consumers import FindObjectives, Stricter, find_stricter, has_objectives
from whence.govern.contracts.contract import Contract
from whence.govern.contracts.versions import Step, has_heading, step_between
from whence.govern.gate.policy import Verdict
from whence.model.names import Node
from whence.query.lookup.contracts import parse_day


class Class(StrEnum):
    """What a change of a contract means (act.md 3.2; docs/reference/contracts.md)."""

    BREAKING = "breaking"
    UNUSED = "unused"
    """It would break readers, and there are none."""
    CONSUMERS = "breaking for consumers"
    """It promises less than a consumer's own objective needs."""
    PRODUCERS = "breaking for producers"
    SERVICE = "promises less"
    TIMED = "timed"
    OWNERSHIP = "ownership"
    COMPATIBLE = "compatible"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractReader:
    """A job that reads what changes, into what, and who owns that. `last_seen`: when it last said so (µs)."""

    job: Node
    target: Node
    owners: tuple[str, ...] = ()
    last_seen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who reads what changes, of late. `unknown`: why there may be more; empty: that is all."""

    found: tuple[ContractReader, ...] = ()
    unknown: str = ""

    @property
    def are_none(self) -> bool:
        """Whether nobody reads it, and that is sure."""
        return not self.found and not self.unknown


MODEL_VERSION = "what breaks readers needs a new version of the model, in its `versions`, beside this one"
"""What a contract of dbt needs in place of a major version."""

UNREAD = Readers(unknown="production was not asked")

FindReaders = Callable[[ContractChange], Readers]
"""Finds the readers of what changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedChange:
    """A change with its class, its readers if they matter, and the step between versions that it needs.

    `stricter`: the objectives of consumers that it does not cover; `objectives_unknown`: why there may be more;
    `approvers`: who must approve.
    """

    change: ContractChange
    class_: Class
    step: Step
    readers: Readers = Readers()
    verdict: Verdict = Verdict.NOTE
    reason: str = ""
    stricter: tuple[Stricter, ...] = ()
    objectives_unknown: str = ""
    approvers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What is to be done about a new version. `missing`: what blocks it; `approvers`: who must approve; `notified`:
    the owners of readers and of their objectives, who are to know.
    """

    old: Contract
    new: Contract
    verdict: Verdict
    changes: tuple[ReviewedChange, ...]
    step: Step
    missing: tuple[str, ...] = ()
    has_note: bool = False
    approvers: tuple[str, ...] = ()
    notified: tuple[str, ...] = ()


def review_contract(
    old: Contract,
    new: Contract,
    find_readers: FindReaders,
    find_objectives: FindObjectives,
    *,
    note: str | None,
    now: int,
) -> Review:
    """Review a new version of a contract. `note`: the text of its migration note, if there is one; `now`: µs UTC."""
    consumers = _Consumers(find_readers, find_objectives, now)
    owners = old.owners or new.owners
    changes = tuple(_review(one, new, owners, consumers) for one in compare_contracts(old, new))
    step = _needed_step(new, changes)
    missing = (*_missing_version(old, new, step), *_missing_note(new, changes, note))
    verdict = max((one.verdict for one in changes), default=Verdict.PASS)
    return Review(
        old=old,
        new=new,
        verdict=Verdict.BLOCKED if missing else verdict,
        changes=tuple(sorted(changes, key=lambda one: (-one.verdict, -one.step, one.change.subject, one.change.kind))),
        step=step,
        missing=missing,
        has_note=note is not None and has_heading(note, new.version),
        approvers=tuple(dict.fromkeys(owner for one in changes for owner in one.approvers)),
        notified=tuple(sorted({owner for one in changes for owner in _notified(one)})),
    )


@dataclass(frozen=True, slots=True)
class _Consumers:
    """Who reads what changes, and which objectives they have, at a time (µs)."""

    find_readers: FindReaders
    find_objectives: FindObjectives
    now: int

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.now / 1_000_000, UTC).date()


def _notified(one: ReviewedChange) -> Iterator[str]:
    yield from (owner for reader in one.readers.found for owner in reader.owners)
    yield from (owner for stricter in one.stricter for owner in stricter.objective.whose)


def _review(change: ContractChange, new: Contract, owners: tuple[str, ...], consumers: _Consumers) -> ReviewedChange:
    match change.kind.side:
        case Side.READERS:
            readers = consumers.find_readers(change)
            if readers.are_none:
                return ReviewedChange(change=change, class_=Class.UNUSED, step=Step.MINOR, readers=readers)
            return ReviewedChange(
                change=change,
                class_=Class.BREAKING,
                step=Step.MAJOR,
                readers=readers,
                verdict=Verdict.APPROVAL_NEEDED,
                approvers=owners,
            )
        case Side.PRODUCERS:
            reason = "a run has to hold it before it can be relied on"
            return ReviewedChange(change=change, class_=Class.PRODUCERS, step=Step.MINOR, reason=reason)
        case Side.SERVICE:
            return _review_service(change, owners, consumers)
        case Side.LIFECYCLE:
            return _review_end(change, new, consumers)
        case Side.OWNERSHIP:
            return _review_owner(change, new, owners)
        case Side.ADDITION:
            return ReviewedChange(change=change, class_=Class.COMPATIBLE, step=Step.MINOR)
        case Side.METADATA:
            return ReviewedChange(change=change, class_=Class.METADATA, step=Step.PATCH)


def _review_service(change: ContractChange, owners: tuple[str, ...], consumers: _Consumers) -> ReviewedChange:
    """What promises less breaks consumers whose objectives are stricter, and may break those that are not known."""
    readers = consumers.find_readers(change)
    one = ReviewedChange(change=change, class_=Class.SERVICE, step=Step.MINOR, readers=readers)
    if not has_objectives(change):
        return one
    objectives = consumers.find_objectives(change)
    stricter = tuple(find_stricter(change, objectives, consumers.now))
    if not stricter and not objectives.unknown:
        return one
    return replace(
        one,
        class_=Class.CONSUMERS,
        verdict=Verdict.APPROVAL_NEEDED,
        stricter=stricter,
        objectives_unknown=objectives.unknown,
        approvers=tuple(dict.fromkeys(owner for some in stricter for owner in some.objective.whose)) or owners,
    )


def _review_end(change: ContractChange, new: Contract, consumers: _Consumers) -> ReviewedChange:
    """A contract that is deprecated needs a day that is still to come; one that is retired, no readers."""
    readers, today = consumers.find_readers(change), consumers.today
    end, reason = parse_day(new.ends), ""
    if change.kind is Kind.RETIRED and not readers.are_none:
        is_over = end is not None and end <= today
        reason = f"it still has readers{' after its last day' if is_over else ''}"
    elif change.kind is Kind.DEPRECATED and end is None:
        reason = "state its last day as `endOfLife` in slaProperties"
    elif change.kind is Kind.DEPRECATED and end is not None and end <= today and not readers.are_none:
        reason = f"its last day {end} is over"
    verdict = Verdict.BLOCKED if reason else Verdict.NOTE
    return ReviewedChange(
        change=change, class_=Class.TIMED, step=Step.MINOR, readers=readers, verdict=verdict, reason=reason
    )


def _review_owner(change: ContractChange, new: Contract, owners: tuple[str, ...]) -> ReviewedChange:
    if change.kind is Kind.OWNER_LEFT:
        where = "meta.owner" if new.is_of_dbt else "its team"
        reason = f"a contract without an owner promises nothing; name one in {where}"
        return ReviewedChange(
            change=change, class_=Class.OWNERSHIP, step=Step.PATCH, verdict=Verdict.BLOCKED, reason=reason
        )
    return ReviewedChange(
        change=change,
        class_=Class.OWNERSHIP,
        step=Step.PATCH,
        verdict=Verdict.APPROVAL_NEEDED,
        approvers=owners,
    )


def _needed_step(new: Contract, changes: Sequence[ReviewedChange]) -> Step:
    """The step that all changes need. A contract of dbt has no number to raise for what breaks nobody."""
    step = max((one.step for one in changes), default=Step.NONE)
    return Step.NONE if new.is_of_dbt and step < Step.MAJOR else step


def _missing_version(old: Contract, new: Contract, needed: Step) -> Iterator[str]:
    if new.is_of_dbt:
        if needed > Step.NONE:
            yield MODEL_VERSION
        return
    taken = step_between(old.version, new.version)
    if taken is None:
        yield f"the version {new.version} does not follow {old.version}: write MAJOR.MINOR.PATCH, and never go back"
    elif taken < needed:
        yield f"{needed.text} is needed; {old.version} became {new.version}"


def _missing_note(new: Contract, changes: Sequence[ReviewedChange], note: str | None) -> Iterator[str]:
    if new.is_of_dbt or not any(one.class_ is Class.BREAKING for one in changes):
        return
    name = new.migration_note or "MIGRATION.md"
    if note is None:
        yield f"a migration note is needed: a file {name} with a heading for {new.version}"
    elif not has_heading(note, new.version):
        yield f"the migration note {name} has no heading for {new.version}"
