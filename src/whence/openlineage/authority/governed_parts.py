"""Governed parts of an event: which parts require a role, and in which namespace (security.md).

Lineage, observed schemas and technical facts are evidence: they require no role in the namespaces of the datasets.
Everything else that an event asserts is governed.
"""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import is_
from typing import Any

from whence.errors import EventError
from whence.model.access import Action
from whence.model.names import DatasetName
from whence.openlineage.authority.restrictions import (
    FULL,
    NOT_APPLIED,
    PERSON,
    RESERVED,
    UNVERIFIED,
    WITHHELD,
    Authority,
    Need,
    Restriction,
    dataset_need,
    read_restriction,
)
from whence.openlineage.facets.facet_keys import ALIASES, CONTRACT, CONTRACT_VERSION, CUT, JOINED, LIFECYCLE, TIER
from whence.openlineage.facets.facets import is_deleted
from whence.openlineage.facets.steward_tags import TAGS, WITHHELD_TAGS, requires_steward
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.json.wire import Json, encode_canonical, objects_in, pointer_step, text_of
from whence.openlineage.names.entity_names import read_dataset_name
from whence_client.redaction.credentials import strip_credentials

_OBSERVED = ("catalog", "dataSource", "datasetType", "hierarchy", "storage", "version")
_MEASURED = ("dataQualityAssertions", "dataQualityMetrics", "inputStatistics", "outputStatistics")
_OF_DATASETS = frozenset(("schema", "columnLineage", "whence_columnEvidence", *_OBSERVED, *_MEASURED))
_OF_JOBS = frozenset(("jobType", "lineage", "sourceCode", "sourceCodeLocation", "sql"))
"""Facets that are evidence: a job or engine observes them. All other facets require a role."""

_OF_STEWARDS = frozenset((TIER, CONTRACT, LIFECYCLE, ALIASES))
_LINEAGE = ("columnLineage", "lineage")
_RESERVED_MARK = f'"namespace":"{RESERVED}'.encode()
"""This text is in the canonical JSON of every event that names something in a namespace reserved for Whence."""
_JOB = "/job/facets"

_WITH_NEEDS = _OF_STEWARDS | {"symlinks", "lifecycleStateChange"}
"""Facets that require more than the role to write in the namespace of their subject."""

_NO_RESTRICTION = Restriction()

Permits = Callable[[tuple[Need, ...], str, str], bool]
"""Decides whether a part of an event with these needs is applied. The part is a member at a JSON pointer."""


def find_restriction(event: Json, text: bytes, authority: Authority) -> Restriction:
    """Find what a sender lacks for an event. `text` is the event as canonical JSON."""
    if authority is FULL:
        return _NO_RESTRICTION
    needs = list_needs(event, text)
    lacking = frozenset([need for need in needs if not authority.is_allowed(*need)])
    is_person_forged = is_forged(event, authority)
    return Restriction(lacking, is_person_forged) if lacking or is_person_forged else _NO_RESTRICTION


def list_needs(event: Json, text: bytes) -> frozenset[Need]:
    """List the needs of all parts of an event, or of some of its parts. `text` has them as canonical JSON."""
    # rfind takes a fifth of the time of `in`, which stops at every quote of the JSON.
    reserved, deleted = text.rfind(_RESERVED_MARK) >= 0, text.rfind(b'"_deleted":true') >= 0
    needs: set[Need] = set()

    def note(part_needs: tuple[Need, ...], *_: str) -> bool:
        needs.update(part_needs)
        return True

    _Filter(note, note, reserved=reserved, deleted=deleted).filter_event(event)
    return frozenset(needs)


def enforce(event: Json, notes: Notes) -> Json:
    """Remove the parts that the event's own restriction withholds, each with a warning.

    Raises EventError (403) if it is a dataset event about something that the sender may not change at all.
    """
    restriction = read_restriction(event)
    kept = {name: value for name, value in event.items() if name != WITHHELD}
    withheld: dict[str, tuple[Need, ...]] = {}

    def permits(needs: tuple[Need, ...], at: str, member: str) -> bool:
        lacking = tuple(need for need in needs if need in restriction.needs)
        if lacking:
            withheld[at + pointer_step(member) if member else at] = lacking
        return not lacking

    # If no steward role is lacking, nothing in a reserved namespace is withheld, so it is not searched.
    reserved = any(action is Action.STEWARD for action, _ in restriction.needs)
    kept = _Filter(permits, restriction.needs.isdisjoint, reserved=reserved, deleted=True).filter_event(kept)
    if restriction.person:
        claimed = text_of(kept.get("producer"))
        kept["producer"] = UNVERIFIED + claimed.removeprefix(PERSON)
        notes.add("/producer", f"{NOT_APPLIED}: the sender is not this person; read as {kept['producer']}")
    for at, lacking in withheld.items():
        notes.add(at, f"{NOT_APPLIED}: the sender may not {_describe_needs(lacking)}")
    if restriction and (count := len(withheld) + restriction.person):
        # In the order of their places: they were found in that of sets, which differs between processes.
        lacking = tuple(dict.fromkeys(need for _, needs in sorted(withheld.items()) for need in needs))
        # Sorts before all other warnings, so that the limit of warnings never cuts it.
        notes.add("", f"{NOT_APPLIED}: {count} assertion{'s' * (count > 1)}{_describe_reason(lacking)}")
    return kept


