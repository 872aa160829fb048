"""Steps of containment as events and back, and what they amount to: what is paused for which incident.

Every step is in the log before the next one is taken. So after a crash the log has what was paused, or that
it was about to be: then the orchestrator is read again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind
from whence.model.names import DatasetName
from whence.model.records.containment import CONTAINMENT, StepRecord, begin_of_steps, incident_of
from whence.openlineage.write import own_facet
from whence.query.ports.catalog import Catalog

Json = dict[str, Any]


class Target(NamedTuple):
    """A schedule of an orchestrator."""

    system: str
    namespace: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A recorded step at a time (µs), with the producer of its event."""

    incident: str
    record: StepRecord
    time: int
    producer: str = ""
    name: DatasetName

    @property
    def target(self) -> Target:
        """What it is about."""
        return target_of(self.record)


@dataclass(slots=True)
class Held:
    """What the steps about one target amount to.

    `holders`: for each incident that still needs it paused, its last step. `receipt`: of the step that paused it; None:
    nobody of us did, so nobody of us may resume it. `is_certain`: the receipt is recorded; otherwise the act may have
    happened, or not.
    """

    holders: dict[str, StepRecord] = field(default_factory=dict)
    receipt: StepRecord | None = None
    is_certain: bool = False


def target_of(record: StepRecord) -> Target:
    """The target of a step."""
    return Target(record.system, record.namespace, record.id)


def step_facets(record: StepRecord) -> Mapping[str, Json]:
    """The facets that record a step."""
    members = {key: value for key, value in msgspec.to_builtins(record).items() if value}
    return {CONTAINMENT: own_facet("ContainmentStepDatasetFacet", **members)}


def list_steps(catalog: Catalog, incident: str = "") -> Sequence[Step]:
    """The steps of an incident, or of all if it is empty, in their order."""
    begins = begin_of_steps(incident) if incident else ""
    found = catalog.registered_facets(RegisteredFilter(RegistryKind.CONTAINMENT, CONTAINMENT, begins=begins))
    return in_order(step for one in found if (step := _read(one)) is not None)


def in_order(steps: Iterable[Step]) -> Sequence[Step]:
    """Steps by their times."""
    return sorted(steps, key=lambda one: (one.time, one.name))


def fold_steps(steps: Iterable[Step]) -> Mapping[Target, Held]:
    """What steps in their order amount to, by target."""
    found: dict[Target, Held] = {}
    for one in steps:
        _apply(found.setdefault(one.target, Held()), one)
    return found


def held_by(found: Mapping[Target, Held], incident: str) -> Mapping[Target, Held]:
    """The targets that an incident needs paused."""
    return {target: held for target, held in found.items() if incident in held.holders}


def _apply(held: Held, one: Step) -> None:
    match one.record.phase:
        case "intended":
            held.holders[one.incident] = one.record
            if held.receipt is None:
                held.receipt, held.is_certain = one.record, False
        case "paused":
            held.holders[one.incident] = one.record
            held.receipt, held.is_certain = one.record, True
        case "unchanged":
            held.holders[one.incident] = one.record
        case "resumed" | "released":
            held.holders.pop(one.incident, None)
            if one.record.phase == "resumed" or not held.holders:
                held.receipt, held.is_certain = None, False
        case "resuming" | "failed":
            pass  # what was held is still held; whether it is paused is read again


def _read(one: RegisteredFacet) -> Step | None:
    try:
        record = msgspec.json.decode(one.payload, type=StepRecord)
    except msgspec.DecodeError:
        return None
    return Step(incident=incident_of(one.name), record=record, time=one.time, producer=one.producer, name=one.name)
