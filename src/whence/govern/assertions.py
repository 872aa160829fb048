"""Assertions by people, as OpenLineage facets and events. Pure functions. They use the specification's facets where
possible; docs/reference/http-catalog.md describes the others.

A facet is replaced as a whole, so each function takes the subject's current facets and returns the new facet.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any

from whence.model.ids import netstrings
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.facets.explicit_lineage import read_dataset_edges
from whence.openlineage.facets.facet_keys import (
    ALIASES,
    CONTRACT,
    CONTRACT_VERSION,
    CUT,
    DECOMMISSIONED,
    JOINED,
    LIFECYCLE,
)
from whence.openlineage.facets.steward_tags import COMPLETE_TAGS, USER
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.write import (
    dataset_event,
    dataset_lineage,
    deleted_facet,
    facet,
    job_event,
    own_facet,
    replace_producer,
)

_OF_VERSIONS = ("text", "table", "columns", "quality", "serviceLevels")
Json = dict[str, Any]
Facets = Mapping[str, Any]
Subject = DatasetName | JobName


class Certification(StrEnum):
    """A steward's certification, stored as a tag whose value is `true` (docs/reference/kpis.md)."""

    CERTIFIED = "certified"
    CANONICAL = "canonical"


def add_tag(subject: Subject, facets: Facets, key: str, value: str = "true", field: str = "") -> Json:
    """The tags facet with a tag added, or with another value for it."""
    tag = {"key": key, "value": value, "source": USER, **({"field": field} if field else {})}
    return _tags(subject, [*_other_tags(facets, key, field), tag])


def remove_tag(subject: Subject, facets: Facets, key: str, field: str = "") -> Json:
    """The tags facet with a tag removed."""
    return _tags(subject, _other_tags(facets, key, field))


def replace_tags(entries: Iterable[Json]) -> Json:
    """The tags facet of a dataset with exactly these tags."""
    return _list_tags("TagsDatasetFacet", list(entries))


def add_owner(subject: Subject, facets: Facets, owner: str, role: str = "") -> Json:
    """The ownership facet with an owner added, or with another role for them."""
    return _owners(subject, [*_other_owners(facets, owner), {"name": owner, **({"type": role} if role else {})}])


def remove_owner(subject: Subject, facets: Facets, owner: str) -> Json:
    """The ownership facet with an owner removed."""
    return _owners(subject, _other_owners(facets, owner))


def set_description(subject: Subject, text: str | None) -> Json:
    """The documentation facet with this text; None deletes it."""
    kind = _kind("Documentation", subject)
    return deleted_facet(kind) if text is None else facet(kind, description=text)


def set_tier(tier: int | None) -> Json:
    """The tier facet, how critical a subject is: 1 is the most critical; None deletes it."""
    return own_facet("TierFacet", _deleted=True) if tier is None else own_facet("TierFacet", tier=tier)


def set_contract(version: str, **members: Any) -> Facets:
    """The facets of the version of a contract that a dataset fulfils: the one that holds now, and the one that stays.

    `members`: what else is known of it. Its text and what follows from that are only in the facet that stays.
    """
    now = {key: value for key, value in members.items() if key not in _OF_VERSIONS}
    key = _contract_version_key(str(members.get("id", "")), version)
    return {
        CONTRACT: own_facet("ContractDatasetFacet", version=version, **now),
        key: own_facet("ContractVersionDatasetFacet", version=version, **members),
    }


def end_contract(facets: Facets) -> Facets:
    """The facets that end the contract of a dataset. Its versions stay."""
    held = facets.get(CONTRACT, {})
    key = _contract_version_key(str(held.get("id", "")), str(held.get("version", "")), "end")
    return {
        CONTRACT: own_facet("ContractDatasetFacet", _deleted=True),
        key: own_facet("ContractVersionDatasetFacet", version=""),
    }


def _contract_version_key(*parts: str) -> str:
    return f"{CONTRACT_VERSION}{sha256(netstrings(parts).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def add_edge(target: DatasetName, facets: Facets, edge: Edge) -> Json:
    """The lineage facet of a dataset with an edge added to it, or to one of its fields."""
    return dataset_lineage([*_other_edges(target, facets, edge.source, edge.target), edge])


def remove_edges(target: DatasetName, facets: Facets, source: Node, end: DatasetName | FieldName) -> Json:
    """The lineage facet with the edges between two nodes removed. It may become empty, which asserts that there are
    none.
    """
    return dataset_lineage(_other_edges(target, facets, source, end))


def assert_alias(other: DatasetName, *, cut: bool) -> Facets:
    """The facet asserting that another name is, or is not, an alias. The latest assertion about a pair counts."""
    identifier = {"namespace": other.namespace, "name": other.name, "type": CUT if cut else JOINED}
    return {ALIASES: own_facet("AliasesDatasetFacet", identifiers=[identifier])}


def make_end_facets(subject: Subject, reason: str = "") -> Facets:
    """The facets that decommission a job, or drop a dataset: it is hidden until an event mentions it again."""
    end = own_facet("LifecycleFacet", state=DECOMMISSIONED, **({"reason": reason} if reason else {}))
    if isinstance(subject, JobName):
        return {LIFECYCLE: end}
    return {
        LIFECYCLE: end,
        "lifecycleStateChange": facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange="DROP"),
    }


def assert_facets(
    subject: Subject, at: int, producer: str, facets: Facets, declared: tuple[Sequence[Json], Sequence[Json]] = ((), ())
) -> Json:
    """The event by which a producer asserts facets of a dataset or job at a time (µs).

    A job event replaces the job's previous declaration, so `declared` repeats its inputs and outputs.
    """
    if isinstance(subject, DatasetName):
        return replace_producer(producer, dataset_event(at, subject, facets=dict(facets)))
    inputs, outputs = declared
    return replace_producer(producer, job_event(at, subject, facets=dict(facets), inputs=inputs, outputs=outputs))


def _tags(subject: Subject, entries: Sequence[Json]) -> Json:
    return _list_tags(_kind("Tags", subject), entries)


def _list_tags(kind: str, entries: Sequence[Json]) -> Json:
    return facet(kind, tags=list(entries), **{COMPLETE_TAGS: True}) if entries else deleted_facet(kind)


def _owners(subject: Subject, entries: Sequence[Json]) -> Json:
    kind = _kind("Ownership", subject)
    return facet(kind, owners=list(entries)) if entries else deleted_facet(kind)


def _other_tags(facets: Facets, key: str, field: str) -> list[Json]:
    return [
        tag for tag in _list_entries(facets, "tags", "tags") if (tag.get("key"), tag.get("field") or "") != (key, field)
    ]


def _other_owners(facets: Facets, owner: str) -> list[Json]:
    return [entry for entry in _list_entries(facets, "ownership", "owners") if entry.get("name") != owner]


def _other_edges(target: DatasetName, facets: Facets, source: Node, end: Node) -> list[Edge]:
    known = read_dataset_edges(facets["lineage"], target, "", Notes()) if "lineage" in facets else ()
    return [edge for edge in known if (edge.source, edge.target) != (source, end)]


def _list_entries(facets: Facets, name: str, key: str) -> list[Json]:
    entries = facets.get(name, {}).get(key)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _kind(what: str, subject: Subject) -> str:
    return f"{what}{'Job' if isinstance(subject, JobName) else 'Dataset'}Facet"
