"""The fold of an owner's statements: the lineage sets that hold after each (state.md, "Statements"). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain

from whence.model.events import RunState
from whence.model.ids import EMPTY_VERSION, drop_statement_id, ending_statement_id, version_id
from whence.model.lineage import Level, Origin


class Aspect(IntEnum):
    """The history of an owner that a statement belongs to."""

    OBSERVED = 0
    READ = 1
    DECLARED = 2


@dataclass(frozen=True, slots=True)
class HeldSet:
    """The properties of a lineage set that the fold needs. output_id 0: none."""

    id: int
    output_id: int
    level: str
    origin: str


Version = tuple[HeldSet, ...]
"""The sets that hold at one time, by id."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a history: a job or dataset, and an aspect of it."""

    id: int
    aspect: Aspect


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One assertion about an owner's lineage, at a time in microseconds UTC. `own` is a version id."""

    id: int
    owner: Owner
    at: int
    confirmed: bool
    own: int


@dataclass(frozen=True, slots=True)
class Drop:
    """The drop of a dataset by a run or event. `marker` is the set of origin `dropped` that asserts it."""

    statement_id: int
    marker: HeldSet
    at: int


@dataclass(frozen=True, slots=True)
class Held:
    """What holds after a statement: a version id, and whether any confirmed statement was seen."""

    version: int = EMPTY_VERSION
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The columns of a run that determine its statement."""

    id: int
    job_id: int
    state: RunState
    state_at: int
    seen_from: int
    streaming: bool


def version_of(version: Version) -> int:
    """The content address of a version."""
    return version_id(held.id for held in version)


def combine_versions(reported: Iterable[Version]) -> Version:
    """The sets that the events of a run assert together."""
    return _best_origins(map(without_drops, reported))


def run_statement(run: RunFacts, sets: Version) -> Statement:
    """The statement of a run that asserts some sets (`combine_versions`)."""
    writes = any(held.output_id for held in sets)
    ended = run.state is RunState.COMPLETE
    alive = run.streaming and run.state in (RunState.START, RunState.RUNNING)
    return Statement(
        id=run.id,
        owner=Owner(run.job_id, Aspect.OBSERVED if writes else Aspect.READ),
        at=run.state_at if ended and not run.streaming else run.seen_from,
        confirmed=ended or alive,
        own=version_of(sets),
    )


def declared_statements(event_id: int, owner_id: int, at: int, sets: Version) -> Iterator[tuple[Statement, Version]]:
    """The statement of an event that declares lineage."""
    owner = Owner(owner_id, Aspect.DECLARED)
    own = without_drops(sets)
    yield Statement(id=event_id, owner=owner, at=at, confirmed=True, own=version_of(own)), own


def ending_statements(event_id: int, job_id: int, at: int) -> Iterator[tuple[Statement, Version]]:
    """The statements of an event that decommissions a job: from then on none of the job's lineage holds."""
    for aspect in Aspect:
        id_ = event_id if aspect is Aspect.DECLARED else ending_statement_id(event_id, aspect.name.lower())
        yield Statement(id=id_, owner=Owner(job_id, aspect), at=at, confirmed=True, own=EMPTY_VERSION), ()


def drop_statements(drop: Drop, owner_id: int) -> Iterator[tuple[Statement, Version]]:
    """The statements with which a dropped dataset ends the sets that an owner wrote into it."""
    own = (drop.marker,)
    for aspect in (Aspect.OBSERVED, Aspect.DECLARED):
        id_ = drop_statement_id(drop.statement_id, drop.marker.output_id, owner_id, aspect.name.lower())
        owner = Owner(owner_id, aspect)
        yield Statement(id=id_, owner=owner, at=drop.at, confirmed=True, own=version_of(own)), own


def without_drops(sets: Iterable[HeldSet]) -> Version:
    """The sets without those that only end others."""
    return tuple(held for held in sets if held.origin != Origin.DROPPED)


