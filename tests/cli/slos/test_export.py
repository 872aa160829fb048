"""`whence slo export` against a running Whence: Debian's Prometheus scrapes it, evaluates the rules, and answers every
expression of the dashboard. Production is late, staging is not, and nobody has written development.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from api.process import Api
from cli.slos.test_slo import written as written_at
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from services.prometheus import Prometheus, prometheus
from whence.cli.commands.app import app
from whence.govern.slos.export.prometheus import id_of
from whence.govern.slos.export.series import label_text
from whence.govern.slos.objectives import Objective
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.names import DatasetName
from whence.openlineage.authority.restrictions import person_uri
from whence.store.connection.engine import sqlite_url

HOUR = 3_600_000_000
PROD, STAGING, DEV = (DatasetName(f"postgres://{name}:5432", "shop.revenue") for name in ("prod", "staging", "dev"))
EVIL = '{{ $value }} "\\\x1b[2J\n\u202e é'


def slos(names: dict[str, DatasetName], indicator: str = "freshness: {limit: 90m}", target: str = "99%") -> str:
    return "".join(
        f"""
  - name: {json.dumps(name)}
    dataset: {json.dumps(str(dataset))}
    indicator: {{{indicator}}}
    objective: {{target: {target}}}"""
        for name, dataset in names.items()
    )


TEXT = f"""\
version: 1
service: "shop .* of \\"ours\\""
slos:{slos({"prod": PROD, EVIL: PROD, "staging": STAGING, "dev": DEV})}
{slos({"nulls": PROD}, "quality: {metric: nullValues, column: total_usd, unit: percent, mustBeLessThan: 5}", "90%")}
{slos({"columns": STAGING}, "schema: {}")}
"""


@dataclass(frozen=True)
class Running:
    """A Whence, a Prometheus that scrapes it, and what was exported."""

    prometheus: Prometheus
    objectives: tuple[Objective, ...]
    openslo: list[dict[str, Any]]
    dashboard: dict[str, Any]
    states: dict[str, dict[str, Any]]


def export(directory: Path, *words: str) -> Result:
    file = directory / "slos.yaml"
    file.write_text(TEXT, "utf-8")
    return CliRunner().invoke(app, ["slo", "export", str(file), *words])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("export")
    rules, dashboard = directory / "rules.yml", directory / "dashboard.json"
    result = export(directory, "--prometheus", str(rules), "--grafana", str(dashboard))
    assert (result.exit_code, result.output) == (0, "")
    assert export(directory, "--openslo", str(directory / "openslo.yaml")).exit_code == 0
    objectives = read_slos(TEXT).objectives
    api = Api(directory, sqlite_url(directory / "store.db"), {})
    try:
        fill(api.up(), objectives)
        api.down()
        api.up()  # it evaluates as soon as it starts
        with prometheus(directory, api.port, rules) as made:
            made.wait_for("whence_slo_info", least=len(objectives))
            made.wait_for('ALERTS{alertname="WhenceSloBurnRate"}', least=6)
            rows = api.ask("GET", "/api/v2/slos").json["data"]["slos"]
            states = {one["id"]: one for one in rows}
            openslo = list(yaml.safe_load_all((directory / "openslo.yaml").read_text("utf-8")))
            yield Running(made, objectives, openslo, json.loads(dashboard.read_text("utf-8")), states)
    finally:
        api.down()
        api.listening.close()


def fill(api: Api, objectives: tuple[Objective, ...]) -> None:
    now = time.time_ns() // 1_000
    engine = open_migrated(api.store_url)
    ages = [(PROD, hours, 50) for hours in range(5, 100)] + [(STAGING, hours, 0) for hours in range(100)]
    runs = [
        aged(written_at(name, 0, n, nulls=nulls), now - hours * HOUR) for n, (name, hours, nulls) in enumerate(ages)
    ]
    ada = person_uri("key:ada")
    declared = [declaration_event(declaration_of(one), one.dataset.namespace, now - HOUR, ada) for one in objectives]
    with applying(engine, api.data / "log"):
        assert api.post([*runs, *declared], "/api/v1/lineage/batch").status == 200
        assert api.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]
    engine.dispose()


def aged(event: dict[str, Any], at: int) -> dict[str, Any]:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at / 1e6))
    return {**event, "eventTime": f"{stamp}Z"}


def test_prometheus_alerts_what_whence_alerts(running: Running) -> None:
    groups = running.prometheus.get("rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}, [rule.get("lastError") for rule in rules]
    firing = {(one["id"], one["severity"]) for one, _ in running.prometheus.query('ALERTS{alertstate="firing"}')}
    expected = {(id_, alert["notify"]) for id_, one in running.states.items() for alert in one["alerts"]}
    assert firing == expected
    assert len(expected) == 5
    # An alert that Prometheus shows has the name as people read it, and no template of theirs was expanded.
    (evil,) = [one for one in running.objectives if one.name == EVIL]
    shown = {one["slo"] for one, _ in running.prometheus.query(f'ALERTS{{id="{id_of(evil)}"}}')}
    assert shown == {'{{ $value }} "\\\\x1b[2J\\n\\u202e é'}
    # Development is not evaluated: that is pending for an hour before it is a ticket.
    pending = {one["id"] for one, _ in running.prometheus.query('ALERTS{alertstate="pending"}')}
    assert pending == {id_ for id_, one in running.states.items() if one["state"] == "not evaluated"}
    assert len(pending) == 1


def test_prometheus_answers_every_expression_of_the_dashboard(running: Running) -> None:
    panels = [panel for panel in running.dashboard["panels"] if panel["type"] != "row"]
    assert len(panels) == 7 + 2 * len(running.objectives)
    (slo,) = [one for one in running.dashboard["templating"]["list"] if one["name"] == "slo"]
    ids = listed(running, slo)
    assert ids == {
        id_of(one): label_text(one.name).replace("\\", "\\\\").replace('"', '\\"') for one in running.objectives
    }
    empty = set()
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"].replace("$slo", "|".join(ids))  # as Grafana chooses all
            if not running.prometheus.query(expression):
                empty.add((panel["title"], expression))
    # Nothing of development and of columns that never changed has a budget.
    without = {id_of(one) for one in running.objectives if one.name in ("dev", "columns")}
    panels_of_one = {expression for _, expression in empty}
    assert {found for one in panels_of_one for found in re.findall(r'id="(\w+)"', one)} == without
    assert [one for one in panels_of_one if "id=" not in one] == []


def test_prometheus_answers_the_queries_of_openslo(running: Running) -> None:
    slos = [one["spec"] for one in running.openslo if one["kind"] == "SLO"]
    values = {}
    for one in slos:
        metric = one["indicator"]["spec"]
        source = metric.get("thresholdMetric") or metric["ratioMetric"]["raw"]
        values[one["description"]] = [
            value for _, value in running.prometheus.query(source["metricSource"]["spec"]["query"])
        ]
    # Of the slices of a minute, production's are bad now, and staging's good. All runs of production have nulls.
    assert (values["prod"], values["staging"], values["nulls"], values["columns"]) == ([1], [0], [0], [])


def listed(running: Running, variable: dict[str, Any]) -> dict[str, str]:
    """The values and texts of a variable, as Grafana reads them: of each series as text, by a regular expression."""
    (query,) = re.findall(r"^query_result\((.*)\)$", variable["query"]["query"])
    found = {}
    for labels, _ in running.prometheus.query(query):
        text = "{" + ",".join(f"{key}={json.dumps(labels[key], ensure_ascii=False)}" for key in sorted(labels)) + "} 1"
        match = re.search(variable["regex"].strip("/").replace("(?<", "(?P<"), text)
        assert match, text
        found[match["value"]] = match["text"]
    return found


def test_the_dashboard_is_one_that_grafana_imports(running: Running) -> None:
    """By its documented model: ids and places are unique, and every variable that an expression names is there."""
    dashboard = running.dashboard
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    cells = [
        (x, y)
        for one in places
        for x in range(one["x"], one["x"] + one["w"])
        for y in range(one["y"], one["y"] + one["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    variables = {one["name"] for one in dashboard["templating"]["list"]}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps([one.get("targets") for one in panels]))) <= variables
    names = running.prometheus.get("label/slo/values")
    assert len(names) == len(running.objectives)


def test_forms_are_printed_and_mistakes_are_said(tmp_path: Path) -> None:
    printed = export(tmp_path, "--prometheus", "-")
    assert printed.exit_code == 0
    assert len(yaml.safe_load(printed.stdout)["groups"][0]["rules"]) == 3 * 4 + 2 + 2 * 6 + 1
    assert export(tmp_path).exit_code == 2
    openslo = export(tmp_path, "--openslo", "-")
    assert [one["kind"] for one in yaml.safe_load_all(openslo.stdout)].count("SLO") == 6
    assert "OpenSLO has no words for exact times: slices of a minute are counted (4 of 6)" in openslo.stderr
    nowhere = export(tmp_path, "--grafana", str(tmp_path / "none" / "x.json"))
    assert (nowhere.exit_code, "name a file in a folder that exists" in nowhere.output) == (1, True)
    (tmp_path / "bad.yaml").write_text("version: 1\nservice: x\nslos: [{}]\n")
    wrong = CliRunner().invoke(app, ["slo", "export", str(tmp_path / "bad.yaml"), "--prometheus", "-"])
    assert (wrong.exit_code, "bad.yaml:3" in wrong.output) == (2, True)
