"""`whence policy` over a story with personal data in production, staging and development, and hostile names."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import (
    BODIES,
    CRM,
    DEV,
    EMAIL,
    FEATURES,
    HOUR,
    PATIENTS,
    REPORT,
    STAGING,
    USERS,
    of,
    tagged,
)
from whence.cli.commands.app import app
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.store.connection.engine import sqlite_url

POLICY = """\
  - name: {name}
    reason: the office of privacy says so
    owner: privacy
"""
NOT_IN_STAGING = """\
    forbid: {kind: column, namespace: "s3://staging*", label: pii>=pseudonymous}
"""
NOT_IN_FEATURES = """\
    forbid: {kind: column, name: gold/features, label: pii>=full}
"""
CERTIFIED = "    forbid: {name: report, reads: {certified: false}}\n"
RETENTION = "    forbid: {kind: dataset, outlives_sources: true}\n"


def policies(*bodies: str) -> str:
    entries = [POLICY.format(name=f"policy {number}") + body for number, body in enumerate(bodies, 1)]
    return "version: 1\npolicies:\n" + "".join(entries)


def kept(days: str, name: Any, hour: int, *more: tuple[str, str, str]) -> bytes:
    """A run that only describes a dataset: how long it is kept."""
    run = RunName(f"01890000-0000-7000-8000-{900 + hour:012}", JobName("prod", f"describe {hour}"))
    described = tagged(name, ("retention", days, ""), *more)
    return json.dumps(run_event(hour * HOUR, RunState.COMPLETE, run, outputs=[described])).encode()


def filled(tmp_path: Path, *more: bytes) -> str:
    """The URL of a store of some events."""
    url = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(url)
    apply_bodies(engine, [*BODIES, *more])
    engine.dispose()
    return url


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The story, with a certified report."""
    certified = run_event(
        8 * HOUR,
        RunState.COMPLETE,
        RunName("01890000-0000-7000-8000-000000000800", JobName("prod", "certify")),
        outputs=[tagged(REPORT, ("certified", "true", ""))],
    )
    return filled(tmp_path_factory.mktemp("story"), json.dumps(certified).encode())


def run(tmp_path: Path, text: str, *arguments: str, command: str = "evaluate") -> Result:
    file = tmp_path / "policies.yaml"
    file.write_text(text)
    return CliRunner().invoke(app, ["policy", command, str(file), *arguments])


def findings(result: Result) -> list[tuple[str, str, str, bool]]:
    found = json.loads(result.stdout)["findings"]
    return [(one["policy"], one["outcome"], one["node"], one["blocks"]) for one in found]


def test_a_violation_names_its_way_and_whom_to_ask(story: str, tmp_path: Path) -> None:
    result = run(tmp_path, policies(NOT_IN_STAGING), "--store", story)
    assert result.exit_code == 5, result.output
    assert [line for line in result.stdout.splitlines() if "dataset" not in line][:3] == [
        "violated       users.contact  policy 1",
        "    the office of privacy says so; ask privacy",
        "    crm export; DROP TABLE.email → users.contact",
    ]
    assert result.stdout.splitlines()[-1].endswith(" ok, 1 violated, 0 not evaluated")


def test_a_function_of_the_company_is_not_evaluated_and_blocks_before_a_certified_report(
    story: str, tmp_path: Path
) -> None:
    result = run(tmp_path, policies(NOT_IN_FEATURES), "--store", story, "-o", "json")
    assert result.exit_code == 5, result.output
    assert findings(result) == [("policy 1", "not evaluated", str(of(FEATURES, "code")), True)]


@pytest.mark.parametrize(("grade", "found"), [("partial", []), ("full", ["violated"])])
def test_a_declassifier_says_what_a_function_leaves(story: str, tmp_path: Path, grade: str, found: list[str]) -> None:
    known = f"declassifiers: [{{function: MY_UDF, grade: {grade}, reason: keeps a letter, owner: privacy}}]\n"
    result = run(tmp_path, known + policies(NOT_IN_FEATURES), "--store", story, "-o", "json")
    assert [outcome for _, outcome, *_ in findings(result)] == found


def test_as_of_a_time_before_the_copy_was_made(story: str, tmp_path: Path) -> None:
    past = run(tmp_path, policies(NOT_IN_STAGING), "--store", story, "--as-of", "1970-01-01T03:30:00Z")
    assert past.exit_code == 0, past.output


def test_inputs_that_nobody_certified(story: str, tmp_path: Path) -> None:
    result = run(tmp_path, policies(CERTIFIED), "--store", story, "-o", "json")
    assert result.exit_code == 5
    assert {one[2] for one in findings(result) if one[2].startswith("dataset:")} == {str(REPORT)}


