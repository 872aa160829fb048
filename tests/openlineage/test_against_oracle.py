"""The reader against the oracle: what one event says, read by two codes that share nothing but state.md."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

import oracle
from generators import arrivals, body, events, mutations
from oracle.canonical import canonical as oracle_canonical
from oracle.naming import normal as oracle_normal
from oracle.nodes import Node, text
from oracle.reading import micros as oracle_micros
from whence.derive.rows.sql_lineage import find_sql, read_sql
from whence.derive.rows.sql_selection import has_sql
from whence.errors import EventError
from whence.model.events import Dataset, DatasetEvent, Event, Facet, JobEvent, RunEvent, RunState
from whence.model.names import FieldName, RunName
from whence.openlineage.accept import Accepted, accept
from whence.openlineage.facets.facet_keys import SQL_COMPARISON, SQL_LINEAGE
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.openlineage.json.times import parse_micros
from whence.openlineage.json.wire import encode_canonical
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.names.naming import normalise

Written = set[tuple[str, str, str | None, str, str]]
"""Facets: (subject, role, dataset, key, canonical payload or empty)."""


@given(event=events)
def test_the_reader_reads_what_the_oracle_reads(event: dict[str, object]) -> None:
    assert_read_alike(accept(body(event)))


def test_what_is_accepted_of_mutated_bodies_is_read_alike() -> None:
    accepted = [one for one in map(_accepted, mutations(seed=1, n=20_000)) if one]
    assert len(accepted) > 1_000
    for one in accepted:
        assert_read_alike(one)


def _accepted(mutated: bytes) -> Accepted | None:
    try:
        return accept(mutated)
    except EventError:
        return None


def assert_read_alike(accepted: Accepted) -> None:
    reading, read = oracle.read(accepted.payload), accepted.event
    assert accepted.key == reading.key
    assert (type(read).__name__, read.time) == (f"{reading.kind.title()}Event", reading.time)
    assert read.producer == reading.producer
    assert _declared(read) == {text(one) for one in reading.declared}
    assert _aliases(read) == {(text(dataset), text(alias), kind) for dataset, alias, kind in reading.aliases}
    assert _sets(read) == _oracle_sets(reading)
    facets = {_facet(one) for one in reading.facets}
    assert _facets(read) == {
        one for one in facets if one[3] not in (SQL_LINEAGE, SQL_COMPARISON, *TAG_FACETS[1:])
    }  # derive's own
    if isinstance(read, RunEvent):
        assert (read.state, read.job.streaming, read.run.partial) == (reading.state, reading.streaming, reading.partial)
        assert _run(read.run.name) == text(reading.subject)
        containers = {("parent", read.run.parent), ("root", read.run.root)}
        assert {(how, _run(run)) for how, run in containers if run} == {
            (how, text(run)) for how, run in reading.containers
        }


@given(data=st.data(), event=events)
def test_one_event_written_in_any_way_is_one_event(data: st.DataObject, event: dict[str, object]) -> None:
    (first, *others) = [accept(one) for batch in data.draw(arrivals([event, event])) for one in batch]
    assert {(other.key, other.event, other.warnings) for other in others} == {(first.key, first.event, first.warnings)}


schemes = st.sampled_from(["s3", "s3a", "abfs", "wasb", "file", "postgres", "mysql", "kafka", "hdfs", "S3", "x", ""])
pieces = st.sampled_from(
    ["://", "/", "//", ":", ":None", ":5432", "@", "u:p@", "host", "[::1]", "a,b", "?", " ", "é", "%2F", "."]
)
hostile = st.tuples(schemes, st.sampled_from(["", "://"]), st.lists(pieces, max_size=6)).map(
    lambda some: some[0] + some[1] + "".join(some[2])
)


@given(namespace=hostile, name=hostile)
def test_names_have_the_oracles_normal_form(namespace: str, name: str) -> None:
    normal = normalise(namespace, name)
    assert (normal.namespace, normal.name) == oracle_normal(namespace, name)
    assert normalise(normal.namespace, normal.name) == normal


@given(
    moment=st.datetimes(min_value=datetime(1000, 1, 1)),
    written=st.sampled_from(
        ["%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dt%H:%M", "%Y-%m-%dT%H:%M:%S,%f789", "%Y-%m-%d"]
    ),
    offset=st.sampled_from(["", "Z", "z", "+02:00", "-0930", "+14", " +00:30"]),
)
def test_times_are_the_oracles(moment: datetime, written: str, offset: str) -> None:
    text = f"{moment:{written}}" + (offset if "H" in written else "")
    assert parse_micros(text)[0] == oracle_micros(text)


@given(value=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1) | st.text())
def test_values_have_the_oracles_canonical_form(value: float | str) -> None:
    assert encode_canonical([value, {"b": value, "a": value}]).decode() == oracle_canonical(
        [value, {"b": value, "a": value}]
    )


def test_states_have_the_oracles_values() -> None:
    assert [state.name for state in sorted(RunState)] == list(oracle.STATES)


def _described(event: Event) -> tuple[Dataset, ...]:
    match event:
        case DatasetEvent(dataset=dataset):
            return (dataset,)
        case JobEvent(dataset=dataset):
            return (*event.inputs, *event.outputs, *([dataset] if dataset else []))
        case RunEvent():
            return (*event.inputs, *event.outputs)


def _declared(event: Event) -> set[str]:
    return {str(FieldName(one.name, column.name)) for one in _described(event) for column in one.fields}


def _aliases(event: Event) -> set[tuple[str, str, str]]:
    return {(str(one.name), str(link.name), link.type) for one in _described(event) for link in one.symlinks}


def _sets(event: Event) -> list[tuple[object, ...]]:
    sql = find_sql(event) if has_sql(event) else None
    read = read_sql(sql) if sql else None
    sets = derive_lineage_sets(
        event, read.outputs if read else None, only_defines=read is not None and read.only_defines
    )
    edges = [
        [(str(one.source), str(one.target), one.type, one.subtype, one.masking, one.description) for one in some.edges]
        for some in sets
    ]
    heads = [(str(one.output or ""), one.level.value, one.origin.value) for one in sets]
    return sorted((*head, some) for head, some in zip(heads, edges, strict=True))


def _oracle_sets(reading: oracle.Reading) -> list[tuple[object, ...]]:
    return sorted(
        (
            text(output) if output else "",
            level,
            origin,
            sorted(
                (text(source), text(target), kind, how, mask == "masked", description)
                for source, target, kind, how, mask, description in edges
            ),
        )
        for output, level, origin, edges in reading.sets
    )


def _facets(event: Event) -> Written:
    written = {fact for one in _described(event) for fact in _of(str(one.name), one.facets)}
    if not isinstance(event, DatasetEvent):
        written |= _of(str(event.job.name), event.job.facets)
    if isinstance(event, RunEvent):
        run = _run(event.run.name)
        written |= _of(run, event.run.facets)
        for role, datasets in (("input", event.inputs), ("output", event.outputs)):
            for one in datasets:
                written |= _of(run, one.run_facets, role, str(one.name))
    return written


def _of(subject: str, facets: tuple[Facet, ...], role: str = "", dataset: str | None = None) -> Written:
    return {(subject, role, dataset, one.key, "" if one.deleted else one.payload) for one in facets}


def _facet(one: tuple[Node, str, Node | None, str, str]) -> tuple[str, str, str | None, str, str]:
    subject, role, dataset, key, payload = one
    return text(subject), role, text(dataset) if dataset else None, key, payload


def _run(run: RunName) -> str:
    return f"{run}@{run.job}"
