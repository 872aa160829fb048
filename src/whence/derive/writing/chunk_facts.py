"""Stage 2, rows: what a chunk of readings says, as rows of every fact table. Rows that many events repeat are added
once for all of them (`repeated_facts.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from whence.derive.reading.flat_event import FlatEvent, encode_warnings, kind_of, state_of
from whence.derive.reading.record import Reading
from whence.derive.rows.repeated_rows import RepeatedRows
from whence.derive.writing.repeated_facts import Assertions, Stamp, expand
from whence.model.events import RunEvent, RunState
from whence.model.ids import hash64
from whence.store.ingest.facts import FacetKey, Pair
from whence.store.schema.dirty_keys import DirtyKey
from whence.store.schema.merge import Row
from whence.store.schema.packed import SchemaContent, SetContent, unpack_schema, unpack_set


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """The rows of a chunk of readings, and the content that some of them refer to: packed, and unpacked on request."""

    tables: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    set_contents: dict[int, bytes] = field(default_factory=dict)
    schema_contents: dict[Pair, bytes] = field(default_factory=dict)
    facet_payloads: dict[FacetKey, str] = field(default_factory=dict)

    def rows(self, table: str) -> list[Row]:
        return self.tables[table]

    def sets(self, ids: AbstractSet[int]) -> Mapping[int, SetContent]:
        return {id_: unpack_set(self.set_contents[id_]) for id_ in ids}

    def schemas(self, keys: AbstractSet[Pair]) -> Mapping[Pair, SchemaContent]:
        return {key: unpack_schema(self.schema_contents[key]) for key in keys}

    def payloads(self, keys: AbstractSet[FacetKey]) -> Mapping[FacetKey, str]:
        return {key: self.facet_payloads[key] for key in keys & self.facet_payloads.keys()}


def collect_facts(readings: Iterable[Reading]) -> ChunkFacts:
    """Collect the rows of all tables. Duplicates need no care: every merge is idempotent, and of the positions of one
    event the ledger keeps the least.
    """
    facts = ChunkFacts()
    asserted: dict[RepeatedRows, Assertions] = {}
    for reading in readings:
        match reading.content:
            case FlatEvent() as flat:
                _add_event(facts, reading, flat)
                _add_assertion(asserted, flat.repeated, _stamp(reading, flat))
            case reason:
                facts.tables["receipt"].append((reading.position, reading.event_id, reading.rest, reason or ""))
    for assertions in asserted.values():
        _add_repeated(facts, assertions)
    return facts


def _add_assertion(asserted: dict[RepeatedRows, Assertions], rows: RepeatedRows, stamp: Stamp) -> None:
    known = asserted.get(rows)
    if known is None:
        asserted[rows] = Assertions.by(rows, stamp)
    else:
        known.add(stamp)


def _stamp(reading: Reading, flat: FlatEvent) -> Stamp:
    return flat.event.time, state_of(flat.event).rank, reading.event_id


def _add_repeated(facts: ChunkFacts, assertions: Assertions) -> None:
    for table, row in expand(assertions):
        facts.tables[table].append(row)
    rows = assertions.rows
    facts.set_contents.update((id_, content) for id_, *_, content in rows.sets)
    facts.schema_contents.update(((dataset, body), content) for dataset, body, content in rows.schemas)
    facts.facet_payloads.update(((subject, name, body), payload) for subject, name, body, payload in rows.facets)


def _add_event(facts: ChunkFacts, reading: Reading, flat: FlatEvent) -> None:
    _add_ledger(facts, reading, flat)
    facts.tables["job"] += [(*name, flat.event.time, flat.event.time) for name in flat.jobs]
    _add_run(facts, flat)
    _add_facets(facts, reading, flat)
    _add_lineage(facts, reading, flat)


def _add_ledger(facts: ChunkFacts, reading: Reading, flat: FlatEvent) -> None:
    event = flat.event
    producer = hash64(event.producer)
    facts.tables["producer"].append((producer, event.producer))
    facts.tables["event"].append(
        (
            reading.event_id,
            reading.rest,
            int(kind_of(event)),
            event.time,
            producer,
            int(state_of(event)),
            flat.subject,
            encode_warnings(event),
            reading.position,
        )
    )


_NEVER_SEEN = (-1, 0, 0, *(None,) * 6, 0, 0, 0)
"""The state of a run that only another's event names as its container."""


def _add_run(facts: ChunkFacts, flat: FlatEvent) -> None:
    event = flat.event
    if flat.run is None or not isinstance(event, RunEvent):
        return
    run, _, job = flat.run
    tables = facts.tables
    tables["run"].append((*flat.run, *_run_state(event)))
    tables["dirty_key"].append((job, int(DirtyKey.RUN), run))
    for container, run_id, container_job, relation in flat.containers:
        tables["run"].append((container, run_id, container_job, *_NEVER_SEEN))
        tables["containment"].append((run, container, relation))


def _run_state(event: RunEvent) -> Row:
    """The columns that decide a run's state (state.md, "Run state"), from its rank to its end bits."""
    state, time = event.state, event.time
    started = time if state is RunState.START else None
    aborted = time if state is RunState.ABORT else None
    failed = time if state is RunState.FAIL else None
    ends = 1 << state if state >= RunState.COMPLETE else 0
    flags = (int(event.job.streaming), int(event.run.partial), ends)
    return state.rank, time, int(state), started, started, aborted, failed, time, time, *flags


def _add_facets(facts: ChunkFacts, reading: Reading, flat: FlatEvent) -> None:
    asserted = _stamp(reading, flat)
    for subject, name, body, payload in flat.facets:
        facts.tables["facet"].append((subject, name, *asserted, body))
        facts.facet_payloads[subject, name, body] = payload
    if flat.run is not None:
        for packed in flat.run_facets:
            template = packed.template
            facts.tables["facet_template"].append((template.id, template.content))
            row = (flat.run[0], template.shape, *asserted, template.id, packed.variables)
            facts.tables["run_facets"].append(row)
    source = reading.event_id if flat.run is None else flat.run[0]
    facts.tables["measurement"] += [(source, *which, *asserted, content) for *which, content in flat.measurements]
    facts.tables["checked_dataset"] += [(*one, flat.event.time) for one in flat.checked_datasets]


def _add_lineage(facts: ChunkFacts, reading: Reading, flat: FlatEvent) -> None:
    """Who asserted the lineage sets: a run, if there are any, or a declaration, which may assert none."""
    time, event = flat.event.time, reading.event_id
    tables, version = facts.tables, flat.repeated.version
    if flat.run is not None and version:
        tables["run_lineage"].append((flat.run[0], version, time, event))
    if flat.declarer is not None:
        tables["declaration"].append((event, flat.declarer, time, version, int(flat.ends)))
        tables["dirty_key"].append((flat.declarer, int(DirtyKey.DECLARATION), event))
