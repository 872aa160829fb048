"""`whence gate model` and `whence gate job`: over a store and over a server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from api.process import Api
from cli.gate.conftest import NOW, WAREHOUSE
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.govern.assertions import set_contract
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset, dataset_event, facet, run_event
from whence.store.connection.engine import sqlite_url

RAW, CLEAN, FEATURES, MODEL, MADE_UP = (
    DatasetName(WAREHOUSE, f"shop.{name}") for name in ("raw", "clean", "features", "model", "made_up")
)


def run(job: str, inputs: list[Json], outputs: list[Json], number: int = 1) -> bytes:
    name = RunName(f"0b5ba1e0-0000-4000-8000-{number:012}", JobName("prod", job))
    event = run_event(NOW + number, RunState.COMPLETE, name, inputs=inputs, outputs=outputs)
    return json.dumps(event).encode()


def table(name: DatasetName, *columns: str, of: dict[str, tuple[DatasetName, str]] | None = None) -> Json:
    """A dataset with its schema, and the sources of its columns."""
    facets = {"schema": facet("SchemaDatasetFacet", fields=[{"name": one, "type": "int"} for one in columns])}
    if of:
        fields = {
            column: {
                "inputFields": [
                    {
                        "namespace": source.namespace,
                        "name": source.name,
                        "field": field,
                        "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                    }
                ]
            }
            for column, (source, field) in of.items()
        }
        facets["columnLineage"] = facet("ColumnLineageDatasetFacet", fields=fields)
    return dataset(name, facets=facets)


def checked(name: DatasetName, *, held: bool, severity: str = "error") -> Json:
    entry = {"assertion": "not_null", "column": "a", "success": held, "severity": severity}
    checks = facet("DataQualityAssertionsDatasetFacet", assertions=[entry])
    return dataset(name, inputFacets={"dataQualityAssertions": checks})


def certified(name: DatasetName) -> bytes:
    tags = facet("TagsDatasetFacet", tags=[{"key": "certified", "value": "true", "source": "USER"}])
    event = {
        "eventTime": "2026-11-20T06:00:00Z",
        "producer": "https://shop.example",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": dataset(name, facets={"tags": tags}),
    }
    return json.dumps(event).encode()


LINEAGE = (
    run("clean", [table(RAW, "a", "b")], [table(CLEAN, "a", "b", of={"a": (RAW, "a"), "b": (RAW, "b")})], 1),
    run(
        "features",
        [table(CLEAN, "a", "b")],
        [table(FEATURES, "x", "y", of={"x": (CLEAN, "a"), "y": (CLEAN, "b")})],
        2,
    ),
    run("train", [table(FEATURES, "x", "y")], [dataset(MODEL)], 3),
    run("invent", [], [table(MADE_UP, "x")], 4),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Engine]:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    apply_bodies(engine, LINEAGE)
    yield engine
    engine.dispose()


def add(engine: Engine, events: list[bytes]) -> None:
    """Events behind those of the fixture."""
    apply_bodies(engine, events, first=100)


def whence(*arguments: str, where: Engine | str) -> Result:
    target = ("--url", where) if isinstance(where, str) else ("--store", str(where.url))
    return CliRunner().invoke(app, ["gate", *arguments, *target], env={"WHENCE_URL": None, "WHENCE_DATA": None})


def judged(*arguments: str, where: Engine | str, code: int) -> dict[str, Any]:
    result = whence(*arguments, "-o", "json", where=where)
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def criteria(found: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    return [(one["criterion"], one["verdict"], one["nodes"]) for one in found["findings"]]


def test_a_model_of_which_every_column_is_known_passes(store: Engine) -> None:
    found = judged("model", "shop.model", where=store, code=0)
    assert (found["verdict"], found["coverage"], found["explained_columns"]) == ("pass", 1.0, 4)
    assert (found["node"], found["inputs"], found["findings"]) == (str(MODEL), [str(FEATURES)], [])


def test_a_job_that_does_not_report_a_column_lowers_the_coverage(store: Engine) -> None:
    one_column = table(FEATURES, "x", "y", of={"x": (CLEAN, "a")})
    add(store, [run("features", [table(CLEAN, "a", "b")], [one_column], 5)])
    found = judged("job", "train", where=store, code=5)
    assert criteria(found) == [("coverage", "blocked", [f"datasetField:{WAREHOUSE}:shop.features:y"])]
    assert (found["explained_columns"], found["unexplained_columns"]) == (2, 1)
    assert found["findings"][0]["text"] == ("the sources of 66.7% of the columns upstream are known, less than 95%")


def test_the_threshold_is_that_of_the_rules(store: Engine, tmp_path: Path) -> None:
    one_column = table(FEATURES, "x", "y", of={"x": (CLEAN, "a")})
    add(store, [run("features", [table(CLEAN, "a", "b")], [one_column], 5)])
    rules = tmp_path / "gate.yaml"
    rules.write_text("promotion:\n  coverage: 60\n")
    assert judged("job", "train", "--rules", str(rules), where=store, code=0)["verdict"] == "pass"
    rules.write_text("promotion:\n  covrage: 60\n")
    result = whence("job", "train", "--rules", str(rules), where=store)
    assert (result.exit_code, "gate.yaml:2" in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(("held", "severity", "code"), [(False, "error", 5), (False, "warn", 0), (True, "error", 0)])
def test_a_check_that_failed_upstream_blocks(store: Engine, held: bool, severity: str, code: int) -> None:
    add(store, [run("checks", [checked(RAW, held=held, severity=severity)], [], 6)])
    found = judged("model", "shop.model", where=store, code=code)
    raw = f"datasetField:{WAREHOUSE}:shop.raw:a"
    assert criteria(found) == ([("violation", "blocked", [raw])] if code else [])


def test_a_check_that_holds_again_blocks_no_more(store: Engine) -> None:
    add(store, [run("checks", [checked(RAW, held=held)], [], 6 + held) for held in (True, False)])
    assert judged("model", "shop.model", where=store, code=0)["findings"] == []


def contracted(name: DatasetName, *columns: str) -> bytes:
    """The event that applies a contract, of columns that are whole numbers."""
    listed = [{"name": one, "logicalType": "integer"} for one in columns]
    facets = set_contract("1.0.0", id="shop", columns=listed)
    return json.dumps(dataset_event(NOW + 7, name, facets=dict(facets))).encode()


def test_a_contract_that_is_violated_upstream_blocks(store: Engine) -> None:
    add(store, [contracted(CLEAN, "a", "b")])
    assert judged("model", "shop.model", where=store, code=0)["findings"] == []
    apply_bodies(store, [contracted(RAW, "a", "gone")], first=200)
    result = whence("job", "train", where=store)
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (
        5,
        [
            "  blocked  violation: the contract shop 1.0.0 upstream is violated: integer is promised, not reported",
            "    shop.raw.gone",
        ],
    )


def test_inputs_must_be_certified_if_that_is_asked(store: Engine) -> None:
    found = judged("model", "shop.model", "--certified-inputs", where=store, code=5)
    assert criteria(found) == [("certified-inputs", "blocked", [str(FEATURES)])]
    add(store, [certified(FEATURES)])
    assert judged("model", "shop.model", "--certified-inputs", where=store, code=0)["verdict"] == "pass"


def test_an_output_without_input_is_an_orphan(store: Engine) -> None:
    assert ("orphan", "blocked", [str(MADE_UP)]) in criteria(judged("job", "invent", where=store, code=5))
    assert ("orphan", "blocked", [str(RAW)]) in criteria(judged("model", "shop.raw", where=store, code=5))


def test_a_table_of_which_no_run_reports_the_schema_says_what_to_report(store: Engine) -> None:
    """As a model of dbt without a catalog, even if the sources of its columns are known."""
    bare = DatasetName(WAREHOUSE, "shop.bare")
    made = table(bare, of={"a": (RAW, "a")})
    made["facets"].pop("schema")
    add(store, [run("bare", [dataset(RAW)], [made], 9)])
    (finding,) = judged("model", str(bare), where=store, code=7)["findings"]
    assert "`dbt docs generate`, then `whence capture dbt` once more" in finding["text"]
    add(store, [run("bare", [dataset(RAW)], [table(bare, "a", of={"a": (RAW, "a")})], 10)])
    assert judged("model", str(bare), where=store, code=0)["coverage"] == 1.0


def test_a_node_of_another_kind_and_an_unknown_one_have_no_verdict(store: Engine) -> None:
    assert whence("model", "train", where=store).exit_code == 2
    assert whence("job", "nothing like it", where=store).exit_code == 1


def test_text_names_what_is_missing(store: Engine) -> None:
    add(store, [run("checks", [checked(RAW, held=False)], [], 6)])
    result = whence("model", "shop.model", where=store)
    assert result.stdout.splitlines() == [
        "blocked: shop.model, coverage of columns upstream 100.0%",
        "  blocked  violation: a check upstream failed last: not_null",
        "    shop.raw.a",
    ]


@pytest.fixture
def server(tmp_path: Path, store: Engine) -> Iterator[Api]:
    api = Api(tmp_path / "data", str(store.url), {})
    try:
        yield api.up()
    finally:
        api.down()
        api.listening.close()


def test_a_server_and_its_store_give_the_same_verdict(server: Api, store: Engine) -> None:
    add(store, [run("checks", [checked(RAW, held=False)], [], 6), contracted(CLEAN, "a", "gone")])
    for arguments in (("model", "shop.model"), ("job", "invent"), ("job", "train", "-o", "json")):
        here, there = (whence(*arguments, where=one) for one in (store, f"http://127.0.0.1:{server.port}"))
        assert (there.exit_code, there.stdout) == (here.exit_code, here.stdout), there.output
    assert here.exit_code == 5