def apply_statement(before: Held, statement: Statement, versions: Mapping[int, Version]) -> tuple[Held, Version]:
    """One step of the fold: what holds after a statement."""
    if dropped := {held.output_id for held in versions[statement.own] if held.origin == Origin.DROPPED}:
        left = tuple(held for held in versions[before.version] if held.output_id not in dropped)
        return Held(version_of(left), before.confirmed), left
    if before.confirmed and not statement.confirmed:
        return before, versions[before.version]
    own = versions[statement.own]
    kept = versions[before.version] if own else ()
    after = own if statement.owner.aspect is not Aspect.OBSERVED else _keep_fields(kept, own)
    after = _keep_renames(kept, after)
    return Held(version_of(after), statement.confirmed), after


def history_changes(before: Held, held: Sequence[tuple[int, int, Held]]) -> Iterator[tuple[int, int, Held]]:
    """The places of a history where the held version changes: (at, statement id, held), the last one of each time."""
    last = before
    for place, (at, statement_id, now) in enumerate(held):
        if place + 1 < len(held) and held[place + 1][0] == at:
            continue
        if now != last:
            yield at, statement_id, now
        last = now


def _best_origins(reported: Iterable[Version]) -> Version:
    """The sets without parsed and inferred ones for outputs that another event of the run reports."""
    versions = list(reported)
    better = {held.output_id for held in chain(*versions) if held.origin in _REPORTED}
    explained = {output for version in versions for output in _explained_whole(version)}
    kept = {
        held
        for version in versions
        for held in _without_worse_guesses(version, better)
        if not (_is_incomplete_output(held) and held.output_id in explained)
    }
    return tuple(sorted(kept, key=lambda held: held.id))


def _without_worse_guesses(sets: Version, better: AbstractSet[int]) -> Iterator[HeldSet]:
    """Yield the sets of one event, without its guesses for outputs that others report. SQL completes a report beside
    it.
    """
    own = {held.output_id for held in sets if held.origin in _REPORTED}
    for held in sets:
        is_worse = held.origin in _GUESSED and held.output_id in better - own
        if not is_worse and not (held.origin == Origin.INFERRED and held.output_id in better):
            yield held


def _explained_whole(sets: Version) -> Iterator[int]:
    """The outputs of which one event has lineage, and does not report that there is more."""
    incomplete = {held.output_id for held in sets if _is_incomplete_output(held)}
    for held in sets:
        if held.output_id and held.origin in _EXPLAINING and held.output_id not in incomplete:
            yield held.output_id


def _is_incomplete_output(held: HeldSet) -> bool:
    """Whether the set states that the sources of a whole output are not known."""
    return held.origin == Origin.INCOMPLETE and held.level == Level.DATASET


_REPORTED = (Origin.EXPLICIT, Origin.COLUMN)
_EXPLAINING = (*_REPORTED, Origin.PARSED, Origin.INFERRED)
_GUESSED = (Origin.PARSED, Origin.INFERRED, Origin.UNREPORTED)


def _keep_fields(before: Version, own: Version) -> Version:
    """Keep known field lineage when a run writes an output without it (rule 46); parsed lineage alone never replaces
    reported columns. What the run reports as incomplete always holds; what an earlier one did, beside its columns.
    """
    outputs = {held.output_id for held in own if held.output_id}
    reported = _reported(before) - _reported(own)
    stays = [held for held in own if held.origin == Origin.INCOMPLETE or not _is_column_set(held, reported)]
    missing = (outputs & _fine_outputs(before)) - _fine_outputs(stays)
    kept = [held for held in before if held.level == Level.FIELD and held.output_id in missing]
    return tuple(sorted({*stays, *kept}, key=lambda held: held.id))


def _is_column_set(held: HeldSet, outputs: AbstractSet[int]) -> bool:
    return held.level == Level.FIELD and held.output_id in outputs


def _fine_outputs(version: Iterable[HeldSet]) -> set[int]:
    """The outputs with column lineage."""
    fine = (held for held in version if held.level == Level.FIELD)
    return {held.output_id for held in fine if held.origin != Origin.INCOMPLETE}


def _keep_renames(before: Version, after: Version) -> Version:
    """Keep renames: a rename remains one, whatever the same job renames next."""
    renames = {held for held in before if held.origin == Origin.RENAMED}
    return after if renames <= set(after) else tuple(sorted({*after, *renames}, key=lambda held: held.id))


def _reported(version: Version) -> set[int]:
    """The outputs with columns that a producer reports."""
    return {held.output_id for held in version if held.level == Level.FIELD and held.origin in _REPORTED}
