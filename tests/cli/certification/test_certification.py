"""`whence certification`: a file is checked, evaluated, declared; a server is asked; names that attack terminals."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from govern.certification.shop_story import DEV, PROD, REVENUE, RULES, STAGING, TESTED, fulfilled, written
from whence.cli.commands.app import app
from whence.client.questions import connect
from whence.govern.rule_states.records import RuleTransition, rule_transition_event
from whence.model.records.rule_transitions import RuleTransitionRecord, rule_transition_id


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server whose revenue fulfils everything in production, and nothing in staging."""
    serving = Serving(tmp_path_factory.mktemp("certified"))
    made, now = serving(), time.time_ns() // 1_000
    engine = open_migrated(made.store_url)
    with applying(engine, made.data / "log"):
        for body in (*fulfilled(REVENUE, now), written(TESTED, now, 900, columns=False, good=False)):
            assert made.post(json.loads(body)).status == 201
        yield made
    engine.dispose()
    serving.end()


def ask(*words: str) -> Result:
    return CliRunner().invoke(app, ["certification", *words])


def test_a_rule_from_the_file_to_the_answer(api: Api, tmp_path: Path) -> None:
    file, url = tmp_path / "certification.yaml", ("--url", f"http://127.0.0.1:{api.port}")
    file.write_text(RULES, "utf-8")
    checked = ask("check", str(file))
    assert (checked.exit_code, checked.stdout.splitlines()[-1]) == (0, "1 rule, valid")
    assert ask("list", *url).stdout == "No dataset has a rule of certification.\n"
    assert ask("list", "--status", "certified", *url).stdout == "No dataset has the status 'certified'.\n"

    evaluated = ask("evaluate", str(file), "--store", api.store_url)
    assert evaluated.exit_code == 5
    assert [line.partition(":")[0] for line in evaluated.stdout.splitlines() if line[0] != " "] == [
        "certified",
        "not certified",
    ]

    def apply(*options: str) -> list[str]:
        done = ask("apply", str(file), *options, *url)
        assert done.exit_code == 0, done.output
        return done.stdout.splitlines()

    assert apply("--dry-run")[-1] == "nothing was sent"
    assert apply() == [f"declared: gold  {one}" for one in (PROD, STAGING, DEV)]
    assert apply() == [f"unchanged: gold  {one}" for one in (PROD, STAGING, DEV)]
    shown = ask("show", str(REVENUE), *url)
    assert (shown.exit_code, shown.stdout.splitlines()[1]) == (
        0,
        "by the rule gold: the board decides by it; ask data-office",
    )
    assert "  met  objectives: its objective met for 30 days" in shown.stdout.splitlines()
    other = ask("show", str(TESTED), "-o", "json", *url)
    assert (other.exit_code, json.loads(other.stdout)["status"]) == (5, "not certified")
    assert ask("show", str(REVENUE), "--as-of", "1h ago", *url).exit_code == 7  # no rule held then
    listed = ask("list", "--status", "certified", *url)
    assert [line.partition(":")[0] for line in listed.stdout.splitlines()] == ["certified"]
    for one in (evaluated, shown, listed):
        assert "\x1b" not in one.stdout
        assert "\u202e" not in one.stdout
    file.write_text(RULES.replace("gold", "silver"), "utf-8")
    assert sorted(line.partition(":")[0] for line in apply("--prune")) == ["declared"] * 3 + ["ended"] * 3


POLICY = f"""\
version: 1
policies:
  - name: owned
    reason: "somebody must answer \\e[31m for it"
    owner: data-office
    namespaces: ["{PROD}", "{DEV}"]
    where: {{kind: dataset}}
    require: {{tag: vetted}}
"""


def policy(*words: str) -> Result:
    return CliRunner().invoke(app, ["policy", *words])


