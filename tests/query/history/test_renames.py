"""A renamed column or table is reported as renamed where lineage shows it, and nowhere else."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.history.test_upstream_changes import ask
from query.worlds.revenue_story import HOSTILE, HOUR, job, table
from whence.capture.table_versions.events import record_event
from whence.capture.table_versions.records import TableColumns
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.query.diagnosis.change_texts import change_text
from whence.query.history.changes.values import Change, ChangeKind, Part, UpstreamChanges
from whence_client.events.datasets import Dataset, Field

FX, RATES, BOARD = table("prod", "raw.fx"), table("prod", "silver.rates"), table("prod", "gold.board")
LOAD, BUILD, DRAW = job("prod", "load"), job("prod", HOSTILE), job("prod", "draw")
IDENTITY, SUM = ("IDENTITY", ""), ("TRANSFORMATION", "rate * 2")


def ran(
    of: JobName,
    hour: int,
    columns: Mapping[str, str],
    to: DatasetName,
    edges: Mapping[str, tuple[FieldName, tuple[str, str]]],
    **facets: Any,
) -> bytes:
    """A run that writes columns, each of a source by a transformation (subtype and expression)."""
    lineage = column_lineage(
        Edge(source=source, target=FieldName(to, name), type="DIRECT", subtype=kind, description=text)
        for name, (source, (kind, text)) in edges.items()
    )
    fields = [{"name": name, "type": type_} for name, type_ in columns.items()]
    shown = {"schema": facet("SchemaDatasetFacet", fields=fields), "columnLineage": lineage}
    inputs = [dataset(one) for one in sorted({source.dataset for source, _ in edges.values()})]
    run = RunName(f"0189{crc32(str(to).encode()) % 10_000:04d}-0000-7000-8000-{hour:012d}", of)
    event = run_event(hour * HOUR, RunState.COMPLETE, run, inputs=inputs, outputs=[dataset(to, facets=shown | facets)])
    return json.dumps(event).encode()


def of(name: str, by: tuple[str, str] = IDENTITY) -> tuple[FieldName, tuple[str, str]]:
    return FieldName(FX, name), by


def schema_parts(found: UpstreamChanges) -> list[tuple[str, str, str]]:
    parts = [part for one in found.changes if one.kind is ChangeKind.SCHEMA for part in one.parts]
    return [(part.change.value, part.name, part.before) for part in parts]


def rates(hour: int, columns: Mapping[str, tuple[str, tuple[str, str]]], to: DatasetName = RATES) -> bytes:
    return ran(BUILD, hour, dict.fromkeys(columns, "double"), to, {name: of(*made) for name, made in columns.items()})


def drawn(hour: int, column: str) -> bytes:
    return ran(DRAW, hour, {"total": "double"}, BOARD, {"total": (FieldName(RATES, column), IDENTITY)})


def test_a_column_of_the_same_value_under_another_name_is_a_rename(store: Engine) -> None:
    """In production only; staging has both columns before and after."""
    staging = table("staging", RATES.name)
    both = {"usd": ("rate", SUM), "usd_rate": ("rate", SUM), "day": ("day", IDENTITY)}
    apply_bodies(
        store,
        [
            rates(1, {"usd": ("rate", SUM), "day": ("day", IDENTITY)}),
            drawn(2, "usd"),
            rates(11, {"usd_rate": ("rate", SUM), "day": ("day", IDENTITY)}),
            drawn(12, "usd_rate"),
            rates(1, both, staging),
            rates(11, both, staging),
        ],
    )
    assert schema_parts(ask(store, BOARD)) == [("renamed", "usd_rate", "usd")]
    found = ask(store, FieldName(BOARD, "total"))
    (one,) = [each for each in found.changes if each.kind is ChangeKind.SCHEMA]
    assert (one.node, one.change) == (FieldName(RATES, "usd_rate"), Change.RENAMED)
    assert one.parts == (Part(change=Change.RENAMED, name="usd_rate", before="usd", after="usd_rate"),)
    assert change_text(one) == "column usd_rate was renamed from usd"
    assert ask(store, staging).changes == ()


def test_a_rename_that_lineage_does_not_show_is_not_reported(store: Engine) -> None:
    """Two new columns of one value; an expression that nobody reported; and another type."""
    unknown = ("TRANSFORMATION", "")
    apply_bodies(
        store,
        [
            rates(1, {"old": ("rate", SUM), "x": ("rate", unknown)}),
            rates(11, {"new": ("rate", SUM), "newer": ("rate", SUM), "y": ("rate", unknown)}),
            ran(BUILD, 1, {"a": "int"}, BOARD, {"a": of("rate")}),
            ran(BUILD, 11, {"b": "text"}, BOARD, {"b": of("rate")}),
        ],
    )
    assert {change for change, _, _ in schema_parts(ask(store, RATES))} == {"added", "removed"}
    assert schema_parts(ask(store, BOARD)) == [("removed", "a", "int"), ("added", "b", "")]


def test_the_new_column_beside_the_only_one_that_is_gone_is_shown_to_its_readers(store: Engine) -> None:
    """Nobody reports what a source is made of. A reader of the old name does not read the new one."""
    apply_bodies(
        store,
        [
            ran(LOAD, 1, {"rate": "double", "day": "date"}, FX, {}),
            rates(2, {"usd": ("rate", SUM)}),
            ran(LOAD, 11, {"usd_rate": "double", "day": "date"}, FX, {}),
        ],
    )
    assert schema_parts(ask(store, FieldName(RATES, "usd"))) == [
        ("removed", "rate", "double"),
        ("added", "usd_rate", ""),
    ]


def columns_event(
    table_: DatasetName, names: tuple[str, ...], renames: tuple[tuple[str, str], ...], hour: int
) -> bytes:
    record = TableColumns(
        table=Dataset(table_.namespace, table_.name),
        at=datetime.fromtimestamp(hour * 3_600, UTC),
        fields=tuple(Field(name, "double", "", ()) for name in names),
        renames=renames,
    )
    return json.dumps(record_event(record)).encode()


def test_iceberg_reports_which_column_was_renamed(store: Engine) -> None:
    """Two columns swap places with two new ones: only the ids of the columns say which is which."""
    apply_bodies(
        store,
        [
            columns_event(FX, ("a", "b"), (), 1),
            columns_event(FX, ("c", "d"), (("a", "d"), ("b", "c")), 11),
        ],
    )
    assert schema_parts(ask(store, FX)) == [("renamed", "c", "b"), ("renamed", "d", "a")]


def test_a_renamed_table_is_reported_as_one_change_and_not_by_its_columns(store: Engine) -> None:
    old = table("prod", "silver.rates_old")
    renamed = facet(
        "LifecycleStateChangeDatasetFacet",
        lifecycleStateChange="RENAME",
        previousIdentifier={"namespace": old.namespace, "name": old.name},
    )
    apply_bodies(
        store,
        [
            rates(1, {"usd": ("rate", SUM)}, old),
            ran(LOAD, 11, {"usd": "double"}, RATES, {}, lifecycleStateChange=renamed),
        ],
    )
    entries = [one for one in ask(store, RATES).changes if one.kind is ChangeKind.LINEAGE and one.node == RATES]
    assert [(one.change, one.parts) for one in entries] == [(Change.RENAMED, (Part(change=Change.RENAMED, end=old),))]
    viewer = Viewer(name="user:ada", grants=(Grant(Role.READER, RATES.namespace),))
    (seen,) = [one for one in ask(store, RATES, viewer=viewer).changes if one.change is Change.RENAMED]
    assert seen.parts == entries[0].parts
