"""Catalog rows: what `store/` returns and `query/` reads of datasets, jobs, runs, facets and events.

Ids are those of `model.ids`, times microseconds UTC.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from whence.model.events import EventKind, RunState
from whence.model.names import DatasetName, JobName, RunName

REGISTRY = "whence.catalog"
"""The namespace of stand-in datasets for what OpenLineage has no event for: namespaces, sources, tags, and what a gate
records.

They carry facets as all datasets do, but listings of datasets leave them out.
"""


class RegistryKind(StrEnum):
    """The kind of thing that a dataset of the registry represents. The dataset's name is `<kind>/<name>`; of what a
    gate records, `<kind>/<keys>/<repository>`, with one quoted key for a commit, change or node, and one for a person;
    of objectives, certification, policies, lineage baselines, incidents, their notifications and containment,
    `<kind>/<objective, rule, dataset or incident>/<declaration, act, transition, notification or step>/<namespace>`,
    with ids.
    """

    NAMESPACE = "namespace"
    SOURCE = "source"
    TAG = "tag"
    VERDICT = "gate-verdict"
    APPROVAL = "gate-approval"
    WAIVER = "gate-waiver"
    PROMOTION = "gate-promotion"
    SLO = "slo"
    SLO_TRANSITION = "slo-transition"
    INCIDENT_ACT = "incident-act"
    INCIDENT_TRANSITION = "incident-transition"
    CONTAINMENT = "containment"
    NOTIFICATION = "notification"
    CERTIFICATION_RULE = "certification-rule"
    POLICY = "policy"
    RULE_TRANSITION = "rule-transition"
    LINEAGE_BASELINE = "lineage-baseline"

    def dataset_of(self, name: str) -> DatasetName:
        """The dataset that represents the thing with this name."""
        return DatasetName(REGISTRY, f"{self}/{name}")

    def name_in(self, registered: DatasetName) -> str:
        """The name of the thing that a dataset represents: the inverse of `dataset_of`."""
        return registered.name.removeprefix(f"{self}/")

    @property
    def keys(self) -> int:
        """How many keys precede the namespace or repository in a name."""
        return _KEYS.get(self, 0)


_KEYS = {
    RegistryKind.VERDICT: 1,
    RegistryKind.APPROVAL: 2,
    RegistryKind.WAIVER: 1,
    RegistryKind.PROMOTION: 1,
    RegistryKind.SLO: 2,
    RegistryKind.SLO_TRANSITION: 2,
    RegistryKind.INCIDENT_ACT: 2,
    RegistryKind.INCIDENT_TRANSITION: 2,
    RegistryKind.CONTAINMENT: 2,
    RegistryKind.NOTIFICATION: 2,
    RegistryKind.CERTIFICATION_RULE: 2,
    RegistryKind.POLICY: 2,
    RegistryKind.RULE_TRANSITION: 2,
    RegistryKind.LINEAGE_BASELINE: 2,
}


def namespace_of_registered(name: DatasetName) -> str:
    """The namespace whose rules govern a dataset of the registry; that of the registry itself for tags."""
    kind, _, rest = name.name.partition("/")
    if kind == RegistryKind.TAG:
        return REGISTRY
    keys = RegistryKind(kind).keys if kind in tuple(RegistryKind) else 0
    for _ in range(keys):
        rest = rest.partition("/")[2]
    return rest


class RegisteredFilter(NamedTuple):
    """Which facets of registry datasets a list has: of one kind, with names that begin and end with texts. `before`:
    only those after this (time, name) in the order latest first.
    """

    kind: RegistryKind
    facet: str
    begins: str = ""
    namespace: str = ""
    before: tuple[int, str] | None = None
    limit: int | None = None


class RegisteredFacet(NamedTuple):
    """A facet of a registry dataset: its JSON, the time of its event (µs), and that event's producer."""

    name: DatasetName
    payload: str
    time: int
    producer: str


