"""Contracts are applied as events, and answered with their versions, now and as they were."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from typer.testing import CliRunner, Result

from api.operations.test_metrics import scrape
from api.process import Api
from marquez.shop import ORDERS, REVENUE
from marquez.test_facts import say
from whence.cli.administration.status import standing_lines
from whence.cli.commands.app import app
from whence.govern.contracts.events import apply_event
from whence.govern.contracts.read import read_contract
from whence.log import Kind
from whence.model.access import Action
from whence.model.catalog import FacetRecord
from whence.model.names import DatasetName
from whence.openlineage.authority.governed_parts import list_needs
from whence.openlineage.write import dataset_event, facet, own_facet
from whence.query.answers.instants import iso, microseconds
from whence.query.lookup.contracts import ContractedDataset, contract_versions
from whence.query.visibility.facets import shown_facet

EXAMPLES = Path(__file__).parents[1] / "govern" / "contracts" / "examples"


def contract(version: str, columns: str, dataset: str, **more: str) -> str:
    head = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": more.get("id", "shop"), "version": version}
    lines = [f"{key}: {value}" for key, value in {**head, "status": "active"}.items()]
    table = [
        "schema:",
        "  - name: t   # a remark stays",
        "    customProperties:",
        f'      - {{property: whenceDataset, value: "{dataset}"}}',
        f"    properties: [{columns}]",
    ]
    return "\n".join([*lines, "team: {members: [{username: ada, role: Owner}]}", *table, ""])


def invoke(live: Api, *words: str) -> Result:
    url = f"http://127.0.0.1:{live.port}"
    return CliRunner().invoke(app, ["contract", *words, "--url", url], env={"WHENCE_API_KEY": None})


def apply(live: Api, path: Path, text: str, *options: str) -> Result:
    file = path / "a.odcs.yaml"
    file.write_bytes(text.encode())
    return invoke(live, "apply", str(file), *options)


def answer(live: Api, node: object, query: str = "") -> Any:
    found = live.ask("GET", f"/api/v2/nodes/{quote(str(node), safe='')}/contract{query}")
    return found.json["data"] if found.status == 200 else found.status


def post(live: Api, event: Any) -> None:
    """Send an event, and wait until the answers have it."""
    taken = live.ask("POST", "/api/v1/lineage", json.dumps(event).encode(), {"content-type": "application/json"})
    assert taken.status == 201
    reached = live.ask("GET", f"/api/v2/progress?wait_for={taken.json['position']}&timeout=60")
    assert reached.status == 200, reached.json


ONE = "{name: total, logicalType: number}, {name: day, logicalType: date}"


def test_a_contract_is_applied_once_and_stays(live: Api, tmp_path: Path) -> None:
    first = contract("1.0.0", ONE, str(REVENUE))
    applied = apply(live, tmp_path, first)
    assert (applied.exit_code, applied.stdout) == (0, f"applied: shop 1.0.0 for {REVENUE}\n")
    before = sum(record.kind is Kind.EVENT for record in live.records())
    again = apply(live, tmp_path, first)
    assert (again.exit_code, again.stdout) == (0, f"unchanged: shop 1.0.0 for {REVENUE}\n")
    assert sum(record.kind is Kind.EVENT for record in live.records()) == before

    other = apply(live, tmp_path, first.replace("a remark", "another remark"))
    assert (other.exit_code, other.stdout) == (2, "")
    assert "a.odcs.yaml:4: version 1.0.0 is applied with another text" in other.stderr

    second = contract("1.1.0", f"{ONE}, {{name: more, logicalType: string}}", str(REVENUE))
    assert "compatible: t.more: added" in apply(live, tmp_path, second).stdout
    found = answer(live, REVENUE)
    assert (found["contract"]["version"], found["contract"]["owners"]) == ("1.1.0", ["ada"])
    assert found["contract"]["text"] == second
    assert [one["version"] for one in found["versions"][:2]] == ["1.1.0", "1.0.0"]
    since = found["versions"][0]["applied_at"]
    assert answer(live, REVENUE, f"?as_of={since}")["contract"]["version"] == "1.1.0"
    earlier = found["versions"][1]["applied_at"]
    past = answer(live, REVENUE, f"?as_of={earlier}")["contract"]
    assert (past["version"], past["text"]) == ("1.0.0", first)
    assert answer(live, REVENUE, "?as_of=2001-01-01")["contract"] is None

    listed = invoke(live, "list")
    assert f"{REVENUE}  shop 1.1.0, active, of ada, 1 violation" in listed.stdout.splitlines()
    assert json.loads(invoke(live, "list", "-o", "json").stdout)["contracts"][0]["version"] == "1.1.0"
    assert invoke(live, "list", str(REVENUE), "--text").stdout == second
    assert invoke(live, "list", str(REVENUE), "--as-of", earlier, "--text").stdout == first
    lines = [line for line in invoke(live, "list", str(REVENUE)).stdout.splitlines() if "violation" not in line]
    assert [line.split("  ")[-1] for line in lines[:3]] == ["shop 1.1.0, active, of ada", "shop 1.1.0", "shop 1.0.0"]
    facets = live.ask("GET", f"/api/v2/datasets/{quote(REVENUE.namespace, safe='')}/{quote(REVENUE.name, safe='')}")
    assert [one for one in facets.json["data"]["facets"] if "contract" in one] == ["whence_contract"]
    assert facets.json["data"]["contract_version"] == "1.1.0"

    blocked = apply(live, tmp_path, contract("1.2.0", "{name: day, logicalType: date}", str(REVENUE)))
    assert blocked.exit_code == 5
    assert answer(live, REVENUE)["contract"]["version"] == "1.1.0"

    assert say(live, "DELETE", REVENUE, "contract").status == 200
    ended = answer(live, REVENUE)
    assert ended["contract"] is None
    assert [one["version"] for one in ended["versions"][:3]] == ["", "1.1.0", "1.0.0"]
    assert answer(live, REVENUE, f"?as_of={since}")["contract"]["version"] == "1.1.0"


def test_what_runs_report_is_compared_with_the_contract(live: Api, tmp_path: Path) -> None:
    """A violation is there from the event on that reports it, and only then; the past stays as it was."""
    dataset = DatasetName("pg", "shop.checked")
    node = str(dataset)

    def report(second: int, *fields: tuple[str, str]) -> None:
        schema = facet("SchemaDatasetFacet", fields=[{"name": name, "type": type_} for name, type_ in fields])
        event = dataset_event(second * 1_000_000, dataset, facets={"schema": schema})
        post(live, event)

    assert apply(live, tmp_path, contract("1.0.0", ONE, node, id="checked")).exit_code == 0
    assert answer(live, node)["evaluation"] == {
        "violations": [],
        "not_evaluated": "no event has reported the columns of the dataset",
        "rules": [],
    }
    at = round(datetime.fromisoformat(answer(live, node)["contract"]["applied_at"]).timestamp()) + 1
    report(at, ("total", "decimal(18,2)"), ("day", "date"), ("more", "string"))
    assert answer(live, node)["evaluation"] == {"violations": [], "not_evaluated": None, "rules": []}
    report(at + 1, ("total", "string"))
    found = answer(live, node)["evaluation"]["violations"]
    assert found == [
        {"rule": "type", "column": "total", "expected": "number", "observed": "string"},
        {"rule": "missing-column", "column": "day", "expected": "date", "observed": None},
    ]
    listed = live.ask("GET", "/api/v2/contracts?limit=1000").json["data"]
    assert {one["node"]: one["violations"] for one in listed}[node] == 2
    counts = live.ask("GET", "/api/v2/status").json["contracts"]
    assert (counts["violated"], counts["violations"]) >= (1, 2)
    (line,) = [
        one.plain for one in standing_lines(live.ask("GET", "/api/v2/status").json) if "data contract" in one.plain
    ]
    assert "violated (" in line
    assert scrape(live)["whence_contract_violations", frozenset()] == counts["violations"]
    assert f"{node}  checked 1.0.0, active, of ada, 2 violations" in invoke(live, "list").stdout.splitlines()
    lines = invoke(live, "list", node).stdout.splitlines()
    assert "  violation: total: number is promised, reported as string" in lines
    assert "  violation: day: date is promised, not reported" in lines


def written(dataset: DatasetName, second: int, nulls: int, *, held: bool) -> Any:
    """A run that writes a dataset, measures it, and checks it."""
    columns = {"total": {"nullCount": nulls, "distinctCount": 10 - nulls}}
    checks = [{"assertion": "valid_days", "column": "day", "success": held, "actual": "3 rows"}]
    facets = {
        "dataQualityMetrics": own_facet("DataQualityMetrics", rowCount=10, columnMetrics=columns),
        "dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=checks),
    }
    return {
        "eventType": "COMPLETE",
        "eventTime": iso(second * 1_000_000),
        "producer": "https://shop.example/etl",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=second))},
        "job": {"namespace": "etl", "name": "measured"},
        "inputs": [],
        "outputs": [{"namespace": dataset.namespace, "name": dataset.name, "outputFacets": facets}],
    }


LEVELS = """\
slaProperties:
  - {property: latency, value: 4, unit: h}
  - {property: retention, value: 3, unit: y}
