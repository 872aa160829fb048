"""The life of a pull or merge request, the same at every forge: real commits, and exactly what the gate writes."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from cli.gate.conftest import Checkout
from cli.gate.forges.change_request import ChangeRequest, Outcome, Pipeline, Step, Story
from cli.gate.forges.github_server import GitHubState, github_server
from cli.gate.forges.gitlab_server import GitLabState, gitlab_server
from cli.gate.forges.merge_request import GitLabRequest
from cli.gate.forges.pull_request import GitHubRequest
from cli.gate.forges.repositories import Repositories, clone_repositories

SQL = ("--sql", "models", "--dialect", "postgres", "--namespace", "postgres://prod:5432")
OWNERS = ("finance", "shop-team")
DAY = date(2999, 1, 31)
QUIET = "pass: nothing that others rely on changes"


@dataclass(frozen=True)
class Clock:
    """A clock that stands still at noon of a day (UTC)."""

    day: date

    def time_ns(self) -> int:
        return int(datetime.combine(self.day, time(12), UTC).timestamp()) * 10**9


@pytest.fixture
def repositories(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repositories:
    return clone_repositories(checkout, tmp_path, monkeypatch)


@pytest.fixture(params=["github", "gitlab"])
def story(
    request: pytest.FixtureRequest, repositories: Repositories, shop_store: str, tmp_path: Path
) -> Iterator[Story]:
    with ExitStack() as stack:
        made: ChangeRequest
        match request.param:
            case "github":
                github = GitHubState(has=repositories.has)
                url = stack.enter_context(github_server(github))
                made = GitHubRequest(github, url, repositories, tmp_path / "event.json")
            case _:
                gitlab = GitLabState()
                made = GitLabRequest(gitlab, stack.enter_context(gitlab_server(gitlab)), repositories)
        yield Story(made, repositories, shop_store)


AFFECTED = "1 change, 1 dashboard, 1 certified dataset affected"
UNKNOWN, WAITS, NOTE = f"unknown: {AFFECTED}", f"approval needed: {AFFECTED}", f"note: {AFFECTED}"


def step(story: Story, comment: str, outcome: Outcome, headline: str) -> Step:
    """A step in the forge's words. The exit code follows from the headline."""
    exits = {"approval needed": 6, "unknown": 7, "blocked": 5}
    return Step(comment, story.request.states[outcome], headline, exits.get(headline.partition(":")[0], 0))


def rules(story: Story, text: str) -> None:
    """Rules that somebody else merged, and that hold for the request once it is rebased."""
    story.git.change_main({"whence/gate.yaml": text})


def clean(text: str) -> dict[str, str | None]:
    """A version of the code of the job that writes the orders."""
    return {"jobs/clean.py": f"# {text}\n"}


