"""What is GitLab's own in the gate: notes, pipelines, refusals (the story: test_change_request_story.py)."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner, Result

from cli.gate.conftest import Checkout
from cli.gate.forges.gitlab_server import TOKEN, GitLabState, gitlab_server
from whence.cli.commands.app import app

OWNERS = ("finance", "shop-team")


@dataclass(frozen=True)
class Merge:
    """A merge request of the branch `work` to `main`."""

    checkout: Checkout
    store: str
    state: GitLabState
    url: str

    def gate(self, *options: str, **variables: str) -> Result:
        """Run the gate as a pipeline for merge requests does."""
        environment = {
            "CI_API_V4_URL": self.url,
            "WHENCE_GITLAB_TOKEN": TOKEN,
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "17",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "17",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.checkout.git("merge-base", "main", "work"),
            "CI_COMMIT_SHA": self.checkout.git("rev-parse", "work"),
            "CI_PIPELINE_ID": "99",
        }
        commit = {**environment, **variables}["CI_COMMIT_SHA"]
        self.state.pipelines[99] = commit
        where = ["--repository", str(self.checkout.folder), "--store", self.store, "--publish", "gitlab"]
        return CliRunner().invoke(app, ["gate", *where, *options], env={**environment, **variables, "WHENCE_URL": None})

    def push(self, text: str, file: str = "jobs/clean.py") -> None:
        """Commit and push."""
        self.checkout.commit({file: text})
        self.state.push(self.checkout.git("rev-parse", "work"))

    def take(self) -> list[str]:
        """What was written since the last time."""
        written, self.state.written[:] = list(self.state.written), []
        return [f"{one.action} {one.state}".strip() for one in written]


@pytest.fixture
def merge(checkout: Checkout, shop_store: str) -> Iterator[Merge]:
    state = GitLabState()
    with gitlab_server(state) as url:
        yield Merge(checkout, shop_store, state, url)


def test_the_author_does_not_approve(merge: Merge) -> None:
    merge.checkout.git("switch", "-q", "main")
    people = "[{owner: finance, people: [ann]}, {owner: shop-team, people: [ann]}]"
    merge.checkout.commit({"whence/gate.yaml": f"approvers: {people}\n"}, author="Eve <eve@shop.example>")
    merge.checkout.git("switch", "-q", "work")
    merge.checkout.git("rebase", "-q", "main")
    merge.push("# other\n")
    merge.state.approve("ann")
    assert merge.gate().exit_code == 7


def test_a_fork_is_judged_and_nothing_is_asked_or_written(merge: Merge) -> None:
    merge.push("# other\n")
    fork = {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "18", "WHENCE_GITLAB_TOKEN": ""}
    result = merge.gate(**fork)
    assert result.exit_code == 7
    assert "nothing is written to a merge request from a fork" in result.stderr
    assert (merge.take(), merge.state.exchanges) == ([], [])


def test_notes_of_others_are_never_edited(merge: Merge) -> None:
    merge.state.note({"id": 9, "username": "mallory"}, "<!-- whence:gate -->\nall is well")
    for number in range(150):
        merge.state.note({"id": 9, "username": "mallory"}, f"hello {number}")
    merge.push("# other\n")
    merge.gate()
    merge.gate()
    assert merge.take() == ["status failed", "create", "status failed"]
    assert merge.state.notes[0]["body"].endswith("all is well")


@pytest.mark.parametrize(
    ("variables", "code", "message"),
    [
        ({"WHENCE_GITLAB_TOKEN": "wrong"}, 4, "401 Unauthorized"),
        ({"CI_MERGE_REQUEST_IID": ""}, 1, "pipeline for merge requests"),
        ({"CI_MERGE_REQUEST_IID": "8"}, 4, "404 Not found"),
    ],
)
def test_a_forge_that_refuses_is_no_verdict(merge: Merge, variables: dict[str, str], code: int, message: str) -> None:
    merge.push("# other\n")
    result = merge.gate(**variables)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
