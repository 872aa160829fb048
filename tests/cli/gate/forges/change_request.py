"""A pull or merge request at a forge of whatever kind: the port over which one story is of both."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from typer.testing import CliRunner, Result

from cli.gate.forges.forge_server import Exchange, Failure, Write
from cli.gate.forges.repositories import Repositories
from whence.cli.commands.app import app


class Outcome(StrEnum):
    """What a status says of a commit."""

    PASSED = "passed"
    WAITING = "waiting"
    FAILED = "failed"


class Pipeline(StrEnum):
    """Why the gate runs: a push or an approval, a stranger's push to a fork, or a merge that is about to happen."""

    BRANCH = "branch"
    FORK = "fork"
    QUEUE = "queue"


TITLES = {
    "pass": "### ✅ Whence gate",
    "note": "### ℹ️ Whence gate",
    "approval needed": "### ✋ Whence gate",
    "unknown": "### ❓ Whence gate",
    "blocked": "### ⛔ Whence gate",
}
"""How a comment begins, by verdict."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one run writes: whether it creates its comment, edits it or leaves it alone; the status and its headline."""

    comment: str
    state: str
    headline: str
    exit_code: int


class ChangeRequest(Protocol):
    """Request 7, of the branch `work` to `main`, which ann opened."""

    forge: ClassVar[str]
    """As `--publish` names it."""
    states: ClassVar[Mapping[Outcome, str]]
    """The forge's words. Not every forge has one for each outcome."""
    refs: ClassVar[Mapping[Pipeline, str]]
    """What pipelines check out."""

    def tell(self, commit: str) -> None:
        """Let the forge know of a push."""
        ...

    def approve(self, person: str) -> None:
        """Somebody approves the request as it is now."""
        ...

    def approved(self, commit: str) -> str:
        """What the gate calls a commit that was approved and is no longer the head."""
        ...

    def variables(self, kind: Pipeline, commit: str) -> Mapping[str, str]:
        """The environment of a pipeline that checked out a commit."""
        ...

    def end(self) -> None:
        """Somebody merges the request."""
        ...

    def fail(self, failure: Failure) -> None:
        """Let the forge fail once."""
        ...

    def take(self) -> list[Write]:
        """What was written since the last time."""
        ...

    def exchanges(self) -> list[Exchange]:
        """All that was asked since the last time."""
        ...

    def comments(self) -> list[str]:
        """The texts of comments of the gate's account."""
        ...


@dataclass(frozen=True)
class Story:
    """A request, its repositories, and what its people do. `store`: the URL of production's."""

    request: ChangeRequest
    git: Repositories
    store: str

    def push(self, files: Mapping[str, str | None], *options: str) -> Step:
        """The author pushes; what the gate writes."""
        self.request.tell(self.git.push(files))
        return self.run(*options)

    def rebase(self) -> Step:
        """The author rebases on main and pushes; what the gate writes."""
        self.request.tell(self.git.rebase())
        return self.run()

    def approve(self, *people: str) -> Step:
        """People approve; what the gate writes when it runs again."""
        for person in people:
            self.request.approve(person)
        return self.run()

    def queue(self, *options: str) -> Step:
        """The forge merges the request into main as it is now, runs the gate, and would keep what passes.

        Who asked for the merge is its author, in GitLab and in GitHub.
        """
        self.git.merge("work", self.request.refs[Pipeline.QUEUE], author="shop-team <team@shop.example>")
        return self.run(*options, kind=Pipeline.QUEUE)

    def change(self) -> str:
        """The id of the change in the comment."""
        (found,) = set(re.findall(r"C-[0-9a-f]{10}", self.comment()))
        return str(found)

    def notes(self) -> list[str]:
        """The lines of the comment below "To know"."""
        _, _, rest = self.comment().partition("#### To know\n\n")
        return rest.partition("\n<details>")[0].split("\n")[:-1] if rest else []

    def comment(self) -> str:
        """The only comment."""
        (found,) = self.request.comments()
        return found

    def run(self, *options: str, kind: Pipeline = Pipeline.BRANCH) -> Step:
        """What a run writes: a comment or none, and then one status."""
        commit, result = self.gate(*options, kind=kind)
        status, *comments = self.request.take()
        assert len(comments) <= 1, comments
        assert (status.action, status.commit) == ("status", commit)
        for one in comments:
            marker, title = one.text.split("\n", 2)[:2]
            assert (marker, title.partition(": ")[::2]) == (
                "<!-- whence:gate -->",
                (TITLES[status.text.partition(":")[0]], status.text),
            )
        return Step(comments[0].action if comments else "", status.state, status.text, result.exit_code)

    def gate(self, *options: str, kind: Pipeline = Pipeline.BRANCH, again: str = "") -> tuple[str, Result]:
        """Run the gate as a pipeline does: the commit that was checked out, and what the gate answered.

        `again`: the commit of an earlier pipeline that somebody runs again.
        """
        commit = self.git.check_out(self.request.refs[kind], again)
        where = ["--repository", str(self.git.runner.folder), "--store", self.store, "--publish", self.request.forge]
        variables = {**self.request.variables(kind, commit), "WHENCE_URL": None}
        return commit, CliRunner().invoke(app, ["gate", *where, *options], env=variables)
