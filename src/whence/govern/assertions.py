"""What people assert of things, as OpenLineage facets and events: pure. What the specification's facets can say is said
with them; docs/catalog.md has the others.

A facet is replaced whole, so each function takes the facets that a thing has now and gives the facet as it is to be.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.entries import dataset_edges
from whence.openlineage.facets import ALIASES, CUT, DECOMMISSIONED, JOINED, LIFECYCLE, USER
from whence.openlineage.notes import Notes
from whence.openlineage.write import (
    dataset_event,
    dataset_lineage,
    deleted,
    facet,
    job_event,
    own_facet,
    said_by,
)

Json = dict[str, Any]
Facets = Mapping[str, Any]
Subject = DatasetName | JobName


class Certification(StrEnum):
    """What a steward vouches for, as a tag whose value is `true` (docs/kpis.md)."""

    CERTIFIED = "certified"
    CANONICAL = "canonical"


def tagged(subject: Subject, facets: Facets, key: str, value: str = "true", field: str = "") -> Json:
    """The tags facet with one more tag, or with another value of it."""
    entry = {"key": key, "value": value, "source": USER, **({"field": field} if field else {})}
    return _tags(subject, [*_other_tags(facets, key, field), entry])


def untagged(subject: Subject, facets: Facets, key: str, field: str = "") -> Json:
    """The tags facet without a tag."""
    return _tags(subject, _other_tags(facets, key, field))


def owned(subject: Subject, facets: Facets, owner: str, role: str = "") -> Json:
    """The ownership facet with one more owner, or another role of one."""
    return _owners(subject, [*_other_owners(facets, owner), {"name": owner, **({"type": role} if role else {})}])


def disowned(subject: Subject, facets: Facets, owner: str) -> Json:
    """The ownership facet without an owner."""
    return _owners(subject, _other_owners(facets, owner))


def described(subject: Subject, text: str | None) -> Json:
    """The documentation facet; None ends it."""
    kind = _kind("Documentation", subject)
    return deleted(kind) if text is None else facet(kind, description=text)


def tiered(tier: int | None) -> Json:
    """How critical a thing is: 1 is the most; None: it is not said."""
    return own_facet("TierFacet", _deleted=True) if tier is None else own_facet("TierFacet", tier=tier)


def contracted(version: str | None) -> Json:
    """The version of the contract that a dataset keeps; None: none."""
    kind = "ContractDatasetFacet"
    return own_facet(kind, _deleted=True) if version is None else own_facet(kind, version=version)


def joined(target: DatasetName, facets: Facets, edge: Edge) -> Json:
    """The lineage facet of a dataset with one more edge to it, or to a field of it."""
    return dataset_lineage([*_other_edges(target, facets, edge.source, edge.target), edge])


def parted(target: DatasetName, facets: Facets, source: Node, end: DatasetName | FieldName) -> Json:
    """The lineage facet without the edges between two ends. Nothing is left: it says so."""
    return dataset_lineage(_other_edges(target, facets, source, end))


def renamed(other: DatasetName, *, cut: bool) -> Facets:
    """That another name is not a dataset's, or is after all. Of each pair of names the last word counts."""
    word = {"namespace": other.namespace, "name": other.name, "type": CUT if cut else JOINED}
    return {ALIASES: own_facet("AliasesDatasetFacet", identifiers=[word])}


def ended(subject: Subject, reason: str = "") -> Facets:
    """The facets that end a job, or say that a dataset is dropped: hidden until an event speaks of it again."""
    end = own_facet("LifecycleFacet", state=DECOMMISSIONED, **({"reason": reason} if reason else {}))
    if isinstance(subject, JobName):
        return {LIFECYCLE: end}
    return {
        LIFECYCLE: end,
        "lifecycleStateChange": facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange="DROP"),
    }


def assert_facets(
    subject: Subject, at: int, by: str, facets: Facets, declared: tuple[Sequence[Json], Sequence[Json]] = ((), ())
) -> Json:
    """The event by which a producer says facets of a dataset or job at a time (µs).

    A job event replaces what was declared of the job before, so `declared` repeats its inputs and outputs.
    """
    if isinstance(subject, DatasetName):
        return said_by(by, dataset_event(at, subject, facets=dict(facets)))
    inputs, outputs = declared
    return said_by(by, job_event(at, subject, facets=dict(facets), inputs=inputs, outputs=outputs))


def _tags(subject: Subject, entries: Sequence[Json]) -> Json:
    kind = _kind("Tags", subject)
    return facet(kind, tags=list(entries)) if entries else deleted(kind)


def _owners(subject: Subject, entries: Sequence[Json]) -> Json:
    kind = _kind("Ownership", subject)
    return facet(kind, owners=list(entries)) if entries else deleted(kind)


def _other_tags(facets: Facets, key: str, field: str) -> list[Json]:
    return [one for one in _listed(facets, "tags", "tags") if (one.get("key"), one.get("field") or "") != (key, field)]


def _other_owners(facets: Facets, owner: str) -> list[Json]:
    return [one for one in _listed(facets, "ownership", "owners") if one.get("name") != owner]


def _other_edges(target: DatasetName, facets: Facets, source: Node, end: Node) -> list[Edge]:
    known = dataset_edges(facets["lineage"], target, "", Notes()) if "lineage" in facets else ()
    return [one for one in known if (one.source, one.target) != (source, end)]


def _listed(facets: Facets, name: str, key: str) -> list[Json]:
    entries = facets.get(name, {}).get(key)
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


def _kind(what: str, subject: Subject) -> str:
    return f"{what}{'Job' if isinstance(subject, JobName) else 'Dataset'}Facet"
