"""A real dbt project, built for real: its lineage is the one written down by hand, column by column."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from oracle import dump
from whence.capture.dbt import capture
from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent, RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.accept import accept
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets

HERE = Path(__file__).parent
NAMESPACE = "duckdb://roastery.duckdb"
DBT = "dbt://roastery"


@pytest.fixture(scope="module")
def bodies(target: Path) -> list[dict[str, Any]]:
    return list(capture(target))


@pytest.fixture(scope="module")
def events(bodies: list[dict[str, Any]]) -> list[Event]:
    """As the collector reads them, strictly and without a warning."""
    accepted = [accept(json.dumps(body).encode(), strict=True) for body in bodies]
    assert {warning for event in accepted for warning in event.warnings} == set()
    return [event.event for event in accepted]


def expected() -> set[str]:
    """lineage.txt, an edge a line."""
    lines = set()
    for line in (HERE / "lineage.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            target, arrow, rest = line.split(" ", 2)
            *sources, last = rest.split(", ")
            last, _, how = last.partition(" ")
            lines |= {f"{target} {arrow} {source} {how}".rstrip() for source in (*sources, last)}
    return lines


def declared(events: list[Event]) -> set[str]:
    """The edges that job and dataset events declare, in the form of lineage.txt."""
    edges = {
        edge
        for event in events
        if not isinstance(event, RunEvent)
        for found in derive_lineage_sets(event)
        for edge in found.edges
        if not isinstance(edge.source, JobName) and not isinstance(edge.target, JobName)
    }
    fine = {(whole(edge.source), whole(edge.target)) for edge in edges if isinstance(edge.source, FieldName)}
    return {line(edge) for edge in edges if isinstance(edge.source, FieldName) or not _follows(edge, fine)}


def _follows(edge: Edge, fine: set[tuple[DatasetName, DatasetName]]) -> bool:
    """A dataset edge that only sums up finer ones."""
    return (edge.source, edge.target) in fine and edge.type != "UNKNOWN"


def line(edge: Edge) -> str:
    arrow = "<-" if edge.type == "INDIRECT" else "<="
    masked = " masked" if edge.masking else ""
    return f"{end(edge.target)} {arrow} {end(edge.source)} {edge.subtype.lower()}{masked}".rstrip()


def end(node: Node) -> str:
    field = f".{node.field}" if isinstance(node, FieldName) else ""
    name = whole(node).name.removeprefix("model.roastery.").removeprefix("roastery.")
    return re.sub(r"^main_\w+\.", "", name) + field


def whole(node: Node) -> DatasetName:
    assert not isinstance(node, JobName)
    return node.dataset if isinstance(node, FieldName) else node


def test_lineage_is_as_written_by_hand(events: list[Event]) -> None:
    found, wanted = declared(events), expected()
    assert (sorted(wanted - found), sorted(found - wanted)) == ([], [])


def test_what_ran_says_the_same_lineage(events: list[Event]) -> None:
    def outputs(kind: type[JobEvent] | type[RunEvent]) -> dict[JobName, set[Edge]]:
        return {
            event.job.name: {edge for output in event.outputs for edge in output.edges}
            for event in events
            if isinstance(event, kind) and event.outputs
        }

    stated, ran = outputs(JobEvent), outputs(RunEvent)
    assert len(ran) == 36 - 2 + 2 + 3  # models without the ephemeral ones, snapshots, seeds
    assert {job: stated[job] for job in ran} == ran


def test_every_column_without_a_source_has_a_reason(bodies: list[dict[str, Any]]) -> None:
    checked, reasons = 0, Counter[str]()
    for body in bodies:
        for output in body.get("outputs", []) if "run" not in body else []:
            facets = output["facets"]
            lineage = facets.get("columnLineage", {"fields": {}})["fields"]
            sources = {name for name, one in lineage.items() if _has_source(one)}
            known = {facet["field"]: facet["reason"] for facet in facets["whence_columnEvidence"]["unexplained"]}
            columns = {field["name"] for field in facets.get("schema", {"fields": []})["fields"]}
            assert sources | set(known) >= columns
            assert not sources & set(known)
            assert all(known.values())
            checked += len(columns)
            reasons.update(known.values())
    assert checked > 150
    assert {reason.partition(":")[0] for reason in reasons} == {"no_source", "seed", "snapshot"}


def _has_source(field: dict[str, Any]) -> bool:
    return any(how["type"] == "DIRECT" for source in field["inputFields"] for how in source["transformations"])


def test_runs(events: list[Event]) -> None:
    runs = [event for event in events if isinstance(event, RunEvent)]
    ends = Counter(event.state for event in runs)
    tested, in_sql, whole_commands, looked_at = 3, 1, 1, 1
    expected_runs = 39 + tested + in_sql + whole_commands + looked_at
    assert ends == {RunState.START: expected_runs, RunState.COMPLETE: expected_runs}
    parents = {event.run.parent.job.name for event in runs if event.run.parent}
    assert parents == {"dbt-run-roastery"}
    assert all(event.time > 1_700_000_000_000_000 for event in runs)


def dataset_facets(bodies: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for body in bodies:
        for output in [*body.get("outputs", []), *([body["dataset"]] if "dataset" in body else [])]:
            if output["name"] == name:
                found |= output["facets"]
    return found


def test_what_the_project_says_of_a_model(bodies: list[dict[str, Any]]) -> None:
    facets = dataset_facets(bodies, "roastery.main_marts.dim_customers")
    aliases = dataset_facets(bodies, "model.roastery.dim_customers")["symlinks"]["identifiers"]
    assert aliases == [{"namespace": NAMESPACE, "name": "roastery.main_marts.dim_customers", "type": "TABLE"}]
    owners = [(facet["name"], facet["type"]) for facet in facets["ownership"]["owners"]]
    assert owners == [("crm@roastery.example", "OWNER"), ("analytics@roastery.example", "GROUP")]
    tags = {(facet.get("field"), facet["key"], facet["value"]) for facet in facets["tags"]["tags"]}
    assert {
        (None, "core", "true"),
        (None, "contract_version", "2.1.0"),
        (None, "criticality", "high"),
        (None, "pii", "true"),
        ("full_name", "pii", "true"),
    } <= tags
    contract = facets["whence_dbt"]["contract"]
    assert (contract["enforced"], contract["columns"][0]["name"]) == (True, "customer_id")
    assert all(one["dataType"] for one in contract["columns"])
    assert [facet["name"] for facet in facets["schema"]["fields"]][:2] == ["customer_id", "full_name"]


def test_assertions(bodies: list[dict[str, Any]]) -> None:
    held: dict[tuple[str, str], Any] = {}
    for body in bodies:
        for dataset in body.get("inputs", []):
            tested = dataset.get("inputFacets", {}).get("dataQualityAssertions", {"assertions": []})
            held |= {(dataset["name"], assertion["name"]): assertion for assertion in tested["assertions"]}
    orders = "roastery.main_marts.fct_orders"
    statuses = "test.roastery.accepted_values_fct_orders_status__completed__returned"
    status = next(each for (name, test), each in held.items() if name == orders and test.startswith(statuses))
    assert (status["assertion"], status["column"], status["success"], status["severity"], status["actual"]) == (
        "accepted_values",
        "status",
        False,
        "warn",
        "1",
    )
    singular = held[orders, "test.roastery.refunds_are_not_larger_than_orders"]
    assert (singular["success"], singular["contentType"]) == (True, "sql")
    fresh = held["roastery.raw.customers", "source.roastery.raw.customers.freshness"]
    assert (fresh["assertion"], fresh["success"], fresh["severity"]) == ("freshness", False, "warn")
    assert len(held) == 9


def test_exposures(bodies: list[dict[str, Any]]) -> None:
    board = dataset_facets(bodies, "exposure.roastery.board_report")
    assert board["datasetType"]["datasetType"] == "DASHBOARD"
    assert board["ownership"]["owners"] == [{"name": "mia@roastery.example", "type": "OWNER"}]
    assert board["dataSource"]["uri"] == "https://bi.roastery.example/board"
    assert dataset_facets(bodies, "exposure.roastery.win_back")["datasetType"]["datasetType"] == "MODEL"


def test_the_same_artifacts_give_the_same_events(target: Path, bodies: list[dict[str, Any]]) -> None:
    assert list(capture(target)) == bodies


def test_what_dbt_ol_says_of_the_same_build_is_of_the_same_nodes(target: Path, events: list[Event]) -> None:
    lines = (target.parent / "dbt-ol.jsonl").read_bytes().splitlines()
    theirs = [event for event in (accept(line).event for line in lines) if isinstance(event, RunEvent)]
    ours = [event for event in events if not isinstance(event, DatasetEvent)]
    assert len(theirs) > 70
    assert {event.job.name for event in theirs} - {event.job.name for event in ours} == set()
    spoken_of = {dataset.name for event in theirs for dataset in (*event.inputs, *event.outputs)}
    assert len(spoken_of) > 45
    assert spoken_of - known_names(events) == set()


def test_node_and_table_are_one_dataset_and_tables_stay_apart(target: Path, bodies: list[dict[str, Any]]) -> None:
    """As the oracle of the state has it, over what the artifacts and dbt-ol say together."""
    lines = (target.parent / "dbt-ol.jsonl").read_bytes().splitlines()
    accepted = [accept(line).payload for line in (*lines, *(json.dumps(body).encode() for body in bodies))]
    state = [json.loads(line) for line in dump(accepted)]
    groups = {one["representative"]: one["members"] for one in state if one.get("derived") == "alias_group"}
    table = str(DatasetName(NAMESPACE, "roastery.main_marts.dim_customers"))
    assert groups[table] == sorted([table, str(DatasetName(DBT, "model.roastery.dim_customers"))])
    assert len(groups) == 12 + 3 + 2 + 36
    built = {line.partition(" ")[0].partition(".")[0] for line in expected()}
    assert all(len(built & {member.rpartition(".")[2] for member in members}) <= 1 for members in groups.values())


def known_names(events: list[Event]) -> set[DatasetName]:
    """All datasets that events speak of, and their aliases."""
    datasets = [event.dataset for event in events if isinstance(event, DatasetEvent)]
    datasets += [
        dataset
        for event in events
        if not isinstance(event, DatasetEvent)
        for dataset in (*event.inputs, *event.outputs)
    ]
    return {one.name for one in datasets} | {link.name for one in datasets for link in one.symlinks}


def test_compiled_sql_is_found_where_a_later_command_dropped_it(
    target: Path, tmp_path: Path, events: list[Event]
) -> None:
    """`dbt source freshness` and others write the manifest anew, without what was compiled before."""
    other = tmp_path / "warehouse" / "target"
    shutil.copytree(target, other)
    shutil.copy(target.parent / "profiles.yml", other.parent)
    manifest = json.loads((other / "manifest.json").read_bytes())
    for node in manifest["nodes"].values():
        node.pop("compiled_code", None)
    (other / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (other / "run_results.json").unlink()
    found = [accept(json.dumps(body).encode(), strict=True).event for body in capture(other)]
    assert not any(isinstance(event, RunEvent) and event.outputs for event in found)
    assert {row for row in expected() if "_over_time" not in row} <= declared(found)


def test_without_a_catalog_columns_are_those_that_the_project_declares(target: Path, tmp_path: Path) -> None:
    other = tmp_path / "target"
    shutil.copytree(target, other)
    (other / "catalog.json").unlink()
    found = {
        body["job"]["name"]: body for body in capture(other, namespace=NAMESPACE) if "run" not in body and "job" in body
    }
    facets = found["roastery.main_marts.roastery.dim_customers.build.run"]["outputs"][0]["facets"]
    assert set(facets["columnLineage"]["fields"]) == {
        "customer_id",
        "full_name",
        "email_hash",
        "country",
        "signed_up_on",
    }


def test_dataset_events_say_what_sources_are(events: list[Event]) -> None:
    sources = {event.dataset.name.name for event in events if isinstance(event, DatasetEvent)}
    assert {"roastery.raw.customers", "roastery.raw.suppliers", "exposure.roastery.win_back"} <= sources
