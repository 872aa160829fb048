"""The drama of a pull request: real commits, a server that answers as GitHub does, and what the gate writes there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.gate.conftest import Checkout
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

    def gate(self, *options: str, fork: bool = False, token: str = TOKEN) -> Result:
        """Run the gate as a workflow does after a push or a review."""
        head = self.checkout.git("rev-parse", "work")
        repository = {"full_name": "stranger/pipeline" if fork else "shop/pipeline"}
        base = {"sha": self.checkout.git("rev-parse", "main"), "repo": {"full_name": "shop/pipeline"}}
        pull = {"number": 7, "user": {"login": "ann"}, "base": base, "head": {"sha": head, "repo": repository}}
        path = self.events / "event.json"
        path.write_text(json.dumps({"pull_request": pull}))
        environment = {"GITHUB_EVENT_PATH": str(path), "GITHUB_API_URL": self.url, "GITHUB_TOKEN": token}
        where = ["--repository", str(self.checkout.folder), "--store", self.store, "--publish", "github"]
        return CliRunner().invoke(app, ["gate", *where, *options], env={**environment, "WHENCE_URL": None})

    def approve(self, *people: str) -> None:
        for person in people:
            self.state.review(person, self.checkout.git("rev-parse", "work"))

    def take(self) -> list[str]:
        """What was written since the last time."""
        written, self.state.written[:] = list(self.state.written), []
        return written

    @property
    def comment(self) -> str:
        (mine,) = [one["body"] for one in self.state.comments if one["user"]["login"] == "github-actions[bot]"]
        return str(mine)


@pytest.fixture
def pull(checkout: Checkout, shop_store: str, tmp_path: Path) -> Iterator[Pull]:
    state = GitHubState()
    with github_server(state) as url:
        yield Pull(checkout, shop_store, state, url, tmp_path)


def rules(pull: Pull, text: str) -> None:
    """Rules that are merged before the pull request."""
    pull.checkout.git("switch", "-q", "main")
    pull.checkout.commit({"whence/gate.yaml": text})
    pull.checkout.git("switch", "-q", "work")
    pull.checkout.git("rebase", "-q", "main")


def test_push_verdict_approval_and_a_new_push(pull: Pull) -> None:
    rules(pull, "on_unknown: approval\n")
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    assert pull.gate().exit_code == 6
    assert pull.take() == ["create comment", "check action_required"]
    assert "approval needed" in pull.comment
    pull.approve("finance")
    assert pull.gate().exit_code == 6
    assert pull.take() == ["edit comment", "check action_required"]
    pull.approve("shop-team")
    assert pull.gate().exit_code == 0
    assert pull.take() == ["edit comment", "check success"]
    pull.checkout.commit({"jobs/clean.py": "# yet another\n"})
    assert pull.gate().exit_code == 6
    assert pull.take() == ["edit comment", "check action_required"]
    assert "approve this commit" in pull.comment
    pull.approve(*OWNERS)
    assert pull.gate().exit_code == 0
    assert len(pull.state.comments) == 1


def test_the_comment_is_edited_and_never_repeated_over_ten_pushes(pull: Pull) -> None:
    for number in range(10):
        pull.checkout.commit({"jobs/clean.py": f"# {number}\n"})
        assert pull.gate().exit_code == 7
    assert len(pull.state.comments) == 1
    assert [one for one in pull.state.written if "comment" in one] == ["create comment"] + ["edit comment"] * 9
    before = len(pull.take())
    assert before == 20
    assert pull.gate().exit_code == 7
    assert pull.take() == ["check action_required"]


def test_a_pull_request_that_concerns_nobody_gets_no_comment(pull: Pull) -> None:
    pull.checkout.commit({"README.md": "quiet"})
    assert pull.gate().exit_code == 0
    assert pull.take() == ["check success"]
    assert pull.state.comments == []


def test_a_comment_that_is_there_says_when_all_is_well_again(pull: Pull) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    pull.gate()
    pull.checkout.git("reset", "-q", "--hard", "main")
    pull.checkout.commit({"README.md": "quiet"})
    assert pull.gate().exit_code == 0
    assert "pass: nothing that others rely on changes" in pull.comment


def test_a_rebase_needs_its_approvals_again(pull: Pull) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    pull.approve(*OWNERS)
    assert pull.gate().exit_code == 0
    pull.checkout.git("switch", "-q", "main")
    pull.checkout.commit({"README.md": "later"})
    pull.checkout.git("switch", "-q", "work")
    pull.checkout.git("rebase", "-q", "main")
    assert pull.gate().exit_code == 7


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


def test_a_waiver_expires(pull: Pull) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    found = json.loads(pull.gate("-o", "json").stdout)
    (change,) = found["changes"]
    waiver = f"change: {change['id']}, reason: known, owner: bob"
    rules(pull, f"waivers: [{{{waiver}, expires: 2999-01-01}}]\n")
    assert pull.gate().exit_code == 0
    rules(pull, f"waivers: [{{{waiver}, expires: 2020-01-01}}]\n")
    assert pull.gate().exit_code == 7
    assert "expired on 2020-01-01" in pull.comment


def test_a_fork_is_judged_and_nothing_is_written(pull: Pull, tmp_path: Path) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    report = tmp_path / "gate.md"
    result = pull.gate("--write", f"markdown={report}", fork=True)
    assert result.exit_code == 7
    assert "nothing is written to a pull request from a fork" in result.stderr
    assert (pull.take(), pull.state.comments) == ([], [])
    assert "unknown" in report.read_text("utf-8")


def test_two_branches_that_are_fine_alone_are_judged_together_in_the_queue(pull: Pull) -> None:
    rules(pull, "on_unknown: note\napproval: {downstream_nodes: 2, certified: false, tiers: []}\n")
    pull.checkout.commit({"jobs/sum.py": "# one\n"})
    assert pull.gate().exit_code == 0
    pull.checkout.git("switch", "-q", "-c", "other", "main")
    pull.checkout.commit({"jobs/note.py": "# two\n", "whence/gate.yaml": "on_unknown: block\n"})
    pull.checkout.git("switch", "-q", "main")
    pull.checkout.git("merge", "-q", "--no-edit", "other")
    pull.checkout.git("switch", "-q", "work")
    assert pull.gate().exit_code == 0
    pull.checkout.git("merge", "-q", "--no-edit", "main")
    assert pull.gate().exit_code == 5
    assert pull.take()[-1] == "check failure"


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
    assert pull.take()[-3:] == ["check action_required", "more annotations", "more annotations"]
    assert len(pull.state.checks[0]["output"]["annotations"]) == 120


def test_two_harmless_changes_of_sql_that_break_together(pull: Pull) -> None:
    """One branch renames a column that nothing reads; the other begins to read it. Git sees no conflict."""
    git, commit = pull.checkout.git, pull.checkout.commit
    git("switch", "-q", "main")
    commit({"models/a.sql": "create table shop.a as select id, x as spare from shop.raw"})
    git("switch", "-q", "work")
    git("rebase", "-q", "main")
    git("switch", "-q", "-c", "reads")
    commit({"models/b.sql": "create table shop.b as select id, spare from shop.a"})
    git("switch", "-q", "work")
    commit({"models/a.sql": "create table shop.a as select id, x as extra from shop.raw"})
    alone = [pull.gate(*SQL, "--head", head).exit_code for head in ("reads", "work")]
    assert 5 not in alone
    git("switch", "-q", "main")
    git("merge", "-q", "--no-edit", "reads")
    git("switch", "-q", "work")
    git("merge", "-q", "--no-edit", "main")
    result = pull.gate(*SQL)
    assert result.exit_code == 5, result.stdout
    assert "broken reference" in result.stdout
    assert pull.take()[-1] == "check failure"


@pytest.mark.parametrize(("token", "can_write"), [("wrong", True), ("", True), (TOKEN, False)])
def test_a_forge_that_refuses_is_no_verdict(pull: Pull, token: str, can_write: bool) -> None:
    pull.checkout.commit({"jobs/clean.py": "# other\n"})
    pull.state.can_write = can_write
    result = pull.gate(token=token)
    assert result.exit_code == 4
    assert "Bad credentials" in result.stderr or "Resource not accessible by integration" in result.stderr


def test_a_workflow_without_a_pull_request_is_refused(pull: Pull, tmp_path: Path) -> None:
    event = tmp_path / "push.json"
    event.write_text("{}")
    environment = {"GITHUB_EVENT_PATH": str(event), "GITHUB_API_URL": pull.url}
    result = CliRunner().invoke(app, ["gate", "--store", pull.store, "--publish", "github"], env=environment)
    assert result.exit_code == 1
    assert "on: pull_request" in result.stderr