def test_policies_are_declared_changed_and_ended(api: Api, tmp_path: Path) -> None:
    file, url = tmp_path / "policies.yaml", ("--url", f"http://127.0.0.1:{api.port}")
    file.write_text(POLICY, "utf-8")
    assert policy("list", *url).stdout == "No policy is declared.\n"
    dry = policy("apply", str(file), "--dry-run", *url)
    assert dry.stdout.splitlines() == [f"declared: owned  {PROD}", f"declared: owned  {DEV}", "nothing was sent"]
    assert policy("apply", str(file), *url).exit_code == 0
    again = policy("apply", str(file), "-o", "json", *url)
    assert {one["change"] for one in json.loads(again.stdout)["policies"]} == {"unchanged"}
    listed = policy("list", "--namespace", DEV, *url)
    assert listed.stdout.startswith(f"owned  {DEV}: somebody must answer")
    assert "\x1b" not in listed.stdout
    shown = policy("show", "owned", *url)
    assert 'require: {"tag": "vetted"}' in shown.stdout
    assert policy("show", "other", *url).exit_code == 2
    with connect(url[1]) as questions:
        found = questions.evaluate_policies("", declared=True)
    assert {(one.policy, one.place) for one in found.findings} == {("owned", "declared")}
    file.write_text(POLICY.replace(f', "{DEV}"', "").replace("vetted", "seen"), "utf-8")
    changed = policy("apply", str(file), *url)
    assert changed.stdout.splitlines() == [f"changed: owned  {PROD}", f"ended: owned  {DEV}"]
    file.write_text(POLICY.replace("    namespaces", "    # "), "utf-8")
    refused = policy("apply", str(file), *url)
    assert refused.exit_code == 2
    assert "policies.yaml:3: 'owned' is to be declared: state in which" in refused.output.replace("\n", "")


def test_a_mistake_sends_nothing(api: Api, tmp_path: Path) -> None:
    file = tmp_path / "certification.yaml"
    file.write_text(RULES.replace("namespaces", "namespace"), "utf-8")
    checked = ask("check", str(file), "-o", "json")
    assert (checked.exit_code, json.loads(checked.stdout)["valid"]) == (5, False)
    assert "did you mean 'namespaces'?" in checked.stdout
    assert ask("apply", str(file), "--url", f"http://127.0.0.1:{api.port}").exit_code == 2
    assert ask("list", "--status", "nonsense", "--url", f"http://127.0.0.1:{api.port}").exit_code == 2


def test_lineage_is_accepted_shown_and_ended(api: Api) -> None:
    url, name = ("--url", f"http://127.0.0.1:{api.port}"), str(REVENUE)
    invoke = CliRunner().invoke

    def lineage(*words: str) -> Result:
        return invoke(app, ["lineage", *words])

    nothing = lineage("baseline", name, "--store", api.store_url)
    assert (nothing.exit_code, nothing.stdout.split()[:2]) == (7, ["no", "baseline"])
    listed = lineage("list", *url).stdout  # the server may have recorded by now that it is certified
    assert "accept one" in listed or listed.startswith("certified, without a baseline")
    assert lineage("end", name, "--reason", "x", *url).exit_code == 2
    done = lineage("accept", name, "--reason", "right \x1b[31m", *url)
    assert (done.exit_code, done.stdout.split()[0]) == (0, "ok"), done.output
    assert "\x1b[31m" not in done.stdout
    changed = json.loads(written(REVENUE, time.time_ns() // 1_000, 950))
    facet = changed["outputs"][0]["facets"]["columnLineage"]["fields"]["sum"]["inputFields"][0]
    facet["transformations"][0]["description"] = "AVG(amount)"
    assert api.post(changed).status == 201
    assert api.ask("GET", "/api/v2/progress?wait_for=head&timeout=20").status == 200
    shown = lineage("baseline", name, *url, "--output", "json")
    document = json.loads(shown.stdout)
    assert (shown.exit_code, document["state"]) == (5, "drifted")
    assert document == json.loads(lineage("baseline", name, "--store", api.store_url, "--output", "json").stdout) | {
        "at": document["at"]
    }
    text = lineage("baseline", name, *url).stdout
    assert "SUM(amount)" in text
    assert "AVG(amount)" in text
    assert lineage("list", *url).stdout.startswith("drifted")
    assert lineage("end", name, "--reason", "over", *url).exit_code == 0


def test_a_violation_is_shown_below_its_namespace(api: Api, tmp_path: Path) -> None:
    """Last in this file: from then on the server records what it judges."""
    file, url = tmp_path / "policies.yaml", ("--url", f"http://127.0.0.1:{api.port}")
    file.write_text(POLICY, "utf-8")
    assert policy("apply", str(file), *url).exit_code == 0
    record = RuleTransitionRecord(rule_kind="policy", rule="owned", dataset=str(REVENUE), after="violated")
    violated = RuleTransition(
        id=rule_transition_id(record), time=time.time_ns() // 1_000, dataset=REVENUE, record=record
    )
    assert api.post(rule_transition_event(violated)).status == 201
    assert api.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]
    shown = policy("show", "owned", *url)
    of_each = shown.stdout.split("owned  postgres://")
    assert [(one.partition(":")[0], "violated since" in one) for one in of_each[1:]] == [("dev", False), ("prod", True)]
