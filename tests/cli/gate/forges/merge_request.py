"""A merge request at the local look-alike of GitLab: the variables of its pipelines, and its approvals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cli.gate.forges.change_request import Outcome, Pipeline
from cli.gate.forges.forge_server import Exchange, Failure, Write
from cli.gate.forges.gitlab_server import BOT, TOKEN, GitLabState
from cli.gate.forges.repositories import Repositories


@dataclass(frozen=True)
class GitLabRequest:
    """Merge request 7 of project 17. Its queue is a merge train."""

    state: GitLabState
    url: str
    git: Repositories
    forge: ClassVar[str] = "gitlab"
    states: ClassVar[Mapping[Outcome, str]] = {
        Outcome.PASSED: "success",
        Outcome.WAITING: "failed",
        Outcome.FAILED: "failed",
    }
    refs: ClassVar[Mapping[Pipeline, str]] = {
        Pipeline.BRANCH: "refs/heads/work",
        Pipeline.FORK: "refs/merge-requests/7/head",
        Pipeline.QUEUE: "refs/merge-requests/7/train",
    }

    def tell(self, commit: str) -> None:
        self.state.push(commit)

    def approve(self, person: str) -> None:
        if person in self.state.approved_by:
            self.state.unapprove(person)
        self.state.approve(person)

    def approved(self, commit: str) -> str:
        return "earlier"

    def variables(self, kind: Pipeline, commit: str) -> Mapping[str, str]:
        self.state.pipelines[number := len(self.state.pipelines) + 99] = commit
        head = commit if kind is not Pipeline.QUEUE else self.state.versions[-1]["head_commit_sha"]
        main = self.git.main()
        is_fork = kind is Pipeline.FORK
        return {
            "CI_API_V4_URL": self.url,
            "WHENCE_GITLAB_TOKEN": "" if is_fork else TOKEN,
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "17",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "18" if is_fork else "17",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.git.origin.git("merge-base", main, head),
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": head if kind is Pipeline.QUEUE else "",
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": main if kind is Pipeline.QUEUE else "",
            "CI_COMMIT_SHA": commit,
            "CI_PIPELINE_ID": str(number),
        }

    def end(self) -> None:
        self.state.state = "merged"

    def fail(self, failure: Failure) -> None:
        self.state.failures.append(failure)

    def exchanges(self) -> list[Exchange]:
        asked, self.state.exchanges[:] = list(self.state.exchanges), []
        return asked

    def take(self) -> list[Write]:
        written, self.state.written[:] = list(self.state.written), []
        return written

    def comments(self) -> list[str]:
        return [one["body"] for one in self.state.notes if one["author"] == BOT and not one["system"]]
