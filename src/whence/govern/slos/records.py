"""What is recorded of objectives: declarations and transitions, as OpenLineage events and back.

Nothing is replaced. The objectives at a time are the last declarations until then, and their states follow from the
transitions until then, so every question about the past has an answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from whence.errors import RulesFileError
from whence.govern.assertions import assert_facets
from whence.govern.slos.objectives import Objective
from whence.govern.slos.slo_file import read_slos
from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind, namespace_of_registered
from whence.model.names import DatasetName, parse_node
from whence.model.slo_records import (
    SLO,
    SLO_TRANSITION,
    DeclarationRecord,
    TransitionRecord,
    declaration_dataset,
    slo_id,
    transition_dataset,
    transition_id,
    version_of,
)
from whence.openlineage.write import PRODUCER, own_facet
from whence.query.ports.catalog import Catalog
from whence.query.visibility.slo_records import read_slo_record

Json = dict[str, Any]
_REMEMBERED = 10_000
"""Texts of objectives that are not read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """An objective that was declared, changed or ended at a time (µs), and by which producer. `objective`: None if it
    was ended, or if its text is hidden, or of another version of Whence.
    """

    id: str
    record: DeclarationRecord
    dataset: DatasetName
    time: int
    producer: str = ""
    objective: Objective | None = None

    @property
    def version(self) -> str:
        """The version of its text."""
        return version_of(self.record.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A recorded change of the state of an objective at a time (µs)."""

    id: str
    time: int
    record: TransitionRecord


def declaration_of(one: Objective, *, ended: bool = False) -> DeclarationRecord:
    """What declares an objective, or ends it."""
    return DeclarationRecord(
        service=one.service, name=one.name, dataset=str(one.dataset), text="" if ended else one.text, ended=ended
    )


def declaration_event(record: DeclarationRecord, namespace: str, at: int, producer: str) -> Json:
    """The event by which a producer declares or ends an objective at a time (µs)."""
    members = {key: value for key, value in msgspec.to_builtins(record).items() if value}
    facets = {SLO: own_facet("SloDatasetFacet", **members)}
    return assert_facets(declaration_dataset(namespace, record, at), at, producer, facets)


def transition_event(record: TransitionRecord, namespace: str, at: int) -> Json:
    """The event that records a transition at a time (µs). The same transition is the same event, byte for byte."""
    members = {key: value for key, value in msgspec.to_builtins(record).items() if value}
    facets = {SLO_TRANSITION: own_facet("SloTransitionDatasetFacet", **members)}
    return assert_facets(transition_dataset(namespace, record), at, PRODUCER, facets)


def list_declarations(catalog: Catalog, until: int | None = None) -> Mapping[str, Sequence[Declaration]]:
    """All declarations until a time (µs) by the id of their objective, in order. Those of another form are left out."""
    found: dict[str, list[Declaration]] = {}
    for one in reversed(catalog.registered_facets(RegisteredFilter(RegistryKind.SLO, SLO))):
        if (until is None or one.time <= until) and (read := _declaration(one)):
            found.setdefault(read.id, []).append(read)
    return found


def held_declarations(catalog: Catalog, until: int | None = None) -> Mapping[str, Declaration]:
    """The objectives that hold at a time (µs), or now, by id: not those that were ended."""
    last = {id_: some[-1] for id_, some in list_declarations(catalog, until).items()}
    return {id_: one for id_, one in last.items() if not one.record.ended}


def list_transitions(catalog: Catalog, slo: str = "", until: int | None = None) -> Sequence[Transition]:
    """The transitions until a time (µs), in order; of one objective, by its id, unless that is empty."""
    wanted = RegisteredFilter(RegistryKind.SLO_TRANSITION, SLO_TRANSITION, begins=f"{slo}/" if slo else "")
    read = (_transition(one) for one in catalog.registered_facets(wanted) if until is None or one.time <= until)
    return sorted((one for one in read if one), key=lambda one: (one.time, one.id))


def last_transitions(transitions: Iterable[Transition]) -> Mapping[str, Transition]:
    """The state of each objective, by id: the fold of transitions in order."""
    return {one.record.slo: one for one in transitions}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSlo:
    """An objective that holds, as far as it matters for whether another takes its place."""

    service: str
    name: str
    dataset: DatasetName
    version: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What its id is a hash of."""
        return self.dataset.namespace, self.service, self.name


def find_changes(
    wanted: Sequence[Objective], held: Iterable[HeldSlo], *, prune: bool
) -> Iterator[tuple[DeclarationRecord, str]]:
    """The declarations, each with its namespace, that make these objectives hold, in place of others that do.

    An objective that moved to another namespace ends in the old one. `prune`: what else its service has ends, too.
    """
    known = frozenset(held)
    new = [
        HeldSlo(service=one.service, name=one.name, dataset=one.dataset, version=version_of(one.text)) for one in wanted
    ]
    for one, objective in zip(new, wanted, strict=True):
        if one not in known:
            yield declaration_of(objective), one.dataset.namespace
    keys, names, services = ({one.key for one in new}, {one.key[1:] for one in new}, {one.service for one in new})
    for old in sorted(known, key=lambda one: one.key):
        is_left = old.key[1:] in names or (prune and old.service in services)
        if is_left and old.key not in keys:
            record = DeclarationRecord(service=old.service, name=old.name, dataset=str(old.dataset), ended=True)
            yield record, old.dataset.namespace


def _declaration(one: RegisteredFacet) -> Declaration | None:
    record, namespace = read_slo_record(one.payload, DeclarationRecord), namespace_of_registered(one.name)
    dataset = parse_node(record.dataset) if record else None
    if record is None or not isinstance(dataset, DatasetName) or dataset.namespace != namespace:
        return None
    id_ = slo_id(namespace, record.service, record.name)
    return Declaration(
        id=id_,
        record=record,
        dataset=dataset,
        time=one.time,
        producer=one.producer,
        objective=read_objective(record.text) if record.text else None,
    )


def _transition(one: RegisteredFacet) -> Transition | None:
    record = read_slo_record(one.payload, TransitionRecord)
    if record is None or slo_id(namespace_of_registered(one.name), record.service, record.name) != record.slo:
        return None
    return Transition(id=transition_id(record), time=one.time, record=record)


@lru_cache(maxsize=_REMEMBERED)
def read_objective(text: str) -> Objective | None:
    """The objective of a declaration's text; None if it is hidden, or of another version of Whence."""
    try:
        (found,) = read_slos(text).objectives
    except (RulesFileError, ValueError):
        return None
    return found
