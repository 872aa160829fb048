"""What SQL lineage is in an event, as the collector reads it back."""

import json
from dataclasses import replace
from typing import Any

import pytest

from whence.capture.sql import RESULT, Catalog, ScriptLineage, Table, read_script
from whence.capture.sql.events.events import EVIDENCE, SqlFacts, sql_facts
from whence.capture.sql.events.naming import Naming
from whence.model.events import RunEvent, RunState
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.write import dataset, run_event

RUN = RunName("01941f29-7c00-7abc-8def-000000000001", JobName("n", "j"))
NAMING = Naming(namespace="pg", defaults=("shop", "public"), hidden=frozenset({"pg_catalog"}))
CATALOG = Catalog.from_columns({"a": ("k", "x"), "b": ("k", "y"), "t": ("k", "n")}, "postgres")


def facts(text: str, catalog: Catalog = CATALOG, naming: Naming = NAMING) -> SqlFacts:
    return sql_facts(text, "postgres", read_script(text, "postgres", catalog), naming)


def event(found: SqlFacts) -> Any:
    written = run_event(
        0,
        RunState.COMPLETE,
        RUN,
        run_facets=found.run_facets,
        job_facets=found.job_facets,
        inputs=[dataset(one) for one in found.inputs],
        outputs=[dataset(one, facets=facets) for one, facets in found.outputs.items()],
    )
    accepted = accept(json.dumps(written).encode(), strict=True)
    assert accepted.warnings == ()
    return accepted.event


def edges(found: SqlFacts) -> set[str]:
    """All edges between datasets and fields that follow from the event."""
    return {
        f"{_end(edge.target)} {edge.type} {_end(edge.source)}"
        for lineage_set in derive_lineage_sets(event(found))
        for edge in lineage_set.edges
        if not isinstance(edge.source, JobName) and not isinstance(edge.target, JobName)
    }


def _end(node: Any) -> str:
    return f"{node.dataset.name}.{node.field}" if isinstance(node, FieldName) else str(node.name)


def test_columns_and_what_decides_on_rows() -> None:
    found = facts("insert into t (k, n) select a.k, b.y from a join b on a.k = b.k")
    assert edges(found) == {
        "shop.public.t.k DIRECT shop.public.a.k",
        "shop.public.t.n DIRECT shop.public.b.y",
        "shop.public.t INDIRECT shop.public.a.k",
        "shop.public.t INDIRECT shop.public.b.k",
        "shop.public.t DIRECT shop.public.a",
        "shop.public.t DIRECT shop.public.b",
        "shop.public.t INDIRECT shop.public.a",
        "shop.public.t INDIRECT shop.public.b",
    }
    assert "lineage" not in found.job_facets
    assert found.job_facets["sql"]["dialect"] == "postgres"
    assert found.direct == {DatasetName("pg", "shop.public.t"): frozenset({"k", "n"})}


def test_a_table_of_which_no_column_is_read_is_not_lost() -> None:
    found = facts("insert into t (k, n) select a.k, (select count(*) from b) from a")
    assert edges(found) == {
        "shop.public.t.k DIRECT shop.public.a.k",
        "shop.public.t DIRECT shop.public.a",
        "shop.public.t UNKNOWN shop.public.b",
    }
    assert set(found.outputs[DatasetName("pg", "shop.public.t")]["columnLineage"]["fields"]) == {"k"}


def test_temporary_tables_are_folded_away() -> None:
    found = facts("create temp table w as select k, x from a where x > 1;\ninsert into t (k) select k from w;")
    assert [one.name for one in found.inputs] == ["shop.public.a"]
    assert [output.name for output in found.outputs] == ["shop.public.t"]
    assert "shop.public.t.k DIRECT shop.public.a.k" in edges(found)


