"""Packs of certified datasets, stored beside each version of them: one for each time that a dataset was written."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Protocol
from urllib.parse import quote

from whence.govern.evidence.installation import Installation
from whence.govern.evidence.pack import make_pack
from whence.govern.evidence.statement import Files
from whence.govern.rule_states.records import certifications_at
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.answers.values import Question
from whence.query.ports.catalog import Catalog

CERTIFIED = "certified"
_MOST_TAGGED = 100_000
_LONGEST = 150
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_NODES, MOST_EDGES = 100_000, 1_000_000
"""The budgets of a stored pack. Its statement says if one of them cut the lineage."""


class PackStore(Protocol):
    """A directory, or a bucket of an object store."""

    def has(self, place: str) -> bool:
        """Whether there is a whole pack at a place: a relative path."""
        ...

    def write(self, place: str, files: Files) -> None:
        """Write a pack; whoever looks sees all of it or none. Raises EvidenceError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPacks:
    """The places of packs that were made, and how many were there before. `unwritten`: certified datasets that no run
    wrote, so that they have no version.
    """

    made: tuple[str, ...]
    present: int
    unwritten: int


def store_packs(installation: Installation, packs: PackStore) -> StoredPacks:
    """Store the packs of the current versions of all certified datasets that are not there yet, as of the times when
    they were written. Raises StoreError, LogError, EvidenceError.
    """
    with installation.open_sources() as sources:
        certified = list_certified(sources.catalog)
        versions = sources.catalog.last_write_times(certified)
        places = {id_: place_of(certified[id_], at) for id_, at in sorted(versions.items())}
        new = {id_: place for id_, place in places.items() if not packs.has(place)}
        for id_, place in new.items():
            at = versions[id_]
            question = Question(at=at, max_nodes=MOST_NODES, max_edges=MOST_EDGES)
            packs.write(place, make_pack(sources, certified[id_], question, at, installation.signer))
    return StoredPacks(
        made=tuple(new.values()), present=len(places) - len(new), unwritten=len(certified) - len(versions)
    )


def list_certified(catalog: Catalog) -> Mapping[int, DatasetName]:
    """The datasets that are certified now, by id: by a rule, or where no rule is about them, by a tag."""
    ruled = certifications_at(catalog)
    found = {node_id(one): one for one, status in ruled.items() if status == CERTIFIED}
    tagged = catalog.entries(catalog.tagged(CERTIFIED, _MOST_TAGGED))
    named = {id_: one.name for id_, one in tagged.items() if isinstance(one.name, DatasetName)}
    found |= {id_: name for id_, name in named.items() if name not in ruled}
    return {id_: found[id_] for id_ in sorted(found) if id_ not in catalog.deleted(found)}


def place_of(name: DatasetName, at: int) -> str:
    """Where the pack of a version is stored: namespace, name and time (µs), each a name of a directory."""
    time = _EPOCH + timedelta(microseconds=at)
    return "/".join((*map(_segment, (name.namespace, name.name)), f"{time:%Y%m%dT%H%M%S.%fZ}"))


def _segment(text: str) -> str:
    """A text as the name of a directory: no separator, never `.` or `..`, and short enough for file systems."""
    found = quote(text, safe="").replace(".", "%2E", 1) if text.startswith(".") else quote(text, safe="")
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}-{sha256(text.encode()).hexdigest()[:16]}"
