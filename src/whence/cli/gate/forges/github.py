"""GitHub: the pull request that a workflow runs for, its reviews, one comment, and a check run.

A pull request from a fork is read and never written to: its code must not meet a token that can write. Once a member
put it into the merge queue, the commit that the queue made has its check run, or the queue would wait for it.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from whence.cli.gate.forges.comments import Comments, warn_of_outdated
from whence.cli.gate.forges.forge import Forge, Json, PullRequest
from whence.errors import ArtifactError
from whence.govern.gate.judgement import Approval, Judgement
from whence.govern.gate.policy import Verdict
from whence.govern.gate.rendering.findings import Finding, findings_of
from whence.govern.gate.rendering.markdown import markdown
from whence.govern.gate.rendering.names import printable
from whence.govern.gate.rendering.summary import Summary, headline

CHECK = "Whence gate"
MOST_ANNOTATIONS = 50
"""In one request, as GitHub allows."""

_CONCLUSIONS = {Verdict.PASS: "success", Verdict.NOTE: "success", Verdict.BLOCKED: "failure"}
_LEVELS = {Verdict.NOTE: "notice", Verdict.BLOCKED: "failure"}
_QUEUED = re.compile(r"/pr-(\d+)-[0-9a-f]+$")
"""The end of a ref that a merge queue makes: `refs/heads/gh-readonly-queue/main/pr-7-` and the commit before it."""
_VERSION = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHub:
    """One pull request of one GitHub. `account`: as whom the token writes; comments of others are never edited."""

    forge: Forge
    pull: PullRequest
    account: str

    def approvals(self) -> tuple[Approval, ...]:
        """Whose last word is an approval, and of which commit. Bots have none, nor has who may not write to the
        repository: to a public one everybody may give a review. Raises ApiError.
        """
        latest: dict[str, Json] = {}
        for review in self.forge.all(f"{self._pull}/reviews"):
            person, state = review.get("user") or {}, review.get("state")
            if person.get("type") == "User" and state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
                latest[str(person.get("login"))] = review
        approved = {person: str(one.get("commit_id")) for person, one in latest.items() if one["state"] == "APPROVED"}
        return tuple(
            Approval(person=person, commit=commit)
            for person, commit in approved.items()
            if commit != self.pull.head or self._can_write(person)
        )

    def publish(self, judgement: Judgement, summary: Summary, link: str = "") -> None:
        """Write the comment and the check run; of a fork's pull request, say why not. `link`: the verdict's page.

        Raises ApiError.
        """
        if self.pull.is_fork and not self.pull.merged:
            sys.stderr.write("whence: nothing is written to a pull request from a fork; keep the files as artifacts\n")
            return
        text = markdown(judgement, summary, link)
        self.write_check(judgement, headline(judgement, summary), text, link)
        if self.pull.is_fork:
            return
        self.write_comment(text, is_needed=judgement.verdict > Verdict.NOTE)

    def write_comment(self, body: str, *, is_needed: bool) -> None:
        """Create the gate's comment if it is needed, or bring it up to date if it is there. Raises ApiError.

        What another head than the pull request's last is worth, as when a job runs again, is no comment.
        """
        now = self.forge.send("GET", self._pull)
        if (now.get("state"), (now.get("head") or {}).get("sha")) != ("open", self.pull.head):
            warn_of_outdated(self.pull)
            return
        repository = f"/repos/{self.pull.repository}"
        Comments(
            forge=self.forge,
            every=f"{repository}/issues/{self.pull.number}/comments",
            one=f"{repository}/issues/comments",
            edit="PATCH",
            is_mine=self._is_mine,
        ).write(body, is_needed=is_needed)

    def write_check(self, judgement: Judgement, title: str, summary: str, link: str = "") -> None:
        """Create the check run of the judged commit, with an annotation for each finding. Raises ApiError."""
        output = {"title": title[:250], "summary": summary}
        batches = list(_batches([_annotation(one) for one in findings_of(judgement)]))
        path = f"/repos/{self.pull.repository}/check-runs"
        body = {
            "name": CHECK,
            "head_sha": self.pull.judged,
            "status": "completed",
            "conclusion": _CONCLUSIONS.get(judgement.verdict, "action_required"),
            "output": {**output, "annotations": batches[0] if batches else []},
            **({"details_url": link} if link else {}),
        }
        made = self.forge.send("POST", path, body)
        for batch in batches[1:]:
            self.forge.send("PATCH", f"{path}/{int(made['id'])}", {"output": {**output, "annotations": batch}})

    @property
    def _pull(self) -> str:
        return f"/repos/{self.pull.repository}/pulls/{self.pull.number}"

    def _is_mine(self, comment: Json) -> bool:
        return (comment.get("user") or {}).get("login") == self.account

    def _can_write(self, person: str) -> bool:
        path = f"/repos/{self.pull.repository}/collaborators/{quote(person, safe='')}/permission"
        if ((self.forge.find(path) or {}).get("permission")) in ("admin", "write"):
            return True
        sys.stderr.write(f"whence: the approval of {printable(person)} does not count: they may not write here\n")
        return False


def github_of(environment: Mapping[str, str] = os.environ) -> GitHub:
    """The pull request for which a GitHub workflow runs, as its environment says. Raises ArtifactError, ApiError."""
    path = environment.get("GITHUB_EVENT_PATH", "")
    event = _event(path)
    token = environment.get("GITHUB_TOKEN", "")
    headers = {**_VERSION, **({"Authorization": f"Bearer {token}"} if token else {})}
    forge = Forge(environment.get("GITHUB_API_URL") or "https://api.github.com", headers)
    is_queued = isinstance(event, dict) and "merge_group" in event
    pull = _queued_pull_request(event, path, forge) if is_queued else _pull_request(event, path)
    account = environment.get("WHENCE_GATE_ACCOUNT") or "github-actions[bot]"
    return GitHub(forge=forge, pull=pull, account=account)


def _event(path: str) -> Any:
    try:
        return msgspec.json.decode(Path(path).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(path or "GITHUB_EVENT_PATH", f"the workflow's event cannot be read: {error}") from None


def _pull_request(event: Any, path: str) -> PullRequest:
    try:
        pull = event["pull_request"]
        base, head = pull["base"], pull["head"]
        return PullRequest(
            repository=base["repo"]["full_name"],
            number=int(pull["number"]),
            base=base["sha"],
            head=head["sha"],
            author=pull["user"]["login"],
            url=str(pull.get("html_url") or ""),
            is_fork=(head.get("repo") or {}).get("full_name") != base["repo"]["full_name"],
        )
    except (KeyError, TypeError, ValueError):
        raise ArtifactError(path, "it is not the event of a pull request: run this `on: pull_request`") from None


def _queued_pull_request(event: Json, path: str, forge: Forge) -> PullRequest:
    """The pull request for which a merge queue made a commit, on top of all that is before it there."""
    try:
        group, repository = event["merge_group"], event["repository"]["full_name"]
        number = _QUEUED.search(group["head_ref"])
        base, head = str(group["base_sha"]), str(group["head_sha"])
    except (KeyError, TypeError):
        number = None
    if number is None:
        raise ArtifactError(path, "it is not the event of a merge queue: run this `on: merge_group`")
    pull = forge.send("GET", f"/repos/{repository}/pulls/{number[1]}")
    return replace(_pull_request({"pull_request": pull}, path), base=base, merged=head)


def _annotation(one: Finding) -> Json:
    line = max(one.line, 1)
    level = _LEVELS.get(one.verdict, "warning")
    return {
        "path": one.file,
        "start_line": line,
        "end_line": line,
        "annotation_level": level,
        "title": one.title,
        "message": one.message,
    }


def _batches(annotations: Sequence[Json]) -> Iterator[Sequence[Json]]:
    for start in range(0, len(annotations), MOST_ANNOTATIONS):
        yield annotations[start : start + MOST_ANNOTATIONS]
