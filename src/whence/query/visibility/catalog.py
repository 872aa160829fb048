"""The catalog that one viewer sees: lists without hidden entries, and pseudonyms for hidden names.

The store selects listed and counted entries by namespace (`Scope`), so that pages and totals cover visible entries
only. References from visible to hidden entries become pseudonyms, the same as those of the graph. All ids that enter
and leave are those of names that the viewer may see.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from whence.model.access import Action, Viewer
from whence.model.catalog import (
    REGISTRY,
    Entry,
    EntryFilter,
    EventEntry,
    EventFilter,
    FacetRecord,
    NameSearch,
    RegisteredFacet,
    RegisteredFilter,
    RegistryKind,
    RunDatasets,
    RunEntry,
    RunFacet,
    SchemaRecord,
    SourceJob,
    TagCount,
    VersionRecord,
    Window,
    Write,
    namespace_of_registered,
)
from whence.model.events import RunState
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.query.ports.catalog import Catalog
from whence.query.visibility.facets import SHOWN_OF_RUNS, shown_facet, shown_schema, tags_in
from whence.query.visibility.gate_records import list_visible_records
from whence.query.visibility.visible_ids import VisibleIds

_MOST_WRITES = 100_000
_INT = (1 << 62) - 1


def scope_of(viewer: Viewer, namespaces: Iterable[str]) -> frozenset[str] | None:
    """The namespaces that a viewer may read, or None for all of them."""
    if viewer.can_see_all:
        return None
    return frozenset(name for name in namespaces if name != REGISTRY and viewer.is_allowed(Action.READ, name))


@dataclass(slots=True)
class VisibleCatalog:
    """A `Catalog` for one viewer and one request. The port documents the methods.

    `catalog` lists and counts only what is in the viewer's scope.
    """

    visible_ids: VisibleIds
    catalog: Catalog
    _versions: dict[int, int] = field(default_factory=dict)
    """Pseudonym of a version → the version, for versions read so far."""

    def reached(self) -> tuple[int, ...]:
        """Unchanged."""
        return self.catalog.reached()

    def namespaces(self, kind: Kind) -> Sequence[str]:
        """The namespaces that the viewer may read."""
        return [name for name in self.catalog.namespaces(kind) if self._reads(name)]

    def first_seen(self, kind: Kind, namespaces: Sequence[str]) -> Mapping[str, int]:
        """The namespaces that the viewer may read."""
        return self.catalog.first_seen(kind, [name for name in namespaces if self._reads(name)])

    def registered(self, kind: str) -> Sequence[Entry]:
        """Readable namespaces (and the sources of their names), and tags that are used in them."""
        shown = self._shown_registered()
        return [one for one in self.catalog.registered(kind) if shown(one.name)]

    def registered_facets(self, wanted: RegisteredFilter) -> Sequence[RegisteredFacet]:
        """What a gate records in readable repositories, without hidden nodes and free texts."""
        shown = self._shown_registered()
        return list_visible_records(self.catalog, wanted, shown, self.visible_ids.find_visible)

    def listed(self, kind: Kind, wanted: EntryFilter, window: Window) -> Sequence[Entry]:
        """The store leaves out hidden entries."""
        return self.catalog.listed(kind, wanted, window) if self._may_list(wanted.namespace) else ()

    def count(self, kind: Kind, wanted: EntryFilter) -> int:
        """The store leaves out hidden entries."""
        return self.catalog.count(kind, wanted) if self._may_list(wanted.namespace) else 0

    def entries(self, ids: Iterable[int]) -> Mapping[int, Entry]:
        """Visible entries only: a pseudonym has no entry."""
        found = self.catalog.entries(ids)
        shown = self._shown_registered()
        return {id_: one for id_, one in found.items() if self._sees(one.name) or shown(one.name)}

    def deleted(self, ids: Iterable[int]) -> frozenset[int]:
        """Visible entries only."""
        return self.catalog.deleted(self.entries(ids))

    def facets(self, ids: Iterable[int], names: Sequence[str] = ()) -> Mapping[int, Mapping[str, FacetRecord]]:
        """Facets with a known structure, without hidden fields."""
        visible = self._visible(ids)
        self.visible_ids.meet(visible)
        found = self.catalog.facets(visible, names)
        return {id_: self._facets(id_, facets) for id_, facets in found.items()}

    def find(self, sought: NameSearch, window: Window) -> tuple[Sequence[Entry], int]:
        """The store leaves out hidden entries."""
        return self.catalog.find(sought, window) if self._may_list(sought.namespace) else ((), 0)

    def tag_facets(self, at: int | None = None) -> Iterable[tuple[int, str]]:
        """Facets of visible entries, without the tags of hidden fields."""
        rows = dict(self.catalog.tag_facets(at))
        visible = self._visible(rows)
        self.visible_ids.meet(visible)
        return [(id_, shown_facet("tags", rows[id_], partial(self._field, id_)) or "") for id_ in visible]

    def carrying(self, facet: str) -> Sequence[int]:
        """Visible entries."""
        visible = self._visible(self.catalog.carrying(facet))
        self.visible_ids.meet(visible)
        return list(visible)

    def tags(self) -> Sequence[TagCount]:
        """Tags of visible entries."""
        uses = Counter[str]()
        for _, payload in self.tag_facets():
            uses.update({str(one["key"]) for one in tags_in(payload)})
        return [TagCount(name, uses[name]) for name in sorted(uses)]

    def tagged(self, tag: str, limit: int) -> Sequence[int]:
        """Visible entries only."""
        rows = sorted(self.tag_facets())
        return [id_ for id_, payload in rows if any(one["key"] == tag for one in tags_in(payload))][:limit]

    def runs(self, run_ids: Iterable[str]) -> Sequence[RunEntry]:
        """Runs of visible jobs only."""
        found = [one for one in self.catalog.runs(run_ids) if self._sees(one.name.job)]
        self.visible_ids.meet_runs(one.id for one in found)
        return found

    def runs_of(self, job_id: int, window: Window) -> Sequence[RunEntry]:
        """Runs of visible jobs only."""
        return self.catalog.runs_of(job_id, window) if self._visible([job_id]) else ()

    def count_runs(self, job_id: int) -> int:
        """Runs of visible jobs only."""
        return self.catalog.count_runs(job_id) if self._visible([job_id]) else 0

    def latest_runs(self, job_ids: Iterable[int], limit: int) -> Mapping[int, Sequence[RunEntry]]:
        """Runs of visible jobs only."""
        return self.catalog.latest_runs(self._visible(job_ids), limit)

    def run_facets(self, ids: Iterable[int], key: str = "") -> Mapping[int, Sequence[RunFacet]]:
        """Facets of visible runs that contain no names; no facets of their inputs and outputs."""
        found = self.catalog.run_facets(self._visible_runs(ids), key)
        return {id_: [one for one in some if not one.role and one.key in SHOWN_OF_RUNS] for id_, some in found.items()}

    def source_jobs(self, namespaces: Iterable[str], since: int, until: int) -> Sequence[SourceJob]:
        """Visible jobs only."""
        found = self.catalog.source_jobs(namespaces, since, until)
        visible = frozenset(self._visible([one.job_id for one in found]))
        return [one for one in found if one.job_id in visible]

    def capture_delays(self, ids: Iterable[int]) -> Mapping[int, int]:
        """Those of visible runs only."""
        return self.catalog.capture_delays(self._visible_runs(ids))

    def touched(self, ids: Iterable[int]) -> Mapping[int, RunDatasets]:
        """All inputs and outputs, as names or pseudonyms."""
        known = self.visible_ids.real(ids)
        found = self.catalog.touched(known.values())
        self.visible_ids.meet(id_ for one in found.values() for id_ in (*one.inputs, *one.outputs))
        return {id_: self._touched(found[real]) for id_, real in known.items() if real in found}

    def containers(self, ids: Iterable[int]) -> Mapping[int, RunName]:
        """The parents of visible runs; those of hidden jobs as pseudonyms."""
        found = self.catalog.containers(self._visible_runs(ids))
        self.visible_ids.meet_runs(node_id(one) for one in found.values())
        return {id_: self._run_name(one) for id_, one in found.items()}

    def last_writes(self, dataset_ids: Iterable[int]) -> Mapping[int, Write]:
        """All runs; those of hidden jobs as pseudonyms."""
        known = self.visible_ids.real(dataset_ids)
        found = self.catalog.last_writes(known.values())
        shown = self._writes(found.values())
        by_real = dict(zip(found, shown, strict=True))
        return {id_: by_real[real] for id_, real in known.items() if real in by_real}

    def last_write_times(self, dataset_ids: Iterable[int]) -> Mapping[int, int]:
        """Times of all runs."""
        known = self.visible_ids.real(dataset_ids)
        found = self.catalog.last_write_times(known.values())
        return {id_: found[real] for id_, real in known.items() if real in found}

    def writes(self, dataset_id: int, window: Window) -> Sequence[Write]:
        """All runs; those of hidden jobs as pseudonyms."""
        return self._writes(self.catalog.writes(dataset_id, window)) if self._visible([dataset_id]) else ()

    def writes_of_all(self, dataset_ids: Iterable[int], window: Window) -> Sequence[Write]:
        """All runs of visible datasets; those of hidden jobs as pseudonyms."""
        return self._writes(self.catalog.writes_of_all(self._visible(dataset_ids), window))

    def count_writes(self, dataset_id: int) -> int:
        """All runs are counted."""
        return self.catalog.count_writes(dataset_id) if self._visible([dataset_id]) else 0

    def write(self, dataset_id: int, run: int) -> Write | None:
        """The pseudonym of a run is resolved by searching all runs that wrote the dataset."""
        found = self.writes(dataset_id, Window(limit=_MOST_WRITES))
        return next((one for one in found if one.run.id == run), None)

    def schemas(self, dataset_ids: Iterable[int]) -> Mapping[int, Sequence[SchemaRecord]]:
        """Schemas of visible names; hidden fields are pseudonyms without a type, and so is the schema's hash."""
        visible = self._visible(dataset_ids)
        self.visible_ids.meet(visible)
        return {id_: [self._schema(id_, one) for one in some] for id_, some in self.catalog.schemas(visible).items()}

    def versions(self, job_id: int) -> Sequence[VersionRecord]:
        """Versions of visible jobs, as pseudonyms, since a version is a hash of names."""
        versions = self.catalog.versions(job_id) if self._visible([job_id]) else ()
        return [one._replace(version=self._version(one.version)) for one in versions]

    def members(self, versions: Iterable[int]) -> Mapping[int, RunDatasets]:
        """The members of versions read so far, as names or pseudonyms."""
        known = {one: self._versions[one] for one in versions if one in self._versions}
        found = self.catalog.members(known.values())
        self.visible_ids.meet(id_ for one in found.values() for id_ in (*one.inputs, *one.outputs))
        return {one: self._touched(found[real]) for one, real in known.items() if real in found}

    def events(self, period: EventFilter, window: Window) -> Sequence[EventEntry]:
        """The store leaves out events about hidden entries."""
        return self.catalog.events(period, window) if self._may_list(period.namespace) else ()

    def count_events(self, period: EventFilter) -> int:
        """The store leaves out events about hidden entries."""
        return self.catalog.count_events(period) if self._may_list(period.namespace) else 0

    def event(self, key: str) -> EventEntry | None:
        """Events about visible entries only."""
        return self._event(self.catalog.event(key))

    def declaration(self, job_id: int) -> EventEntry | None:
        """Events about visible entries only."""
        return self._event(self.catalog.declaration(job_id))

    def states(self, times: Sequence[tuple[int, int]]) -> Sequence[Mapping[RunState, int]]:
        """The store leaves out events about hidden entries."""
        return self.catalog.states(times)

    def known(self, kind: Kind, times: Sequence[int]) -> Sequence[int]:
        """The store leaves out hidden entries."""
        return self.catalog.known(kind, times)

    def registry(self, names: Iterable[DatasetName]) -> Mapping[DatasetName, Mapping[str, FacetRecord]]:
        """Facets with a known structure."""
        wanted = list(names)
        shown = self._shown_registered()
        found = self.catalog.registry([name for name in wanted if shown(name)])
        return {name: _plain(facets) for name, facets in found.items()}

    def _reads(self, namespace: str) -> bool:
        return namespace != REGISTRY and self.visible_ids.pseudonyms.viewer.is_allowed(Action.READ, namespace)

    def _may_list(self, namespace: str | None) -> bool:
        return namespace is None or self._reads(namespace)

    def _sees(self, name: DatasetName | JobName) -> bool:
        return self._reads(name.namespace)

    def _visible(self, ids: Iterable[int]) -> list[int]:
        found = self.catalog.entries([id_ for id_ in ids if kind_of(id_) in (Kind.DATASET, Kind.JOB)])
        return sorted(id_ for id_, one in found.items() if self._sees(one.name))

    def _visible_runs(self, ids: Iterable[int]) -> list[int]:
        known = self.visible_ids.real(ids)
        return [real for id_, real in known.items() if id_ == real and self.visible_ids.can_see(real)]

    def _field(self, dataset: int, text: str) -> str:
        return self.visible_ids.field(dataset, text) if kind_of(dataset) is Kind.DATASET else text

    def _facets(self, id_: int, facets: Mapping[str, FacetRecord]) -> Mapping[str, FacetRecord]:
        show = partial(self._field, id_)
        shown = {
            name: shown_schema(one.payload, show) if name == "schema" else shown_facet(name, one.payload, show)
            for name, one in facets.items()
        }
        return {name: FacetRecord(text, facets[name].time) for name, text in shown.items() if text is not None}

    def _schema(self, dataset: int, one: SchemaRecord) -> SchemaRecord:
        payload = shown_schema(one.payload, partial(self._field, dataset))
        return one._replace(body_id=self._number("schema", one.body_id), payload=payload)

    def _touched(self, one: RunDatasets) -> RunDatasets:
        inputs, outputs = (tuple(sorted(map(self.visible_ids.shown, some))) for some in (one.inputs, one.outputs))
        return RunDatasets(self._version(one.version), inputs, outputs)

    def _version(self, version: int) -> int:
        token = self._number("version", version) if version else 0
        self._versions[token] = version
        return token

    def _number(self, kind: str, of: int) -> int:
        return int(self.visible_ids.pseudonyms.text(kind, of), 16) & _INT

    def _writes(self, found: Iterable[Write]) -> list[Write]:
        several = list(found)
        self.visible_ids.meet_runs(one.run.id for one in several)
        self.visible_ids.meet(one.dataset_id for one in several)
        return [
            one._replace(dataset_id=self.visible_ids.shown(one.dataset_id), run=self._run(one.run)) for one in several
        ]

    def _run(self, run: RunEntry) -> RunEntry:
        name = self._run_name(run.name)
        return run._replace(id=node_id(name), name=name)

    def _run_name(self, name: RunName) -> RunName:
        known = self.visible_ids.runs.get(node_id(name))
        if known is not None:
            return known.name
        pseudonyms = self.visible_ids.pseudonyms
        return (
            name if self._sees(name.job) else RunName(pseudonyms.text("run", node_id(name)), pseudonyms.job(name.job))
        )

    def _event(self, found: EventEntry | None) -> EventEntry | None:
        if found is None or found.subject is None:
            return None
        about = found.subject.job if isinstance(found.subject, RunName) else found.subject
        return found if self._sees(about) else None

    def _shown_registered(self) -> Callable[[DatasetName | JobName], bool]:
        """Whether a dataset of the registry is visible; tags are looked up only when one is requested."""
        tags: set[str] | None = None

        def shown(name: DatasetName | JobName) -> bool:
            nonlocal tags
            if name.namespace != REGISTRY or not isinstance(name, DatasetName):
                return False
            if (namespace := namespace_of_registered(name)) != REGISTRY:
                return self._reads(namespace)
            tags = {one.name for one in self.tags()} if tags is None else tags
            return RegistryKind.TAG.name_in(name) in tags

        return shown


def _plain(facets: Mapping[str, FacetRecord]) -> Mapping[str, FacetRecord]:
    shown = {name: shown_facet(name, one.payload, str) for name, one in facets.items()}
    return {name: FacetRecord(text, facets[name].time) for name, text in shown.items() if text is not None}
