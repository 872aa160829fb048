"""A pull request at the local look-alike of GitHub: the events of its workflows, and its reviews."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from cli.gate.forges.change_request import Outcome, Pipeline
from cli.gate.forges.forge_server import Exchange, Failure, Json, Write
from cli.gate.forges.github_server import TOKEN, GitHubState
from cli.gate.forges.repositories import Repositories


@dataclass(frozen=True)
class GitHubRequest:
    """Pull request 7 of the repository `shop/pipeline`. `event`: the file of a workflow's event."""

    state: GitHubState
    url: str
    git: Repositories
    event: Path
    forge: ClassVar[str] = "github"
    states: ClassVar[Mapping[Outcome, str]] = {
        Outcome.PASSED: "success",
        Outcome.WAITING: "action_required",
        Outcome.FAILED: "failure",
    }
    refs: ClassVar[Mapping[Pipeline, str]] = {
        Pipeline.BRANCH: "refs/heads/work",
        Pipeline.FORK: "refs/pull/7/head",
        Pipeline.QUEUE: "refs/heads/gh-readonly-queue/main/pr-7",
    }

    def tell(self, commit: str) -> None:
        self.state.head = commit

    def approve(self, person: str) -> None:
        self.state.review(person, self.state.head)

    def approved(self, commit: str) -> str:
        return commit[:12]

    def variables(self, kind: Pipeline, commit: str) -> Mapping[str, str]:
        self.state.can_write = kind is not Pipeline.FORK
        self.event.write_text(json.dumps(self._event(kind, commit)), "utf-8")
        return {"GITHUB_EVENT_PATH": str(self.event), "GITHUB_API_URL": self.url, "GITHUB_TOKEN": TOKEN}

    def end(self) -> None:
        self.state.state = "closed"

    def fail(self, failure: Failure) -> None:
        self.state.failures.append(failure)

    def exchanges(self) -> list[Exchange]:
        asked, self.state.exchanges[:] = list(self.state.exchanges), []
        return asked

    def take(self) -> list[Write]:
        written, self.state.written[:] = list(self.state.written), []
        return written

    def comments(self) -> list[str]:
        return [one["body"] for one in self.state.comments if one["user"]["login"] == "github-actions[bot]"]

    def _event(self, kind: Pipeline, commit: str) -> Json:
        base = self.git.main()
        if kind is Pipeline.QUEUE:
            group = {
                "head_sha": commit,
                "head_ref": f"{self.refs[kind]}-{base}",
                "base_sha": base,
                "base_ref": "refs/heads/main",
            }
            return {"action": "checks_requested", "merge_group": group, "repository": {"full_name": "shop/pipeline"}}
        repository = "stranger/pipeline" if kind is Pipeline.FORK else "shop/pipeline"
        pull = self.state.pull_request(repository, base)
        return {"action": "synchronize", "pull_request": pull | {"head": pull["head"] | {"sha": commit}}}