def test_what_is_not_known_is_said_with_its_place() -> None:
    found = facts("insert into t (k) select k from a;\ninsert into t (k)\n  select zz from a;\nselect from where ((")
    error = found.run_facets["extractionError"]
    assert (error["totalTasks"], error["failedTasks"]) == (3, 2)
    assert error["errors"][0]["errorMessage"] == "column_not_found: zz (line 3, column 10)"
    assert error["errors"][0]["taskNumber"] == 1
    assert error["errors"][-1]["taskNumber"] == 2
    read = event(found)
    assert isinstance(read, RunEvent)
    assert read.run.partial


def test_doubts_are_listed_beside_the_lineage() -> None:
    naming = Naming(namespace="pg")
    sure = facts("insert into t (k) select k from a", naming=naming).outputs[DatasetName("pg", "t")]
    assert sure[EVIDENCE]["doubts"] == []
    guessed = facts("insert into t (k) select v from c join d on true", Catalog(tables={}), naming)
    doubts = guessed.outputs[DatasetName("pg", "t")][EVIDENCE]["doubts"]
    assert {(doubt["field"], doubt["name"], doubt["inputField"]) for doubt in doubts} == {
        ("k", "c", "v"),
        ("k", "d", "v"),
    }
    assert all(0 < doubt["confidence"] < 1 and doubt["reason"] for doubt in doubts)


def test_the_result_of_a_select_is_a_dataset_if_it_is_named() -> None:
    text = "select k from a"
    assert facts(text).outputs == {}
    read = read_script(text, "postgres", CATALOG)
    (one,) = read.statements
    kept = ScriptLineage((replace(one, writes=(RESULT,)),), read.collapsed)
    view = DatasetName("pg", "shop.public.v")
    named = sql_facts(text, "postgres", kept, Naming(namespace="pg", defaults=("shop", "public"), own={RESULT: view}))
    assert edges(named) == {"shop.public.v.k DIRECT shop.public.a.k", "shop.public.v DIRECT shop.public.a"}


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("orders",), ("pg", "shop.public.orders")),
        (("crm", "orders"), ("pg", "shop.crm.orders")),
        (("x", "crm", "orders"), ("pg", "x.crm.orders")),
        (("s3://lake/raw/a.csv",), ("s3://lake", "raw/a.csv")),
        (("/data/a.csv",), ("file", "/data/a.csv")),
        (("pg_catalog", "pg_class"), None),
    ],
)
def test_names(parts: tuple[str, ...], name: tuple[str, str] | None) -> None:
    assert NAMING.dataset(Table(parts)) == (DatasetName(*name) if name else None)


def test_a_part_that_is_not_known_is_left_out() -> None:
    naming = Naming(namespace="bigquery", defaults=("acme", ""))
    assert naming.dataset(Table(("shop", "orders"))) == DatasetName("bigquery", "acme.shop.orders")
    assert naming.dataset(Table(("orders",))) == DatasetName("bigquery", "acme.orders")


def test_a_star_of_unknown_columns_is_no_column() -> None:
    found = facts("create table made as select * from unknown_one")
    assert edges(found) == {"shop.public.made UNKNOWN shop.public.unknown_one"}
    assert "star_not_expanded: unknown_one" in str(found.run_facets)


def test_beside_columns_a_star_says_that_the_whole_dataset_flows() -> None:
    found = facts("create table made as select *, n + 1 as m from unknown_one where k > 0")
    source, target = "shop.public.unknown_one", "shop.public.made"
    assert edges(found) == {
        f"{target} DIRECT {source}",
        f"{target}.m DIRECT {source}.n",
        f"{target} INDIRECT {source}.k",
        f"{target} INDIRECT {source}",
    }
    assert found.direct == {DatasetName("pg", target): frozenset({"m"})}


def test_columns_listed_over_a_star_have_no_source_of_their_own() -> None:
    found = facts("insert into t (k, n) select * from unknown_one")
    assert edges(found) == {"shop.public.t UNKNOWN shop.public.unknown_one"}
    assert found.direct == {DatasetName("pg", "shop.public.t"): frozenset()}