"""


def test_what_runs_measure_is_compared_with_the_contract(live: Api) -> None:
    """Rules and service levels are judged by what had been measured at the time that is asked about."""
    dataset, start, hour = DatasetName("pg", "shop.measured"), 1_780_000_000, 3_600
    quality = "quality: [{id: valid_days, metric: invalidValues, arguments: {validValues: [x]}, mustBe: 0}]"
    columns = f"{{name: total, required: true, unique: true}}, {{name: day, logicalType: date, {quality}}}"
    read, _ = read_contract(contract("1.0.0", columns, str(dataset), id="measured") + LEVELS, "a.odcs.yaml")
    assert read is not None
    at = (start - hour) * 1_000_000
    post(live, apply_event(read, read.tables[0], dataset, at=at, producer="https://a.example", approved_by=()))
    post(live, written(dataset, start + 2 * hour, 2, held=False))
    post(live, written(dataset, start, 0, held=True))

    def rules(second: int | None) -> dict[str, Any]:
        as_of = "" if second is None else f"?as_of={iso(second * 1_000_000)}"
        return {one["rule"]: one for one in answer(live, dataset, as_of)["evaluation"]["rules"]}

    def outcomes(second: int | None) -> list[str]:
        found = rules(second)
        return [found[one]["outcome"] for one in ("required", "unique", "valid_days", "latency", "retention")]

    unknown, good, bad = "not evaluated", "holds", "violated"
    assert outcomes(start - 1) == [unknown] * 5
    assert outcomes(start) == [good, good, good, good, unknown]
    assert outcomes(start + 2 * hour) == [bad, unknown, bad, good, unknown]
    assert outcomes(None) == [bad, unknown, bad, bad, unknown]
    evidence = rules(start + 2 * hour)["required"]
    assert (evidence["expected"], evidence["observed"]) == ("nullValues mustBe 0", "2")
    assert (evidence["time"], evidence["run"]) == (
        iso((start + 2 * hour) * 1_000_000),
        f"run:{UUID(int=start + 2 * hour)}",
    )
    lines = invoke(live, "list", str(dataset)).stdout.splitlines()
    assert f"  violation: total.required: nullValues mustBe 0 is promised, 2 at {evidence['time']}" in lines
    assert "  not evaluated: retention: 3 y is promised: no run reports how long rows are kept" in lines
    (line,) = [one for one in invoke(live, "list").stdout.splitlines() if one.startswith(str(dataset))]
    assert line.endswith("  measured 1.0.0, active, of ada, 3 violations, 2 not evaluated")

    post(live, written(dataset, start + 8 * hour, 0, held=True))
    found = answer(live, dataset, "?transitions=true")["transitions"]
    assert found["complete"] is True
    late = 4 * hour * 1_000_000 + 1
    changes = [(one["time"], one["rule"], one["before"], one["after"]) for one in found["changes"]]
    second, third = ((start + hours * hour) * 1_000_000 for hours in (2, 8))
    assert changes == [
        (iso(third + late), "latency", good, bad),
        (iso(third), "latency", bad, good),
        (iso(third), "valid_days", bad, good),
        (iso(third), "required", bad, good),
        (iso(second + late), "latency", good, bad),
        (iso(second), "valid_days", good, bad),
        (iso(second), "required", good, bad),
    ]
    for text, rule, before, after in changes:  # as every answer about the past says, and about the moment before
        at = microseconds(datetime.fromisoformat(text))
        for time, outcome in ((at, after), (at - 1, before)):
            rules_then = answer(live, dataset, f"?as_of={iso(time)}")["evaluation"]["rules"]
            assert [one["outcome"] for one in rules_then if one["rule"] == rule] == [outcome], (text, rule)
    until = answer(live, dataset, f"?transitions=true&as_of={iso(third - 1)}")["transitions"]["changes"]
    assert [one["time"] for one in until] == [change[0] for change in changes[4:]]
    lines = invoke(live, "list", str(dataset), "--transitions").stdout.splitlines()
    assert f"  {iso(second)}  total.required: holds -> violated  (nullValues mustBe 0, 2)" in lines


def test_a_breaking_version_needs_the_owner(live: Api, tmp_path: Path) -> None:
    assert apply(live, tmp_path, contract("1.0.0", ONE, str(ORDERS), id="orders")).exit_code == 0
    (tmp_path / "MIGRATION.md").write_text("# 2.0.0\n")
    without = contract("2.0.0", "{name: day, logicalType: date}", str(ORDERS), id="orders")
    waiting = apply(live, tmp_path, without)
    assert waiting.exit_code == 6, waiting.stdout
    assert "approval needed of: ada" in waiting.stdout
    assert apply(live, tmp_path, without, "--approved-by", "eve").exit_code == 6
    assert apply(live, tmp_path, without, "--approved-by", "ada").exit_code == 0
    assert answer(live, ORDERS)["contract"]["approved_by"] == ["ada"]
    stranger = apply(live, tmp_path, contract("1.0.0", ONE, str(ORDERS), id="other"))
    assert (stranger.exit_code, stranger.stdout) == (1, "")
    assert "another contract already: orders" in stranger.stderr


OF_NO_TABLE = EXAMPLES / "team-of-table-v3.0.2.odcs.yaml"


def test_a_contract_of_no_table_is_applied_to_nothing(live: Api, tmp_path: Path) -> None:
    result = apply(live, tmp_path, OF_NO_TABLE.read_text("utf-8"))
    assert result.exit_code == 1
    assert "its schema has no table" in result.stderr


@pytest.mark.parametrize("path", sorted({*EXAMPLES.glob("*.odcs.yaml")} - {OF_NO_TABLE}), ids=lambda path: path.name)
def test_published_examples_come_back_unchanged(live: Api, tmp_path: Path, path: Path) -> None:
    text = path.read_bytes().decode().replace("id: orders\n", f"id: {path.name}\n")
    namespace = f"examples/{path.name}"
    options = ("--namespace", namespace, "--environment", "none")
    result = apply(live, tmp_path, text, *options)
    assert result.exit_code == 0, result.output
    for line in result.stdout.splitlines():
        dataset = line.partition(" for ")[2]
        assert answer(live, dataset)["contract"]["text"] == text
        assert invoke(live, "list", dataset, "--text").stdout_bytes == text.encode()


def test_a_contract_that_dbt_enforces_counts_until_another_is_applied(live: Api, tmp_path: Path) -> None:
    dataset = DatasetName("pg", "shop.marts")
    node = str(dataset)
    columns = [{"name": "id", "dataType": "bigint"}, {"name": "mail", "dataType": "text"}, {"name": "at"}]
    contract_of_dbt = {"enforced": True, "checksum": "0123456789abcdef0123", "columns": columns}
    facets = {
        "whence_dbt": own_facet("DbtDatasetFacet", uniqueId="model.shop.marts", contract=contract_of_dbt),
        "ownership": facet("OwnershipDatasetFacet", owners=[{"name": "crm", "type": "OWNER"}]),
    }
    post(live, dataset_event(1_000_000, dataset, facets=facets))
    held = answer(live, node)
    assert (held["contract"]["id"], held["contract"]["version"], held["contract"]["standard"]) == (
        "model.shop.marts",
        "dbt-0123456789ab",
        "dbt",
    )
    assert held["contract"]["owners"] == ["crm"]
    assert held["evaluation"]["not_evaluated"] == "no event has reported the columns of the dataset"
    assert say(live, "GET", dataset, "facts").json["data"]["contract_version"] == "dbt-0123456789ab"
    assert f"{node}  model.shop.marts dbt-0123456789ab, of crm, not evaluated" in invoke(live, "list").stdout
    fields = [{"name": "ID", "type": "int"}, {"name": "mail", "type": "int"}]
    post(live, dataset_event(2_000_000, dataset, facets={"schema": facet("SchemaDatasetFacet", fields=fields)}))
    changes = answer(live, node, "?transitions=true")["transitions"]["changes"]
    assert [(one["column"], one["rule"], one["before"], one["after"]) for one in changes] == [
        ("at", "column", "not evaluated", "violated"),
        ("mail", "column", "not evaluated", "violated"),
    ]
    assert answer(live, node)["evaluation"]["violations"] == [
        {"rule": "type", "column": "mail", "expected": "text", "observed": "int"},
        {"rule": "missing-column", "column": "at", "expected": "any type", "observed": None},
    ]
    assert f"{node}  model.shop.marts dbt-0123456789ab, of crm, 2 violations" in invoke(live, "list").stdout
    assert apply(live, tmp_path, contract("1.0.0", ONE, node, id="marts")).exit_code == 0
    assert answer(live, node)["contract"]["id"] == "marts"


def test_what_has_no_contract(live: Api, tmp_path: Path) -> None:
    assert answer(live, "dataset:no:such") == 404
    assert answer(live, REVENUE, "?as_of=nonsense") == 400
    nameless = apply(live, tmp_path, contract("1.0.0", ONE, "job:a:b"))
    assert (nameless.exit_code, "it names no dataset" in nameless.stderr) == (1, True)
    assert invoke(live, "list", "--text").exit_code == 2


def test_a_version_needs_a_steward() -> None:
    facets = {"whence_contractVersion_0123": {"_producer": "a", "version": "1"}}
    event = {"dataset": {"namespace": "pg", "name": "t", "facets": facets}}
    assert (Action.STEWARD, "pg") in list_needs(event, json.dumps(event).encode())


def test_versions_in_any_order_give_one_history() -> None:
    facets = {
        f"whence_contractVersion_{at}": FacetRecord(json.dumps({"id": "a", "version": version}), at)
        for at, version in ((30, ""), (10, "1.0.0"), (20, "1.1.0"), (40, "2.0.0"))
    }
    for one in (facets, dict(reversed(facets.items()))):
        dataset = ContractedDataset(name=ORDERS, versions=contract_versions(one))
        held = [dataset.at(time) for time in (5, 10, 19, 20, 35, 40)]
        assert [one and one.version for one in held] == [None, "1.0.0", "1.0.0", "1.1.0", None, "2.0.0"]


@pytest.mark.parametrize("name", ["whence_contract", "whence_contractVersion_0123"])
def test_who_may_not_read_everything_gets_neither_text_nor_columns(name: str) -> None:
    """They name fields that may be hidden, and other datasets."""
    whole = {
        "id": "a",
        "version": "1.0.0",
        "owners": ["ada"],
        "text": "secret",
        "columns": [{"name": "x"}],
        "quality": [{"rule": "x is known", "column": "x"}],
        "serviceLevels": [{"property": "latency", "element": "t.x"}],
        "table": "t",
    }
    shown = json.loads(shown_facet(name, json.dumps(whole), lambda field: field) or "")
    assert shown == {"id": "a", "version": "1.0.0", "owners": ["ada"]}