def is_forged(event: Json, authority: Authority) -> bool:
    """Whether the producer is a person's URI that the sender may not use."""
    producer, about = text_of(event.get("producer")), event.get("job") or event.get("dataset")
    if not producer.startswith(PERSON):
        return False
    namespace = text_of(about.get("namespace")) if type(about) is dict else ""
    return not authority.can_speak_for(producer, namespace)


def _describe_needs(needs: tuple[Need, ...]) -> str:
    return ", ".join(f"{action} in {namespace!r}" for action, namespace in needs)


def _describe_reason(lacking: tuple[Need, ...]) -> str:
    return f"; the sender may not {_describe_needs(lacking)}" if lacking else ""


@dataclass(frozen=True, slots=True)
class _Filter:
    """One pass over an event. Returns the same object if nothing is withheld."""

    permits: Permits
    is_entitled: Callable[[tuple[Need, ...]], bool]
    """Decides whether the sender has these needs, whether or not a part of the event has them."""
    reserved: bool
    """Whether the event may name something in a namespace `whence.*`."""
    deleted: bool
    """Whether it may have a `_deleted` facet."""

    def filter_event(self, event: Json) -> Json:
        changed: Json = {}
        for role in ("inputs", "outputs"):
            if (
                type(datasets := event.get(role)) is list
                and (kept := self._filter_datasets(datasets, f"/{role}")) is not datasets
            ):
                changed[role] = kept
        if type(job := event.get("job")) is dict and (changed_job := self._filter_job(job)) is not job:
            changed["job"] = changed_job
        dataset = event.get("dataset")
        if (described := self._filter_dataset(dataset, "/dataset")) is not dataset:
            if described is None and event.get("job") is None:
                raise EventError("/dataset", "the sender may not assert anything of it (`whence access grant`)", 403)
            changed["dataset"] = described
        return {**event, **changed} if changed else event

    def _filter_datasets(self, datasets: list[Any], at: str) -> list[Any]:
        if not self.reserved and not self.deleted and not any(map(_has_governed_facet, datasets)):
            return datasets
        kept = [self._filter_dataset(dataset, f"{at}/{index}") for index, dataset in enumerate(datasets)]
        if all(map(is_, kept, datasets)):
            return datasets
        return [new for new, old in zip(kept, datasets, strict=True) if new is not None or old is None]

    def _filter_dataset(self, dataset: Any, at: str) -> Any:
        """The dataset with the parts that are applied; None if no part is."""
        if type(dataset) is not dict:
            return dataset
        facets = dataset.get("facets")
        facets = facets if type(facets) is dict else {}
        governed = facets.keys() - _OF_DATASETS
        if not governed and not self.reserved and not self.deleted:
            return dataset
        name = _name_of(dataset)
        if name is None:
            return dataset
        need = dataset_need(name)
        if need[0] is Action.STEWARD and not self.permits((need,), at, ""):
            return None
        return self._filter_facets(dataset, facets, governed | self._deletions(facets), (need, f"{at}/facets"))

    def _filter_job(self, job: Json) -> Json:
        facets, namespace = job.get("facets"), job.get("namespace")
        if type(facets) is not dict or type(namespace) is not str:
            return job
        if not self.reserved and not self.deleted and _OF_JOBS.issuperset(facets):
            return job
        governed = (facets.keys() - _OF_JOBS) | self._deletions(facets)
        return self._filter_facets(job, facets, governed, ((Action.WRITE, strip_credentials(namespace)), _JOB))

    def _filter_facets(
        self, entity: Json, facets: Json, governed: AbstractSet[str], requirement: tuple[Need, str]
    ) -> Json:
        """A dataset or job with the facets that are applied. `how`: the need of each facet, and the facets' pointer."""
        need, at = requirement
        changed = self._filter_lineage(facets, at) if self.reserved else {}
        for key in governed:
            facet = changed.get(key, facets[key])
            if type(facet) is dict and (kept := self._filter_facet(key, facet, need, at)) is not facets[key]:
                changed[key] = kept
        if not changed:
            return entity
        applied = {key: changed.get(key, facet) for key, facet in facets.items()}
        return {
            **entity,
            "facets": {key: facet for key, facet in applied.items() if facet is not None or key not in changed},
        }

    def _deletions(self, facets: Json) -> frozenset[str]:
        """Deletion markers: they only end an assertion, so they are not observations."""
        if not self.deleted:
            return frozenset()
        return frozenset(key for key, facet in facets.items() if type(facet) is dict and is_deleted(facet))

    def _filter_facet(self, key: str, facet: Json, need: Need, at: str) -> Json | None:
        """The part of the facet that is applied; None if no part is."""
        needs = (need, *_facet_needs(key, facet, need[1])) if _has_needs(key) else (need,)
        if not self.permits(needs, at, key):
            return None
        return self._filter_tags(facet, need[1], at) if key == TAGS else facet

    def _filter_tags(self, facet: Json, namespace: str, at: str) -> Json:
        """The tags that the sender may assign. Who is no steward does not remove a steward's tags either."""
        needs, tags = ((Action.STEWARD, namespace),), facet.get("tags")
        if self.is_entitled(needs):
            return facet
        governed = {index for index, tag in objects_in(tags) if requires_steward(tag, of_job=at == _JOB)}
        withheld = {index for index in governed if not self.permits(needs, f"{at}/tags/tags", str(index))}
        kept = [tag for index, tag in enumerate(tags or ()) if index not in withheld]
        return {**facet, **({"tags": kept} if withheld else {}), WITHHELD_TAGS: True}

    def _filter_lineage(self, facets: Json, at: str) -> Json:
        """The lineage facets that change when the reserved names that are not permitted are removed."""
        # Searching the facet's JSON is cheap compared with traversing it.
        candidates = [key for key in _LINEAGE if key in facets and _RESERVED_MARK in encode_canonical(facets[key])]
        filtered = {key: self._remove_reserved(facets[key], f"{at}/{key}") for key in candidates}
        return {key: facet for key, facet in filtered.items() if facet is not facets[key]}

    def _remove_reserved(self, value: Any, at: str) -> Any:
        if type(value) is dict:
            members = {key: self._remove_reserved(item, f"{at}{pointer_step(key)}") for key, item in value.items()}
            return value if all(members[key] is value[key] for key in value) else members
        if type(value) is not list:
            return value
        kept = []
        for index, item in enumerate(value):
            name = _name_of(item)
            is_reserved = name is not None and name.namespace.startswith(RESERVED)
            if name is None or not is_reserved or self.permits((dataset_need(name),), at, str(index)):
                kept.append(self._remove_reserved(item, f"{at}/{index}"))
        return value if len(kept) == len(value) and all(map(is_, kept, value)) else kept


