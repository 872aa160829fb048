"""The whole life of a change request as its forge sees it: every request of the gate, and every byte that it writes.

The shop has production, staging and development in one graph. `transcripts/` has what is written, one file a forge.
"""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine

from cli.gate.conftest import SHOP, Checkout
from cli.gate.forges.change_request import ChangeRequest, Pipeline, Story
from cli.gate.forges.environments import with_environments
from cli.gate.forges.forge_server import Exchange
from cli.gate.forges.github_server import GitHubState, github_server
from cli.gate.forges.gitlab_server import GitLabState, gitlab_server
from cli.gate.forges.merge_request import GitLabRequest
from cli.gate.forges.pull_request import GitHubRequest
from cli.gate.forges.repositories import Repositories, clone_repositories
from query.worlds.random_worlds import load

TRANSCRIPTS = Path(__file__).parent / "transcripts"
TITLE = "Clean | the `orders` $(id) <script>alert(1)</script> @finance ![x](https://evil.example/x)"
FILE = "jobs/clean.py"
RULES = """\
on_unknown: approval
approvers:
  - {owner: finance, people: [bob]}
  - {owner: shop-team, people: [carol, ann]}
"""


@pytest.fixture(autouse=True)
def dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits have names that the test knows."""
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "2026-11-25T09:00:00+00:00")


@pytest.fixture(params=["github", "gitlab"])
def story(
    request: pytest.FixtureRequest,
    checkout: Checkout,
    sqlite_store: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Story]:
    load(sqlite_store, with_environments(SHOP))
    repositories = clone_repositories(checkout, tmp_path, monkeypatch)
    with ExitStack() as stack:
        yield Story(_request(request.param, repositories, tmp_path, stack), repositories, str(sqlite_store.url))


def _request(forge: str, repositories: Repositories, folder: Path, stack: ExitStack) -> ChangeRequest:
    if forge == "github":
        github = GitHubState(has=repositories.has, strangers={"mallory"}, title=TITLE)
        return GitHubRequest(github, stack.enter_context(github_server(github)), repositories, folder / "event.json")
    gitlab = GitLabState(title=TITLE)
    return GitLabRequest(gitlab, stack.enter_context(gitlab_server(gitlab)), repositories)


def test_every_byte_of_a_life(story: Story) -> None:
    """Golden: run with WHENCE_WRITE_TRANSCRIPTS=1 to write the file anew, and read what changed."""
    text = "\n".join(_life(story))
    path = TRANSCRIPTS / f"{story.request.forge}.txt"
    if os.environ.get("WHENCE_WRITE_TRANSCRIPTS"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
    assert not any(word in text for word in ("<script", "evil", "$(id)"))


def _life(story: Story) -> Iterator[str]:
    story.git.change_main({"whence/gate.yaml": RULES})
    story.request.tell(story.git.rebase())
    yield from _scene(story, "ann opens the request: it has a README alone")
    first = story.git.push({FILE: "# 1\n"})
    story.request.tell(first)
    yield from _scene(story, "ann pushes: the code of the job that writes the orders")
    for person in ("mallory", "ann", "dora"):
        story.request.approve(person)
    yield from _scene(story, "a stranger, the author, and somebody who owns nothing approve")
    for person in ("bob", "carol"):
        story.request.approve(person)
    yield from _scene(story, "the owners approve")
    yield from _scene(story, "the job runs again")
    story.request.tell(story.git.push({FILE: "# 2\n"}))
    yield from _scene(story, "ann pushes again: the approvals are of an earlier head")
    yield from _scene(story, "the job of the first push runs again: it is not the head now", again=first)
    for person in ("bob", "carol"):
        story.request.approve(person)
    story.git.merge("work", story.request.refs[Pipeline.QUEUE])
    yield from _scene(story, "the owners approve, and the queue merges", kind=Pipeline.QUEUE)
    story.request.end()
    yield from _scene(story, "it is merged, and a job runs again")
    story.request.tell(story.git.push({FILE: "# 3\n"}, ref=story.request.refs[Pipeline.FORK]))
    yield from _scene(story, "a fork", kind=Pipeline.FORK)


def _scene(story: Story, title: str, kind: Pipeline = Pipeline.BRANCH, again: str = "") -> Iterator[str]:
    """What the gate asks and writes. Addresses have no port here: it is another in each test."""
    commit, result = story.gate(kind=kind, again=again)
    yield f"# {title}\n"
    yield f"commit {commit}, exit code {result.exit_code}"
    yield from result.stderr.splitlines()
    yield ""
    for one in story.request.exchanges():
        yield from _exchange(one)
    yield ""


def _exchange(one: Exchange) -> Iterator[str]:
    yield f"{one.method} {one.path} {one.status}"
    for name, value in one.body.items():
        match value:
            case str() if "\n" in value:
                yield f"  {name}:"
                yield from (f"    | {line}".rstrip() for line in value.split("\n"))
            case {"summary": summary, **rest}:
                is_comment = "as the comment" if summary.startswith("<!-- whence:gate -->\n") else "other"
                yield f"  {name}: {json.dumps(rest, ensure_ascii=False)}, summary: {is_comment}"
            case _:
                yield f"  {name}: {json.dumps(value, ensure_ascii=False)}"
