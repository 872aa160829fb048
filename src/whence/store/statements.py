"""The fold of an owner's statements: which lineage sets hold after each (docs/state.md, "Statements"). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain

from whence.model.events import RunState
from whence.model.ids import NOTHING, dropping_id, ending_id, version_id
from whence.model.lineage import Level, Origin


class Aspect(IntEnum):
    """Which of an owner's histories a statement belongs to."""

    OBSERVED = 0
    READ = 1
    DECLARED = 2


@dataclass(frozen=True, slots=True)
class HeldSet:
    """What the fold needs to know of a lineage set. output_id 0: none."""

    id: int
    output_id: int
    level: str
    origin: str


Version = tuple[HeldSet, ...]
"""The sets that hold at one time, by id."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose history: a job or dataset, and which aspect of it."""

    id: int
    aspect: Aspect


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One opinion on an owner's lineage, at a time in microseconds UTC. `own` is a version id."""

    id: int
    owner: Owner
    at: int
    confirmed: bool
    own: int


@dataclass(frozen=True, slots=True)
class Drop:
    """That a run or event dropped a dataset. `marker` is the set of origin `dropped` that says so."""

    statement_id: int
    marker: HeldSet
    at: int


@dataclass(frozen=True, slots=True)
class Held:
    """What holds after a statement: a version id, and whether any confirmed statement was seen."""

    version: int = NOTHING
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The columns of a run that decide its statement."""

    id: int
    job_id: int
    state: RunState
    state_at: int
    seen_from: int
    streaming: bool


def version_of(version: Version) -> int:
    """The content address of a version."""
    return version_id(held.id for held in version)


def run_statement(run: RunFacts, said: Iterable[Version]) -> tuple[Statement, Version] | None:
    """The statement that a run makes with the sets that its events said together, or None if they said nothing."""
    sets = _best_origins(map(asserted, said))
    if not sets:
        return None
    writes = any(held.output_id for held in sets)
    ended = run.state is RunState.COMPLETE
    alive = run.streaming and run.state in (RunState.START, RunState.RUNNING)
    statement = Statement(
        id=run.id,
        owner=Owner(run.job_id, Aspect.OBSERVED if writes else Aspect.READ),
        at=run.state_at if ended and not run.streaming else run.seen_from,
        confirmed=ended or alive,
        own=version_of(sets),
    )
    return statement, sets


def declared_statements(event_id: int, owner_id: int, at: int, sets: Version) -> Iterator[tuple[Statement, Version]]:
    """The statement of an event that declares lineage."""
    owner = Owner(owner_id, Aspect.DECLARED)
    own = asserted(sets)
    yield Statement(id=event_id, owner=owner, at=at, confirmed=True, own=version_of(own)), own


def ending_statements(event_id: int, job_id: int, at: int) -> Iterator[tuple[Statement, Version]]:
    """The statements of an event that decommissions a job: from then on nothing holds that the job said."""
    for aspect in Aspect:
        id_ = event_id if aspect is Aspect.DECLARED else ending_id(event_id, aspect.name.lower())
        yield Statement(id=id_, owner=Owner(job_id, aspect), at=at, confirmed=True, own=NOTHING), ()


def drop_statements(drop: Drop, owner_id: int) -> Iterator[tuple[Statement, Version]]:
    """The statements by which a dropped dataset ends the sets that an owner wrote into it."""
    own = (drop.marker,)
    for aspect in (Aspect.OBSERVED, Aspect.DECLARED):
        id_ = dropping_id(drop.statement_id, drop.marker.output_id, owner_id, aspect.name.lower())
        owner = Owner(owner_id, aspect)
        yield Statement(id=id_, owner=owner, at=drop.at, confirmed=True, own=version_of(own)), own


def asserted(said: Iterable[HeldSet]) -> Version:
    """The sets without those that only end others."""
    return tuple(held for held in said if held.origin != Origin.DROPPED)


def hold(before: Held, statement: Statement, versions: Mapping[int, Version]) -> tuple[Held, Version]:
    """One step of the fold."""
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


def changes(before: Held, held: Sequence[tuple[int, int, Held]]) -> Iterator[tuple[int, int, Held]]:
    """The places of a history where what holds changes: (at, statement id, held), the last one of each time."""
    last = before
    for place, (at, statement_id, now) in enumerate(held):
        if place + 1 < len(held) and held[place + 1][0] == at:
            continue
        if now != last:
            yield at, statement_id, now
        last = now


def _best_origins(said: Iterable[Version]) -> Version:
    """Without what was parsed and inferred for outputs for which another event of the run knows better."""
    versions = list(said)
    better = {held.output_id for held in chain(*versions) if held.origin in _REPORTED}
    kept = {held for version in versions for held in _beside(version, better)}
    return tuple(sorted(kept, key=lambda held: held.id))


def _beside(said: Version, better: AbstractSet[int]) -> Iterator[HeldSet]:
    """The sets of one event, without what it guesses where others report. Beside a report, SQL completes it."""
    own = {held.output_id for held in said if held.origin in _REPORTED}
    for held in said:
        is_worse = held.origin in _GUESSED and held.output_id in better - own
        if not is_worse and not (held.origin == Origin.INFERRED and held.output_id in better):
            yield held


_REPORTED = (Origin.EXPLICIT, Origin.COLUMN)
_GUESSED = (Origin.PARSED, Origin.INFERRED, Origin.UNREPORTED)


def _keep_fields(before: Version, own: Version) -> Version:
    """A run without column lineage for an output it writes does not erase what is known of its columns (rule 46); and
    what was parsed alone never replaces columns that the job's producer reported.
    """
    outputs = {held.output_id for held in own if held.output_id}
    reported = _reported(before) - _reported(own)
    stays = [held for held in own if not (held.level == Level.FIELD and held.output_id in reported)]
    fine = {held.output_id for held in stays if held.level == Level.FIELD}
    kept = [held for held in before if held.level == Level.FIELD and held.output_id in outputs - fine]
    return tuple(sorted({*stays, *kept}, key=lambda held: held.id))


def _keep_renames(before: Version, after: Version) -> Version:
    """A rename stays one, whatever the same job renames next."""
    renames = {held for held in before if held.origin == Origin.RENAMED}
    return after if renames <= set(after) else tuple(sorted({*after, *renames}, key=lambda held: held.id))


def _reported(version: Version) -> set[int]:
    """The outputs of which a producer reports columns."""
    return {held.output_id for held in version if held.level == Level.FIELD and held.origin in _REPORTED}
