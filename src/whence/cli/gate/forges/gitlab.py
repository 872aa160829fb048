"""GitLab: the merge request that a pipeline runs for, its approvals, one note, and a commit status.

A merge request from a fork is never written to, and nothing is asked: its pipeline has no token.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from whence.cli.gate.forges.comments import Comments, warn_of_outdated
from whence.cli.gate.forges.forge import Forge, Json, PullRequest
from whence.errors import ArtifactError
from whence.govern.gate.judgement import Approval, Judgement
from whence.govern.gate.policy import Verdict
from whence.govern.gate.rendering.markdown import markdown
from whence.govern.gate.rendering.summary import Summary, headline

STATUS = "Whence gate"
_LONGEST_DESCRIPTION = 255
_APPROVED = "approved this merge request"
"""The text of the system note that GitLab writes when somebody approves."""


@dataclass(frozen=True, kw_only=True)
class GitLab:
    """One merge request of one GitLab. `pipeline`: the pipeline's id, to which the status belongs; empty: none."""

    forge: Forge
    pull: PullRequest
    pipeline: str = ""

    def approvals(self) -> tuple[Approval, ...]:
        """Who approves now. GitLab does not say which commit: the head if it was approved after it was pushed, else an
        earlier one, which has no name. Raises ApiError.
        """
        if self.pull.is_fork:
            return ()
        found = self.forge.send("GET", f"{self._merge_request}/approvals").get("approved_by") or ()
        people = [str((one.get("user") or {}).get("username")) for one in found]
        pushed, approved = self._pushed_at, self._approved_at
        return tuple(
            Approval(person=one, commit=self.pull.head if pushed and approved.get(one, "") >= pushed else "earlier")
            for one in people
        )

    def publish(self, judgement: Judgement, summary: Summary, link: str = "") -> None:
        """Write the note and the commit status; of a fork's merge request, say why not. `link`: the verdict's page.

        Raises ApiError.
        """
        if self.pull.is_fork:
            sys.stderr.write("whence: nothing is written to a merge request from a fork; keep the files as artifacts\n")
            return
        self.write_status(judgement.verdict, headline(judgement, summary), link)
        self.write_note(markdown(judgement, summary, link), is_needed=judgement.verdict > Verdict.NOTE)

    def write_note(self, body: str, *, is_needed: bool) -> None:
        """Create the gate's note if it is needed, or bring it up to date if it is there. Raises ApiError.

        What another head than the merge request's last is worth, as when a job runs again, is no note.
        """
        now = self.forge.send("GET", self._merge_request)
        if (now.get("state"), now.get("sha")) != ("opened", self.pull.head):
            warn_of_outdated(self.pull)
            return
        Comments(forge=self.forge, every=self._notes, one=self._notes, edit="PUT", is_mine=self._is_mine).write(
            body, is_needed=is_needed
        )

    def write_status(self, verdict: Verdict, title: str, link: str = "") -> None:
        """Set the status of the head. It has no state for "needs somebody", so all that must not merge is `failed`.

        Raises ApiError.
        """
        body: Json = {
            "state": "success" if verdict <= Verdict.NOTE else "failed",
            "name": STATUS,
            "description": title[:_LONGEST_DESCRIPTION],
            **({"target_url": link} if link else {}),
            **({"pipeline_id": int(self.pipeline)} if self.pipeline.isdecimal() else {}),
        }
        self.forge.send("POST", f"/projects/{self.pull.repository}/statuses/{self.pull.judged}", body)

    @property
    def _merge_request(self) -> str:
        return f"/projects/{self.pull.repository}/merge_requests/{self.pull.number}"

    @property
    def _notes(self) -> str:
        return f"{self._merge_request}/notes"

    @cached_property
    def _account(self) -> object:
        return self.forge.send("GET", "/user").get("id")

    @cached_property
    def _pushed_at(self) -> str:
        """When GitLab took the head; empty if it does not know it. All its times have one form, and compare as text."""
        versions = self.forge.all(f"{self._merge_request}/versions")
        times = [str(one.get("created_at")) for one in versions if one.get("head_commit_sha") == self.pull.head]
        return max(times, default="")

    @cached_property
    def _approved_at(self) -> Mapping[str, str]:
        """When each person approved last, from the notes that GitLab itself writes."""
        found: dict[str, str] = {}
        for one in self.forge.all(self._notes):
            if one.get("system") is True and one.get("body") == _APPROVED:
                person, at = str((one.get("author") or {}).get("username")), str(one.get("created_at"))
                found[person] = max(found.get(person, ""), at)
        return found

    def _is_mine(self, note: Json) -> bool:
        return note.get("system") is not True and (note.get("author") or {}).get("id") == self._account


def gitlab_of(environment: Mapping[str, str] = os.environ) -> GitLab:
    """The merge request for which a GitLab pipeline runs, as its environment says. Raises ArtifactError, ApiError."""
    project, number = (_variable(environment, f"CI_MERGE_REQUEST_{one}") for one in ("PROJECT_ID", "IID"))
    token = environment.get("WHENCE_GITLAB_TOKEN", "")
    forge = Forge(_variable(environment, "CI_API_V4_URL"), {"PRIVATE-TOKEN": token} if token else {})
    is_fork = _variable(environment, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != project
    request: Json = {} if is_fork else forge.send("GET", f"/projects/{project}/merge_requests/{number}")
    commit = _variable(environment, "CI_COMMIT_SHA")
    # These two are set in pipelines for merged results and in merge trains, where the commit is GitLab's merge.
    source, target = (environment.get(f"CI_MERGE_REQUEST_{one}_BRANCH_SHA", "") for one in ("SOURCE", "TARGET"))
    is_merged = bool(source) and source != commit
    pull = PullRequest(
        repository=project,
        number=int(number),
        base=(target if is_merged else "") or _variable(environment, "CI_MERGE_REQUEST_DIFF_BASE_SHA"),
        head=source or commit,
        merged=commit if is_merged else "",
        author=str((request.get("author") or {}).get("username") or ""),
        is_fork=is_fork,
        url=str(request.get("web_url") or ""),
    )
    return GitLab(forge=forge, pull=pull, pipeline=environment.get("CI_PIPELINE_ID", ""))


def _variable(environment: Mapping[str, str], name: str) -> str:
    if not (value := environment.get(name, "")):
        raise ArtifactError(name, "it is not set: run this in a pipeline for merge requests")
    return value