def test_ten_pushes_with_approvals_a_waiver_and_rebases(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    rules(story, "on_unknown: approval\n")
    passed, waiting = Outcome.PASSED, Outcome.WAITING
    steps = [
        (story.rebase(), ("", passed, QUIET)),
        (story.push({"README.md": "quiet"}), ("", passed, QUIET)),
        (story.push(clean("1")), ("create", waiting, WAITS)),
        (story.run(), ("", waiting, WAITS)),
        (story.approve("finance"), ("edit", waiting, WAITS)),
        (story.approve("shop-team"), ("edit", passed, NOTE)),
    ]
    first = story.git.laptop.git("rev-parse", "HEAD")
    steps += [
        (story.push(clean("2")), ("edit", waiting, WAITS)),
    ]
    approved = story.request.approved(first)
    stale = [f"- `{person}` approved `{approved}`, not this commit: approve again" for person in OWNERS]
    assert story.notes() == stale
    steps += [
        (story.approve(*OWNERS), ("edit", passed, NOTE)),
        (story.push(clean("clean")), ("edit", passed, QUIET)),
        (story.push(clean("3")), ("edit", waiting, WAITS)),
    ]
    waiver = f"{{change: {story.change()}, reason: known, owner: bob, expires: {DAY}}}"
    rules(story, f"on_unknown: approval\nwaivers: [{waiver}]\n")
    steps += [
        (story.run(), ("", waiting, WAITS)),  # the rules count that hold where the branch left main
        (story.rebase(), ("edit", passed, NOTE)),
    ]
    assert f"waived until {DAY} by `bob`: `known`" in story.request.comments()[0]
    monkeypatch.setattr("whence.cli.gate.verdict.time", Clock(DAY + timedelta(1)))
    steps += [
        (story.run(), ("edit", waiting, WAITS)),
    ]
    assert story.notes()[-1] == f"- the waiver of `{story.change()}` expired on {DAY}"
    story.git.change_main({"jobs/note.py": "# of somebody else\n"})
    steps += [
        (story.run(), ("", waiting, WAITS)),
        (story.rebase(), ("edit", waiting, WAITS)),
    ]
    assert "jobs/note.py" not in story.request.comments()[0]
    steps += [
        (story.push({"jobs/other.py": "# of no job\n"}), ("edit", waiting, WAITS)),
        (story.push({"README.md": "loud"}), ("edit", waiting, WAITS)),
        (story.approve(*OWNERS), ("edit", passed, NOTE)),
        (story.push(clean("4")), ("edit", waiting, WAITS)),
    ]
    assert [found for found, _ in steps] == [step(story, *expected) for _, expected in steps]
    assert len(story.request.comments()) == 1


def test_a_fork_gets_an_artifact_and_nothing_else(story: Story, tmp_path: Path) -> None:
    commit = story.git.push(clean("foreign"), ref=story.request.refs[Pipeline.FORK])
    story.request.tell(commit)
    report = tmp_path / "gate.md"
    judged, result = story.gate("--write", f"markdown={report}", kind=Pipeline.FORK)
    assert (judged, result.exit_code, story.request.take(), story.request.comments()) == (commit, 7, [], [])
    assert re.search("nothing is written to a (pull|merge) request from a fork", result.stderr)
    assert report.read_text("utf-8").splitlines()[1] == f"### ❓ Whence gate: {UNKNOWN}"


READ = "select id, note from shop.public.orders"
NOTES = {"models/notes.sql": f"create table shop.silver.notes as {READ}"}
RENAMED = {"models/notes.sql": NOTES["models/notes.sql"].replace("note from", "note as text from")}


@pytest.mark.parametrize("reads", ["note", "id"])
def test_two_branches_are_fine_alone_and_judged_together_in_the_queue(story: Story, reads: str) -> None:
    """One branch renames a column that nothing reads; the other begins to read one. Git sees no conflict."""
    story.git.change_main(NOTES)
    story.git.rebase()
    story.git.push(
        {"models/copy.sql": f"create table shop.copy as select {reads} from shop.silver.notes"}, ref="refs/heads/reads"
    )
    story.git.laptop.git("reset", "-q", "--hard", "origin/main")
    fine = step(story, "", Outcome.PASSED, "note: 1 change, 0 downstream nodes affected")
    assert [story.push(RENAMED, *SQL), story.queue(*SQL)] == [fine, fine]
    story.git.merge("reads", "refs/heads/main")
    assert story.run(*SQL) == fine
    broken = step(story, "create", Outcome.FAILED, "blocked: 2 changes, 1 downstream node affected")
    assert story.queue(*SQL) == (broken if reads == "note" else fine)
    assert ["broken reference" in one for one in story.request.comments()] == ([True] if reads == "note" else [])


def test_approvals_count_in_the_queue_and_who_merges_is_no_author(story: Story) -> None:
    story.push(clean("1"))
    assert story.queue() == step(story, "edit", Outcome.WAITING, UNKNOWN)
    assert story.approve(*OWNERS) == step(story, "edit", Outcome.PASSED, NOTE)
    story.git.change_main({"jobs/note.py": "# of somebody else\n"})
    assert story.queue() == step(story, "edit", Outcome.PASSED, NOTE)
    assert "merged as" in story.request.comments()[0]
    story.push(clean("2"))
    assert story.queue() == step(story, "edit", Outcome.WAITING, UNKNOWN)