class Entry(NamedTuple):
    """A dataset or job, and when events first and last mentioned it."""

    id: int
    name: DatasetName | JobName
    first_seen: int
    last_seen: int


class FacetRecord(NamedTuple):
    """The current value of a facet of a dataset or job, as canonical JSON, and when it was asserted."""

    payload: str
    time: int


class RunEntry(NamedTuple):
    """A run. `seen_from` and `seen_to` are None if only its children mention it."""

    id: int
    name: RunName
    state: RunState
    state_at: int
    started_at: int | None
    seen_from: int | None
    seen_to: int | None

    @property
    def ended_at(self) -> int | None:
        """When the run ended, or None while it has not."""
        return self.state_at if self.state.rank == RunState.COMPLETE else None


class SourceJob(NamedTuple):
    """A job of a source: the first and the last start of its batch runs in a period, the longest pause between two, how
    many there were, and when one of its events happened last (µs).
    """

    job_id: int
    namespace: str
    first: int
    last: int
    longest: int
    runs: int
    heard: int


class RunFacet(NamedTuple):
    """A facet of a run, or of one of its inputs or outputs: `role` is then `input` or `output`."""

    role: str
    dataset_id: int
    key: str
    payload: str


class RunDatasets(NamedTuple):
    """The ids of the datasets that a run read and wrote, and the version of lineage it asserted last (0: none)."""

    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Write(NamedTuple):
    """A run that wrote a dataset, and the time of the last event that reports it."""

    dataset_id: int
    run: RunEntry
    time: int


class SchemaRecord(NamedTuple):
    """A schema asserted of a dataset: the facet's hash and text, and when it was first and last asserted."""

    body_id: int
    payload: str
    first_time: int
    last_time: int


class VersionRecord(NamedTuple):
    """A version of a job's lineage, and when it was first and last asserted."""

    version: int
    first_time: int
    last_time: int


class EventEntry(NamedTuple):
    """An accepted event. `position` is its place in the log; `subject` names what it is about."""

    key: str
    position: int
    time: int
    kind: EventKind
    state: RunState
    producer: str
    subject: DatasetName | JobName | RunName | None


class TagCount(NamedTuple):
    """A tag, and how many datasets, fields and jobs carry it."""

    name: str
    uses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A page of a listing: `limit` items after the first `offset`, or after the item whose sort key is `after`.

    The sort key of datasets and jobs is `entry_sort_key`; of runs (last seen, id); of events (time, half of the key).
    """

    limit: int
    offset: int = 0
    after: tuple[str | int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which datasets or jobs to list: those of a namespace (None: all). Of jobs, those whose last run has one of the
    states (none: all). `latest` lists the most recently seen first, instead of by name.
    """

    namespace: str | None = None
    states: frozenset[RunState] = frozenset()
    latest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameSearch:
    """A search by name: text in the name of a dataset or job, ignoring case."""

    text: str
    kinds: tuple[int, ...]
    namespace: str | None = None
    before: int | None = None
    after: int | None = None
    latest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events to list: with times in [after, before), of a namespace, of some kinds, of runs in some states (none:
    any state, and events that are not about a run). `newest` lists the newest first.
    """

    after: int
    before: int
    kinds: tuple[EventKind, ...] = tuple(EventKind)
    namespace: str | None = None
    states: frozenset[RunState] = frozenset()
    newest: bool = True


def sort_prefix(text: str) -> str:
    """The part of a name that listings sort by: PostgreSQL indexes no value of unlimited length."""
    return text[:SORT_PREFIX_LENGTH]


SORT_PREFIX_LENGTH = 200


def entry_sort_key(entry: Entry) -> tuple[str | int, ...]:
    """The sort key of datasets and jobs."""
    return sort_prefix(entry.name.namespace), sort_prefix(entry.name.name), entry.id


def sorted_distinct(ids: Iterable[int]) -> list[int]:
    """The distinct ids in ascending order."""
    return sorted(set(ids))
