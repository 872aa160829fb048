"""What a capture knows of its process: settings, parent run, commit."""

import re
import subprocess
from pathlib import Path

import pytest

from whence_client.events.ids import new_run_id, run_id
from whence_client.events.runs import RunRef
from whence_client.process.commit import Commit, code_facets, commit_of, web_address
from whence_client.process.parent import child_environment, parent_of_process, parse_parent
from whence_client.process.settings import read_settings

PATH = "/api/v1/lineage"
LOCAL = f"http://127.0.0.1:8080{PATH}"
ROOT = Path(__file__).parents[2]
ID = "01941f29-7c00-7abc-8def-000000000001"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (LOCAL, "", "http", "default")),
        (
            {"OPENLINEAGE_URL": "http://a/", "OPENLINEAGE_API_KEY": "k"},
            (f"http://a{PATH}", "k", "http", "default"),
        ),
        ({"OPENLINEAGE_URL": "http://a", "WHENCE_URL": "b:1"}, ("http://b:1/api/v1/lineage", "", "http", "default")),
        (
            {"OPENLINEAGE__TRANSPORT": '{"type": "http", "url": "https://c", "auth": {"api_key": "s"}}'},
            ("https://c/api/v1/lineage", "s", "http", "default"),
        ),
        (
            {
                "OPENLINEAGE__TRANSPORT__TYPE": "http",
                "OPENLINEAGE__TRANSPORT__URL": "https://d",
                "OPENLINEAGE__TRANSPORT__AUTH__APIKEY": "t",
                "OPENLINEAGE__TRANSPORT__ENDPOINT": "/lineage",
                "OPENLINEAGE_NAMESPACE": "shop",
            },
            ("https://d/lineage", "t", "http", "shop"),
        ),
        (
            {"OPENLINEAGE__TRANSPORT__TYPE": "console"},
            (LOCAL, "", "console", "default"),
        ),
        ({"OPENLINEAGE_DISABLED": "true"}, (LOCAL, "", "off", "default")),
        ({"WHENCE_API_KEY": " k\n"}, (LOCAL, "k", "http", "default")),
        ({"OPENLINEAGE__TRANSPORT": "{no json"}, (LOCAL, "", "http", "default")),
        ({"OPENLINEAGE__TRANSPORT": "[1]"}, (LOCAL, "", "http", "default")),
    ],
)
def test_settings(environment: dict[str, str], expected: tuple[str, str, str, str]) -> None:
    found = read_settings(environment)
    assert (found.endpoint, found.api_key, found.transport, found.namespace) == expected


@pytest.mark.parametrize("text", ["", "nan", "-1", "much"])
def test_a_number_that_is_none_counts_as_absent(text: str) -> None:
    assert read_settings({"WHENCE_EXIT_SECONDS": text, "WHENCE_OUTBOX_BYTES": text}).outbox_bytes == 64 << 20


@pytest.mark.parametrize("namespace", ["shop", "a/b", "https://airflow.example:8080/x"])
@pytest.mark.parametrize("job", ["load", "load/daily", "100% done", "dag.task", "ü", " "])
def test_a_parent_survives_the_environment(namespace: str, job: str) -> None:
    root = RunRef(namespace, "root", ID)
    run = RunRef(namespace, job, ID, root)
    assert parent_of_process(child_environment(run)) == run


@pytest.mark.parametrize("text", ["", "a", "a/b", f"a/{ID}", "a/b/not-an-id", "//"])
def test_a_parent_that_is_none(text: str) -> None:
    assert parse_parent(text) is None


def test_ids() -> None:
    assert run_id("x", "a", "bc") != run_id("x", "ab", "c")
    assert run_id("x", "a")[14] == "5"
    made = [new_run_id() for _ in range(50)]
    assert len(set(made)) == 50
    assert {one[14] for one in made} == {"7"}
    assert {one[19] for one in made} <= set("89ab")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    home = tmp_path / "repo"
    (home / "jobs").mkdir(parents=True)
    (home / "jobs" / "load.py").write_text("pass\n")
    for command in (
        ["init", "-q", "-b", "main"],
        ["remote", "add", "origin", "https://bob:token@forge.example/shop/jobs.git"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"],
    ):
        subprocess.run(["git", "-C", str(home), *command], check=True, capture_output=True)
    return home


def test_the_commit_of_a_folder(repository: Path) -> None:
    found = commit_of(str(repository / "jobs"), {})
    assert found is not None
    assert (found.repository, found.branch, found.prefix, found.dirty) == (
        "https://forge.example/shop/jobs",
        "main",
        "jobs/",
        False,
    )
    facets = code_facets(str(repository / "jobs" / "load.py"), 1, found)
    url = f"https://forge.example/shop/jobs/blob/{found.sha}/jobs/load.py#L1"
    assert facets["sourceCodeLocation"]["url"] == url
    assert (facets["whence_code"]["path"], facets["whence_code"]["dirty"]) == ("jobs/load.py", False)
    (repository / "jobs" / "load.py").write_text("changed\n")
    changed = commit_of(str(repository / "jobs"), {})
    assert changed is not None
    assert changed.dirty is True


def test_outside_of_a_repository_ci_says_it(tmp_path: Path) -> None:
    environment = {"GITHUB_SHA": "abc", "GITHUB_REPOSITORY": "shop/jobs", "GITHUB_SERVER_URL": "https://forge.example"}
    found = commit_of(str(tmp_path), {**environment, "GITHUB_REF": "refs/pull/7/merge"})
    assert found == Commit("abc", "https://forge.example/shop/jobs", pull_request="7")
    assert commit_of(str(tmp_path), {}) is None
    (tmp_path / ".commit").write_text("def\n")
    assert commit_of(str(tmp_path), {}) == Commit("def")


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@forge.example:shop/jobs.git", "https://forge.example/shop/jobs"),
        ("ssh://git@forge.example:22/shop/jobs", "https://forge.example/shop/jobs"),
        ("https://bob:pw@forge.example:8443/shop/jobs.git", "https://forge.example:8443/shop/jobs"),
        ("/home/bob/jobs", ""),
        ("file:///home/bob/jobs", ""),
        ("", ""),
    ],
)
def test_web_addresses(remote: str, address: str) -> None:
    assert web_address(remote) == address


def test_every_variable_of_the_client_is_documented() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "client" / "src").rglob("*.py")]
    used = {name for text in sources for name in re.findall(r"\"((?:WHENCE|OPENLINEAGE)_\w+)\"", text)}
    page = (ROOT / "docs" / "reference" / "configuration.md").read_text("utf-8")
    section = page.partition("## Environment variables of `whence-client`")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `(\w+)…?` \|", section, re.MULTILINE))
    assert used == documented
