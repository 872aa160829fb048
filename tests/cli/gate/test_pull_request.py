"""What is GitHub's own in the gate: reviews, pages, annotations, refusals (the story: test_change_request_story.py)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.gate.conftest import Checkout
from cli.gate.forges.forge_server import Json
from cli.gate.forges.github_server import TOKEN, GitHubState, github_server
from whence.cli.commands.app import app

OWNERS = ("finance", "shop-team")
SQL = ("--sql", "models", "--dialect", "postgres", "--namespace", "postgres://prod:5432")


@dataclass(frozen=True)
class Pull:
    """A pull request of the branch `work` to `main`."""

    checkout: Checkout
    store: str
    state: GitHubState
    url: str
    events: Path

    def gate(self, *options: str, token: str = TOKEN) -> Result:
        """Run the gate as a workflow does after a push or a review."""
        head = self.checkout.git("rev-parse", "work")
        self.state.head = head
        pull = self.state.pull_request(base=self.checkout.git("rev-parse", "main"))
        return self._run({"pull_request": pull}, *options, token=token)

    def _run(self, event: Json, *options: str, token: str = TOKEN) -> Result:
        path = self.events / "event.json"
        path.write_text(json.dumps(event))
        environment = {"GITHUB_EVENT_PATH": str(path), "GITHUB_API_URL": self.url, "GITHUB_TOKEN": token}
        where = ["--repository", str(self.checkout.folder), "--store", self.store, "--publish", "github"]
        return CliRunner().invoke(app, ["gate", *where, *options], env={**environment, "WHENCE_URL": None})

    def queue(self) -> Result:
        """Run the gate as a workflow does on the commit that a merge queue made of both branches."""
        self.state.head, base = self.checkout.git("rev-parse", "work"), self.checkout.git("rev-parse", "main")
        self.checkout.git("switch", "-q", "--detach", "main")
        self.checkout.git("merge", "-q", "--no-ff", "-m", "queued", "work")
        ref = f"refs/heads/gh-readonly-queue/main/pr-7-{base}"
        group = {"head_sha": self.checkout.git("rev-parse", "HEAD"), "head_ref": ref, "base_sha": base}
        return self._run({"merge_group": group, "repository": {"full_name": "shop/pipeline"}})

    def approve(self, *people: str) -> None:
        for person in people:
            self.state.review(person, self.checkout.git("rev-parse", "work"))


@pytest.fixture
def pull(checkout: Checkout, shop_store: str, tmp_path: Path) -> Iterator[Pull]:
    state = GitHubState()
    with github_server(state) as url:
        yield Pull(checkout, shop_store, state, url, tmp_path)


def test_a_fork_in_a_merge_queue_has_a_check_run_and_no_comment(pull: Pull) -> None:
    """Without the check run, which the queue may require, it would wait for ever."""
    pull.state.source = "stranger/pipeline"
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    pull.approve("finance")
    assert pull.queue().exit_code == 7
    queued = pull.checkout.git("rev-parse", "HEAD")
    assert [(one.action, one.state, one.commit) for one in pull.state.written] == [
        ("status", "action_required", queued)
    ]
    pull.approve("shop-team")
    assert pull.queue().exit_code == 0
    assert [(one.action, one.state) for one in pull.state.written[1:]] == [("status", "success")]


def test_reviews_that_are_no_approval(pull: Pull) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    head = pull.checkout.git("rev-parse", "work")
    pull.approve(*OWNERS)
    pull.state.review("finance", head, "CHANGES_REQUESTED")
    assert pull.gate().exit_code == 7
    pull.state.review("finance", head, "COMMENTED")
    assert pull.gate().exit_code == 7
    pull.state.review("finance", head, "APPROVED", type="Bot")
    assert pull.gate().exit_code == 7
    pull.state.review("finance", head)
    assert pull.gate().exit_code == 0


def test_more_than_a_page_of_reviews_and_comments(pull: Pull) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    head = pull.checkout.git("rev-parse", "work")
    for number in range(150):
        pull.state.comment(f"u{number}", "hello")
        pull.state.review(f"u{number}", head)
    pull.approve(*OWNERS)
    assert pull.gate().exit_code == 0
    pull.gate()
    assert len(pull.state.comments) == 150


def test_somebody_elses_comment_is_never_edited(pull: Pull) -> None:
    pull.state.comment("mallory", "<!-- whence:gate -->\nall is well")
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    pull.gate()
    assert [one["user"]["login"] for one in pull.state.comments] == ["mallory", "github-actions[bot]"]
    assert pull.state.comments[0]["body"].endswith("all is well")


def test_every_change_with_a_place_is_an_annotation(pull: Pull) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n", "jobs/sum.py": "# x\n", "jobs/note.py": "# y\n"})
    pull.gate()
    (check,) = pull.state.checks
    annotations = check["output"]["annotations"]
    assert [one["path"] for one in annotations] == ["jobs/clean.py", "jobs/note.py", "jobs/sum.py"]
    assert {one["annotation_level"] for one in annotations} == {"warning"}


def test_annotations_are_sent_fifty_at_a_time(pull: Pull) -> None:
    columns = ", ".join(f"x as c{number}" for number in range(120))
    wide = f"create table shop.wide as select {columns} from shop.narrow"
    pull.checkout.git("switch", "-q", "main")
    pull.checkout.commit({"models/wide.sql": wide})
    pull.checkout.git("switch", "-q", "work")
    pull.checkout.git("rebase", "-q", "main")
    pull.checkout.commit({"models/wide.sql": wide.replace("x as", "x + 1 as")})
    pull.gate(*SQL)
    assert [one.action for one in pull.state.written[:3]] == ["status", "annotate", "annotate"]
    assert len(pull.state.checks[0]["output"]["annotations"]) == 120


@pytest.mark.parametrize(("token", "can_write"), [("wrong", True), ("", True), (TOKEN, False)])
def test_a_forge_that_refuses_is_no_verdict(pull: Pull, token: str, can_write: bool) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    pull.state.can_write = can_write
    result = pull.gate(token=token)
    assert result.exit_code == 4
    assert "Bad credentials" in result.stderr or "Resource not accessible by integration" in result.stderr


@pytest.mark.parametrize(
    ("event", "name"), [("{}", "pull_request"), ('{"merge_group": {"head_ref": "x"}}', "merge_group")]
)
def test_a_workflow_without_a_pull_request_is_refused(pull: Pull, tmp_path: Path, event: str, name: str) -> None:
    path = tmp_path / "push.json"
    path.write_text(event)
    environment = {"GITHUB_EVENT_PATH": str(path), "GITHUB_API_URL": pull.url}
    result = CliRunner().invoke(app, ["gate", "--store", pull.store, "--publish", "github"], env=environment)
    assert result.exit_code == 1
    assert f"on: {name}" in result.stderr
