"""Which parts of an event need a role, and in which namespace: the one rule of who may assert what (docs/security.md).

Lineage, observed schemas and technical facts are evidence: they need no role in the namespaces of the datasets.
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
from whence.openlineage.authority import (
    FULL,
    NOT_APPLIED,
    PERSON,
    RESERVED,
    UNVERIFIED,
    WITHHELD,
    Authority,
    Need,
    Restriction,
    need_of,
    read_restriction,
)
from whence.openlineage.facets import (
    ALIASES,
    CERTIFICATIONS,
    CONTRACT,
    CUT,
    JOINED,
    LIFECYCLE,
    TIER,
    USER,
    dataset_name,
    is_deleted,
)
from whence.openlineage.naming import without_credentials
from whence.openlineage.notes import Notes
from whence.openlineage.wire import Json, objects_in, step, text_of

_OBSERVED = ("catalog", "dataSource", "datasetType", "hierarchy", "storage", "version")
_MEASURED = ("dataQualityAssertions", "dataQualityMetrics", "inputStatistics", "outputStatistics")
_OF_DATASETS = frozenset(("schema", "columnLineage", "whence_columnEvidence", *_OBSERVED, *_MEASURED))
_OF_JOBS = frozenset(("jobType", "lineage", "sourceCode", "sourceCodeLocation", "sql"))
"""Facets that are evidence: what a job or engine observes. All others need a role."""

_OF_STEWARDS = frozenset((TIER, CONTRACT, LIFECYCLE, ALIASES))
_LINEAGE = ("columnLineage", "lineage")
_JOB = "/job/facets"

_WITH_NEEDS = _OF_STEWARDS | {"symlinks", "lifecycleStateChange"}
"""Facets that need more than to write where their subject is."""

_NOTHING = Restriction()

Permits = Callable[[tuple[Need, ...], str, str], bool]
"""Whether a part of an event, which has these needs, is applied. It is the member of this name at a JSON pointer."""


def find_restriction(event: Json, text: bytes, authority: Authority) -> Restriction:
    """What a sender lacks for an event. `text` is the event as canonical JSON."""
    if authority is FULL:
        return _NOTHING
    found: set[Need] = set()

    def note(needs: tuple[Need, ...], *_: str) -> bool:
        found.update(needs)
        return True

    # From the end: that is a fifth of the time of `in`, which looks at every quote of the JSON.
    reserved, deleted = text.rfind(b'"namespace":"whence.') >= 0, text.rfind(b'"_deleted":true') >= 0
    _Walk(note, reserved=reserved, deleted=deleted).event(event)
    lacking = frozenset([need for need in found if not authority.may(*need)])
    is_forged = _is_forged(event, authority)
    return Restriction(lacking, is_forged) if lacking or is_forged else _NOTHING


def enforce(event: Json, notes: Notes) -> Json:
    """The event without the parts that its own restriction withholds; a warning names each of them.

    Raises EventError (403) if it is a dataset event about something that the sender may not touch at all.
    """
    restriction = read_restriction(event)
    kept = {name: value for name, value in event.items() if name != WITHHELD}
    withheld: dict[str, tuple[Need, ...]] = {}

    def permits(needs: tuple[Need, ...], at: str, member: str) -> bool:
        lacking = tuple(need for need in needs if need in restriction.needs)
        if lacking:
            withheld[at + step(member) if member else at] = lacking
        return not lacking

    kept = _Walk(permits, reserved=True, deleted=True).event(kept)
    if restriction.person:
        claimed = text_of(kept.get("producer"))
        kept["producer"] = UNVERIFIED + claimed.removeprefix(PERSON)
        notes.add("/producer", f"{NOT_APPLIED}: the sender is not this person; read as {kept['producer']}")
    for at, lacking in withheld.items():
        notes.add(at, f"{NOT_APPLIED}: the sender may not {_named(lacking)}")
    if restriction and (count := len(withheld) + restriction.person):
        lacking = tuple(dict.fromkeys(need for some in withheld.values() for need in some))
        # It sorts before all other warnings, so it is there however many others there are.
        notes.add("", f"{NOT_APPLIED}: {count} assertion{'s' * (count > 1)}{_reason(lacking)}")
    return kept


def _is_forged(event: Json, authority: Authority) -> bool:
    producer, about = text_of(event.get("producer")), event.get("job") or event.get("dataset")
    if not producer.startswith(PERSON):
        return False
    namespace = text_of(about.get("namespace")) if type(about) is dict else ""
    return not authority.speaks_for(producer, namespace)


def _named(needs: tuple[Need, ...]) -> str:
    return ", ".join(f"{action} in {namespace!r}" for action, namespace in needs)


def _reason(lacking: tuple[Need, ...]) -> str:
    return f"; the sender may not {_named(lacking)}" if lacking else ""


@dataclass(frozen=True, slots=True)
class _Walk:
    """One pass over an event. It returns the very object that it was given where nothing is withheld."""

    permits: Permits
    reserved: bool
    """Whether the event may name something in a namespace `whence.*`."""
    deleted: bool
    """Whether it may have a `_deleted` facet."""

    def event(self, event: Json) -> Json:
        changed: Json = {}
        for role in ("inputs", "outputs"):
            if type(some := event.get(role)) is list and (kept := self._datasets(some, f"/{role}")) is not some:
                changed[role] = kept
        if type(job := event.get("job")) is dict and (one := self._job(job)) is not job:
            changed["job"] = one
        dataset = event.get("dataset")
        if (described := self._dataset(dataset, "/dataset")) is not dataset:
            if described is None and event.get("job") is None:
                raise EventError("/dataset", "the sender may not assert anything of it (`whence access grant`)", 403)
            changed["dataset"] = described
        return {**event, **changed} if changed else event

    def _datasets(self, some: list[Any], at: str) -> list[Any]:
        if not self.reserved and not self.deleted and not any(map(_is_governed, some)):
            return some
        kept = [self._dataset(one, f"{at}/{index}") for index, one in enumerate(some)]
        if all(map(is_, kept, some)):
            return some
        return [new for new, old in zip(kept, some, strict=True) if new is not None or old is None]

    def _dataset(self, one: Any, at: str) -> Any:
        """None if nothing of it is applied."""
        if type(one) is not dict:
            return one
        facets = one.get("facets")
        facets = facets if type(facets) is dict else {}
        governed = facets.keys() - _OF_DATASETS
        if not governed and not self.reserved and not self.deleted:
            return one
        name = _name_of(one)
        if name is None:
            return one
        need = need_of(name)
        if need[0] is Action.STEWARD and not self.permits((need,), at, ""):
            return None
        return self._kept(one, facets, governed | self._deletions(facets), (need, f"{at}/facets"))

    def _job(self, job: Json) -> Json:
        facets, namespace = job.get("facets"), job.get("namespace")
        if type(facets) is not dict or type(namespace) is not str:
            return job
        if not self.reserved and not self.deleted and _OF_JOBS.issuperset(facets):
            return job
        governed = (facets.keys() - _OF_JOBS) | self._deletions(facets)
        return self._kept(job, facets, governed, ((Action.WRITE, without_credentials(namespace)), _JOB))

    def _kept(self, entity: Json, facets: Json, governed: AbstractSet[str], how: tuple[Need, str]) -> Json:
        """A dataset or job with the facets that are applied. `how`: what it takes, and where the facets are."""
        need, at = how
        changed = self._lineage(facets, at) if self.reserved else {}
        for key in governed:
            facet = changed.get(key, facets[key])
            if type(facet) is dict and (kept := self._facet(key, facet, need, at)) is not facets[key]:
                changed[key] = kept
        if not changed:
            return entity
        left = {key: changed.get(key, facet) for key, facet in facets.items()}
        return {
            **entity,
            "facets": {key: facet for key, facet in left.items() if facet is not None or key not in changed},
        }

    def _deletions(self, facets: Json) -> frozenset[str]:
        """Facets that only end something: nobody observes those."""
        if not self.deleted:
            return frozenset()
        return frozenset(key for key, facet in facets.items() if type(facet) is dict and is_deleted(facet))

    def _facet(self, key: str, facet: Json, need: Need, at: str) -> Json | None:
        """The facet as it is applied; None if it is not."""
        needs = (need, *_facet_needs(key, facet, need[1])) if key in _WITH_NEEDS else (need,)
        if not self.permits(needs, at, key):
            return None
        return self._tags(facet, need[1], at) if key == "tags" else facet

    def _tags(self, facet: Json, namespace: str, at: str) -> Json:
        tags = facet.get("tags")
        if type(tags) is not list:
            return facet
        needs = ((Action.STEWARD, namespace),)
        governed = {index for index, tag in objects_in(tags) if _is_of_stewards(tag, of_job=at == _JOB)}
        withheld = {index for index in governed if not self.permits(needs, f"{at}/tags/tags", str(index))}
        if not withheld:
            return facet
        return {**facet, "tags": [tag for index, tag in enumerate(tags) if index not in withheld]}

    def _lineage(self, facets: Json, at: str) -> Json:
        """The lineage facets that change without the reserved names that may not be used."""
        found = {key: self._unreserved(facets[key], f"{at}/{key}") for key in _LINEAGE if key in facets}
        return {key: facet for key, facet in found.items() if facet is not facets[key]}

    def _unreserved(self, value: Any, at: str) -> Any:
        if type(value) is dict:
            members = {key: self._unreserved(one, f"{at}{step(key)}") for key, one in value.items()}
            return value if all(members[key] is value[key] for key in value) else members
        if type(value) is not list:
            return value
        kept = []
        for index, one in enumerate(value):
            name = _name_of(one)
            is_reserved = name is not None and name.namespace.startswith(RESERVED)
            if name is None or not is_reserved or self.permits((need_of(name),), at, str(index)):
                kept.append(self._unreserved(one, f"{at}/{index}"))
        return value if len(kept) == len(value) and all(map(is_, kept, value)) else kept


def _is_governed(one: Any) -> bool:
    """Whether a dataset may have a facet that needs a role."""
    facets = one.get("facets") if type(one) is dict else None
    return type(facets) is dict and not _OF_DATASETS.issuperset(facets)


def _facet_needs(key: str, facet: Json, namespace: str) -> Iterator[Need]:
    """What a facet of a dataset or job needs besides the role to write there."""
    if key in _OF_STEWARDS:
        yield Action.STEWARD, namespace
    if key in ("symlinks", ALIASES):
        for _, one in objects_in(facet.get("identifiers")):
            # To cut an alias, the role at one of its ends is enough: nothing is joined by it.
            if key != ALIASES or one.get("type") not in (CUT, JOINED):
                yield from _needs_of_name(one)
    if key == "lifecycleStateChange":
        yield from _needs_of_name(facet.get("previousIdentifier"))


def _needs_of_name(one: object) -> Iterator[Need]:
    if name := _name_of(one):
        yield need_of(name)


def _name_of(one: object) -> DatasetName | None:
    """The dataset that an object names; None if it names none, or one that the reader refuses."""
    try:
        return dataset_name(one, "") if type(one) is dict else None
    except EventError:
        return None


def _is_of_stewards(tag: Json, *, of_job: bool) -> bool:
    """Whether only a steward may give this tag. OpenLineage's clients call a job's configured tags `USER`, too."""
    return tag.get("key") in CERTIFICATIONS or (not of_job and tag.get("source") == USER)