def test_a_copy_is_kept_no_longer_than_its_source(tmp_path: Path) -> None:
    """The hashes of users are kept longer than the addresses: a violation. Staging says nothing: not evaluated."""
    store = filled(tmp_path, kept("30d", CRM, 7), kept("60d", USERS, 8), kept("10d", DEV, 9))
    result = run(tmp_path, policies(RETENTION), "--store", store, "-o", "json")
    found = {node: outcome for _, outcome, node, _ in findings(result)}
    assert found[str(USERS)] == "violated"
    assert found[str(STAGING)] == "not evaluated"
    assert str(DEV) not in found
    assert str(CRM) not in found


def test_a_policy_about_nothing_is_named(story: str, tmp_path: Path) -> None:
    text = policies('    forbid: {namespace: "s3://stagign", label: pii>=full}\n')
    result = run(tmp_path, text, "--store", story)
    assert result.exit_code == 0
    assert "policy 1: is about no node" in result.stdout


def test_a_masked_path_is_pseudonymous_and_not_clean(story: str, tmp_path: Path) -> None:
    clean = "    forbid: {column: email_hash, label: pii>=pseudonymous}\n"
    full = "    forbid: {column: email_hash, label: pii>=full}\n"
    result = run(tmp_path, policies(clean, full), "--store", story, "-o", "json")
    assert [one[:3] for one in findings(result)] == [("policy 1", "violated", str(of(USERS, "email_hash")))]


def test_names_that_attack_terminals_are_safe(tmp_path: Path) -> None:
    evil = tagged(PATIENTS, ("pii", "true", "\x1b[31m\u202e[bold]"))
    edge = Edge(
        source=of(PATIENTS, "\x1b[31m\u202e[bold]"),
        target=of(STAGING, "\x1b]0;x\x07"),
        type="DIRECT",
        subtype="IDENTITY",
    )
    run_ = RunName("01890000-0000-7000-8000-000000000001", JobName("prod", "evil"))
    out = dataset(STAGING, facets={"columnLineage": column_lineage([edge])})
    body = json.dumps(run_event(HOUR, RunState.COMPLETE, run_, inputs=[evil], outputs=[out])).encode()
    result = run(tmp_path, policies(NOT_IN_STAGING), "--store", filled(tmp_path, body))
    assert result.exit_code == 5
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


@pytest.mark.parametrize("command", ["check", "test"])
def test_a_mistake_has_its_line(tmp_path: Path, command: str) -> None:
    result = run(tmp_path, policies("    forbid: {kidn: column}\n"), command=command)
    assert result.exit_code == 5
    assert "policies.yaml:6: no key 'kidn' belongs here; did you mean 'kind'?" in result.stdout.replace("\n", "")


def test_evaluating_a_file_with_a_mistake_is_wrong_usage(story: str, tmp_path: Path) -> None:
    assert run(tmp_path, policies("    forbid: {kidn: column}\n"), "--store", story).exit_code == 2


def test_examples_are_judged_without_a_store(tmp_path: Path) -> None:
    body = (
        NOT_IN_STAGING
        + "    examples:\n      - {is: ok, node: {column: a, namespace: s3://staging, label: pii>=full}}\n"
    )
    result = run(tmp_path, policies(body, NOT_IN_FEATURES), command="test")
    assert result.exit_code == 5
    lines = result.stdout.splitlines()
    assert lines[0].endswith("policies.yaml:8: policy 1: violated, expected ok")
    assert lines[1:] == ["policy 2: no examples", "1 example, 1 failed"]


def test_a_valid_file_is_listed(tmp_path: Path) -> None:
    result = run(tmp_path, policies(NOT_IN_STAGING), "-o", "json", command="check")
    assert result.exit_code == 0
    assert [one["name"] for one in json.loads(result.stdout)["policies"]] == ["policy 1"]


def test_an_export_without_a_restriction_says_so(tmp_path: Path) -> None:
    result = run(tmp_path, policies(NOT_IN_STAGING), "--ranger", "cl_tag", command="export")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["policies"] == []
    assert result.stderr.endswith("policies.yaml has no policy that restricts reading, so there is nothing to export\n")


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    result = run(tmp_path, policies(NOT_IN_STAGING), "--store", f"sqlite:///{tmp_path}/none.db")
    assert result.exit_code == 4
    assert EMAIL.field not in result.stdout


def test_a_type_facet_makes_a_model(tmp_path: Path) -> None:
    """No path from personal data to a model, unless somebody approved it."""
    of_model = dataset(
        FEATURES,
        facets={
            "datasetType": facet("DatasetTypeDatasetFacet", datasetType="MODEL"),
            "tags": facet("TagsDatasetFacet", tags=[{"key": "approved", "value": "privacy"}]),
        },
    )
    run_ = RunName("01890000-0000-7000-8000-000000000700", JobName("prod", "train"))
    described = json.dumps(run_event(7 * HOUR, RunState.COMPLETE, run_, outputs=[of_model])).encode()
    rule = "    forbid: {kind: dataset, type: MODEL, label: pii>=pseudonymous}\n"
    store = filled(tmp_path, described)
    assert run(tmp_path, policies(rule), "--store", store).exit_code == 5
    assert run(tmp_path, policies(rule + "    unless: {tag: approved=privacy}\n"), "--store", store).exit_code == 0
