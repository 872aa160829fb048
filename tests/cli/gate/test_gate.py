"""`whence gate` on real Git repositories: the verdict, its exit code, its forms, and whose rules count."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.process import Api
from cli.gate.conftest import BOARD, NOTES, ORDERS, REVENUE, Checkout
from whence.cli.commands.app import app
from whence.cli.gate.forms import Form


def gate(checkout: Checkout, store: str, *options: str) -> Result:
    where = ["--repository", str(checkout.folder), "--base", "main", "--store", store]
    return CliRunner().invoke(app, ["gate", *where, *options], env={"WHENCE_URL": None, "NO_COLOR": "1"})


def document(checkout: Checkout, store: str, *options: str) -> dict[str, Any]:
    result = gate(checkout, store, *options, "-o", "json")
    assert result.exit_code in (0, 5, 6, 7), result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_head_that_changes_no_code_passes_silently(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"README.md": "a shop"})
    result = gate(checkout, shop_store)
    assert (result.exit_code, result.stdout) == (0, "pass: nothing that others rely on changes\n")


def test_code_that_is_not_read_may_change_anything(checkout: Checkout, shop_store: str) -> None:
    head = checkout.commit({"jobs/clean.py": "# other\n"})
    result = gate(checkout, shop_store)
    assert result.exit_code == 7
    assert result.stdout.splitlines()[0] == ("unknown: 1 change, 1 dashboard, 1 certified dataset affected")
    found = document(checkout, shop_store)
    assert (found["verdict"], found["commit"]) == ("unknown", head)
    (change,) = found["changes"]
    assert (change["node"], change["kind"], change["file"]) == (str(ORDERS), "unknown", "jobs/clean.py")
    assert change["reason"] == "the code of clean changes, and it is not read: any column may change"
    assert [(one["node"], one["kind"], one["by"]) for one in found["affected"]] == [
        (str(BOARD), "dashboard", "by value"),
        (str(REVENUE), "certified dataset", "by value"),
    ]
    assert [one["owner"] for one in found["required_approvals"]] == ["finance", "shop-team"]


def test_code_on_which_nothing_depends(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"whence/gate.yaml": "on_unknown: note\n"})
    checkout.git("branch", "-f", "main")
    checkout.commit({"jobs/note.py": "# other\n"})
    found = document(checkout, shop_store)
    assert (found["verdict"], found["affected"]) == ("note", [])
    assert found["changes"][0]["node"] == str(NOTES)


def test_code_of_no_known_job_is_named(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"jobs/other.py": "# changed\n", "README.md": "x"})
    found = document(checkout, shop_store)
    assert found["notices"] == ["not judged: jobs/other.py is the code of no known job"]


def test_sql_that_nothing_judges_is_no_pass(checkout: Checkout, shop_store: str, tmp_path: Path) -> None:
    head = checkout.commit({"models/revenue.sql": "select 1", "jobs/other.py": "# changed\n"})
    result = gate(checkout, shop_store)
    assert (result.exit_code, result.stdout.splitlines()[:3]) == (
        7,
        [
            "unknown: 1 changed file not judged",
            "not judged  models/revenue.sql  it is no known job's code, and --sql and --dbt do not read it, or cannot",
            "approval of what nobody owns: missing (anybody but the author)",
        ],
    )
    found = document(checkout, shop_store)
    assert (found["verdict"], found["unjudged"], found["changes"]) == ("unknown", ["models/revenue.sql"], [])
    approvals = tmp_path / "approvals.json"
    approvals.write_text(json.dumps([{"person": "dora", "commit": head}]))
    approved = gate(checkout, shop_store, "--approvals", str(approvals))
    assert (approved.exit_code, approved.stdout.splitlines()[0]) == (0, "note: 1 changed file not judged")
    read = ("--sql", "models", "--dialect", "postgres", "--namespace", "postgres://prod:5432")
    assert document(checkout, shop_store, *read)["unjudged"] == []


@pytest.mark.parametrize(
    ("rules", "verdict", "unjudged"),
    [
        ("on_unjudged: note\n", "note", ["a.SQL"]),
        ("on_unjudged: block\n", "blocked", ["a.SQL"]),
        ("paths: {ignore: ['*.SQL']}\n", "pass", []),
        ("paths: {only: ['models/*']}\n", "pass", []),
        ("paths: {code: ['jobs/*.py']}\n", "unknown", ["a.SQL", "jobs/other.py"]),
    ],
)
def test_the_rules_say_what_becomes_of_code_that_nothing_judges(
    checkout: Checkout, shop_store: str, rules: str, verdict: str, unjudged: list[str]
) -> None:
    checkout.commit({"gate.yaml": rules})
    checkout.git("branch", "-f", "main")
    checkout.commit({"a.SQL": "select 1", "jobs/other.py": "# changed\n", "README.md": "x"})
    found = document(checkout, shop_store)
    assert (found["verdict"], found["unjudged"]) == (verdict, unjudged)


def test_what_main_changed_since_is_not_judged(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"README.md": "work"})
    checkout.git("switch", "-q", "main")
    checkout.commit({"jobs/sum.py": "# main\n"})
    checkout.git("switch", "-q", "work")
    assert document(checkout, shop_store)["changes"] == []
    checkout.git("merge", "-q", "--no-edit", "main")
    assert document(checkout, shop_store)["changes"] == []


def test_a_head_does_not_judge_itself_by_its_own_rules(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"whence/gate.yaml": "on_unknown: note\napproval: {certified: false, tiers: []}\n"})
    checkout.commit({"jobs/clean.py": "# other\n"})
    found = document(checkout, shop_store)
    assert found["verdict"] == "unknown"
    assert "whence/gate.yaml changes: this head is judged by the rules of its base" in found["notices"]
    checkout.git("branch", "-f", "main", "HEAD~1")
    assert document(checkout, shop_store)["verdict"] == "note"


def test_a_head_brings_no_rules_that_take_the_place_of_those_of_its_base(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"gate.yaml": "on_unknown: block\n"})
    checkout.git("branch", "-f", "main")
    checkout.commit({"whence/gate.yaml": "on_unknown: note\n", "jobs/clean.py": "# other\n"})
    found = document(checkout, shop_store)
    assert found["verdict"] == "blocked"
    assert found["notices"] == ["whence/gate.yaml changes: this head is judged by the rules of its base"]
    inside = gate(replace(checkout, folder=checkout.folder / "jobs"), shop_store)
    assert (inside.exit_code, inside.stdout) == (5, gate(checkout, shop_store).stdout)


@pytest.mark.parametrize(
    "options",
    [
        ("--rules", "gaet.yaml"),
        ("--policies", "whence/polices.yaml"),
        ("--sql", "modles", "--dialect", "postgres", "--namespace", "postgres://prod:5432"),
    ],
)
def test_a_path_that_the_repository_does_not_have_is_no_verdict(
    checkout: Checkout, shop_store: str, options: tuple[str, ...]
) -> None:
    result = gate(checkout, shop_store, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{options[0]} {options[1]}: the repository has no such" in result.stderr


def test_a_mistake_in_the_rules_is_no_verdict(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"gate.yaml": "approval:\n  certifed: true\n"})
    checkout.git("branch", "-f", "main")
    result = gate(checkout, shop_store)
    assert result.exit_code == 2
    assert "gate.yaml:2: no key 'certifed' belongs here; did you mean 'certified'?" in result.stderr


def test_approvals_count_for_this_commit_and_not_from_the_author(
    checkout: Checkout, shop_store: str, tmp_path: Path
) -> None:
    approvals = tmp_path / "approvals.json"
    first = checkout.commit({"jobs/clean.py": "# other\n"})
    given = [{"person": person, "commit": first} for person in ("finance", "shop-team")]
    approvals.write_text(json.dumps(given))
    assert gate(checkout, shop_store, "--approvals", str(approvals)).exit_code == 0
    assert gate(checkout, shop_store, "--approvals", str(approvals), "--author", "finance").exit_code == 7
    checkout.commit({"jobs/clean.py": "# yet another\n"})
    found = document(checkout, shop_store, "--approvals", str(approvals))
    assert found["verdict"] == "unknown"
    assert [one["person"] for one in found["stale_approvals"]] == ["finance", "shop-team"]


@pytest.mark.parametrize("text", ["[", "{}", '[{"person": "x"}]', '["x"]'])
def test_approvals_that_cannot_be_read_are_no_verdict(
    checkout: Checkout, shop_store: str, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "approvals.json"
    path.write_text(text)
    assert gate(checkout, shop_store, "--approvals", str(path)).exit_code == 1


def test_every_form_can_be_written_at_once(checkout: Checkout, shop_store: str, tmp_path: Path) -> None:
    checkout.commit({"jobs/clean.py": "# other\n"})
    files = {form: tmp_path / f"verdict.{form}" for form in Form}
    options = [word for form, path in files.items() for word in ("--write", f"{form}={path}")]
    assert gate(checkout, shop_store, *options).exit_code == 7
    assert "<!-- whence:gate -->" in files[Form.MARKDOWN].read_text("utf-8")
    assert json.loads(files[Form.SARIF].read_text("utf-8"))["version"] == "2.1.0"
    assert gate(checkout, shop_store, "--write", "pdf=x").exit_code == 2


@pytest.mark.parametrize("options", [("--head", "no-such"), ("--base", "--output=/tmp/x"), ("--base", "origin/HEAD")])
def test_a_ref_that_is_not_there_is_no_verdict(checkout: Checkout, shop_store: str, options: tuple[str, ...]) -> None:
    assert gate(checkout, shop_store, *options).exit_code == 1


def test_a_missing_ref_is_named_with_the_branches(checkout: Checkout, shop_store: str) -> None:
    result = gate(checkout, shop_store, "--base", "origin/main")
    assert result.exit_code == 1
    assert "origin/main does not exist; branches are: main, work" in result.stderr
    assert "shallow" not in result.stderr


def test_a_checkout_without_history_says_what_to_do(checkout: Checkout, shop_store: str, tmp_path: Path) -> None:
    checkout.git("switch", "-q", "main")
    checkout.commit({"README.md": "later"})
    checkout.git("switch", "-q", "work")
    checkout.commit({"jobs/clean.py": "# other\n"})
    shallow = Checkout(tmp_path / "shallow")
    source = checkout.folder.as_uri()
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", "--no-single-branch", "-b", "work", source, str(shallow.folder)], check=True
    )
    result = gate(shallow, shop_store, "--base", "origin/main")
    assert result.exit_code == 1
    assert "fetch the whole history (fetch-depth: 0)" in result.stderr


def test_names_of_files_may_have_any_letters(checkout: Checkout, shop_store: str) -> None:
    checkout.commit({"jobs/ä b\n.py": "# new\n", "jobs/sum.py": None})
    found = document(checkout, shop_store)
    assert [one["file"] for one in found["changes"]] == ["jobs/sum.py"]
    assert found["notices"] == ["not judged: jobs/ä b\n.py is the code of no known job"]


def test_nobody_to_ask_is_no_verdict(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit({"jobs/clean.py": "# other\n"})
    assert gate(checkout, f"sqlite:///{tmp_path}/none.db").exit_code == 4


@pytest.fixture
def server(shop_store: str, tmp_path: Path) -> Iterator[Api]:
    api = Api(tmp_path / "data", shop_store, {})
    try:
        yield api.up()
    finally:
        api.down()
        api.listening.close()


def test_a_server_and_its_store_give_the_same_verdict(checkout: Checkout, shop_store: str, server: Api) -> None:
    checkout.commit({"jobs/clean.py": "# other\n"})
    where = ["--repository", str(checkout.folder), "--base", "main", "--url", f"http://127.0.0.1:{server.port}"]
    of_server = CliRunner().invoke(app, ["gate", *where, "-o", "json"])
    of_store = gate(checkout, shop_store, "-o", "json")
    assert of_server.exit_code == of_store.exit_code == 7
    assert of_server.stdout == of_store.stdout