def _has_governed_facet(dataset: Any) -> bool:
    """Whether a dataset has a facet that requires a role."""
    facets = dataset.get("facets") if type(dataset) is dict else None
    return type(facets) is dict and not _OF_DATASETS.issuperset(facets)


def _has_needs(key: str) -> bool:
    """Whether a facet requires more than the role to write in the namespace of its subject."""
    return key in _WITH_NEEDS or key.startswith(CONTRACT_VERSION)


def _facet_needs(key: str, facet: Json, namespace: str) -> Iterator[Need]:
    """The needs of a facet besides the role to write in its subject's namespace."""
    if key in _OF_STEWARDS or key.startswith(CONTRACT_VERSION):
        yield Action.STEWARD, namespace
    if key in ("symlinks", ALIASES):
        for _, identifier in objects_in(facet.get("identifiers")):
            # To cut an alias, the role for one of its names is enough: nothing is joined.
            if key != ALIASES or identifier.get("type") not in (CUT, JOINED):
                yield from _name_needs(identifier)
    if key == "lifecycleStateChange":
        yield from _name_needs(facet.get("previousIdentifier"))


def _name_needs(identifier: object) -> Iterator[Need]:
    if name := _name_of(identifier):
        yield dataset_need(name)


def _name_of(identifier: object) -> DatasetName | None:
    """The dataset that an object names; None if it names none, or one that the reader rejects."""
    try:
        return read_dataset_name(identifier, "") if type(identifier) is dict else None
    except EventError:
        return None
