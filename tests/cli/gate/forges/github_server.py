"""A local server that answers as GitHub's REST API documents, and refuses what that refuses."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from cli.gate.forges.forge_server import Exchange, Failure, Forge, Json, Write, forge_server

TOKEN = "ghs_of_the_workflow"
CONCLUSIONS = {
    *("action_required", "cancelled", "failure", "neutral", "skipped", "stale", "success", "timed_out"),
}


@dataclass
class GitHubState:
    """What a repository with one pull request holds; `written`: every request that changed something."""

    comments: list[Json] = field(default_factory=list)
    reviews: list[Json] = field(default_factory=list)
    checks: list[Json] = field(default_factory=list)
    written: list[Write] = field(default_factory=list)
    can_write: bool = True
    strangers: set[str] = field(default_factory=set)
    """Who may read the repository, as everybody, and not write."""
    failures: list[Failure] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    head: str = ""
    """The commit of the pull request."""
    source: str = "shop/pipeline"
    """The repository where the head is: another one is a fork."""
    state: str = "open"
    title: str = "Clean the orders"
    created: int = 0
    """How many comments there ever were."""
    has: Callable[[str], bool] = lambda _: True
    """Whether the repository has a commit."""

    def review(self, login: str, commit: str, state: str = "APPROVED", type: str = "User") -> None:
        """Somebody reviews a commit."""
        self.reviews.append({"user": {"login": login, "type": type}, "state": state, "commit_id": commit})

    def comment(self, login: str, body: str) -> None:
        """Somebody comments."""
        self.created += 1
        self.comments.append({"id": self.created, "user": {"login": login}, "body": body})

    def pull_request(self, repository: str = "shop/pipeline", base: str = "") -> Json:
        """The pull request, as events and the API have it. `repository`: where its head is."""
        return {
            "number": 7,
            "state": self.state,
            "title": self.title,
            "html_url": "https://github.example/shop/pipeline/pull/7",
            "user": {"login": "ann"},
            "base": {"ref": "main", "sha": base, "repo": {"full_name": "shop/pipeline"}},
            "head": {"ref": "work", "sha": self.head, "repo": {"full_name": repository}},
        }

    def answer(self, method: str, path: str, body: Json, page: int, size: int) -> tuple[int, Any]:
        """The status and JSON of one request."""
        if method != "GET" and not self.can_write:
            return 403, {"message": "Resource not accessible by integration"}
        start = (page - 1) * size
        match method, re.sub(r"/\d+(?=/|$)", "/N", path):
            case "GET", _ if found := re.fullmatch(r"/repos/shop/pipeline/collaborators/([^/]+)/permission", path):
                return 200, {"permission": "read" if found[1] in self.strangers else "write"}
            case "GET", "/repos/shop/pipeline/pulls/N":
                return 200, self.pull_request(self.source)
            case "GET", "/repos/shop/pipeline/pulls/N/reviews":
                return 200, self.reviews[start : start + size]
            case "GET", "/repos/shop/pipeline/issues/N/comments":
                return 200, self.comments[start : start + size]
            case "POST", "/repos/shop/pipeline/issues/N/comments":
                return self._write_comment(body, None)
            case "PATCH", "/repos/shop/pipeline/issues/comments/N":
                return self._write_comment(body, int(path.rsplit("/", 1)[1]))
            case "DELETE", "/repos/shop/pipeline/issues/comments/N":
                return self._delete_comment(int(path.rsplit("/", 1)[1]))
            case "POST", "/repos/shop/pipeline/check-runs":
                return self._write_check(body, None)
            case "PATCH", "/repos/shop/pipeline/check-runs/N":
                return self._write_check(body, int(path.rsplit("/", 1)[1]))
        return 404, {"message": "Not Found"}

    def _write_comment(self, body: Json, id_: int | None) -> tuple[int, Any]:
        text = body.get("body")
        if not isinstance(text, str) or not 0 < len(text) <= 65_536:
            return 422, {"message": "Validation Failed"}
        self.written.append(Write("create" if id_ is None else "edit", text))
        if id_ is None:
            self.comment("github-actions[bot]", text)
            return 201, self.comments[-1]
        (found,) = [one for one in self.comments if one["id"] == id_]
        found["body"] = text
        return 200, found

    def _delete_comment(self, id_: int) -> tuple[int, Any]:
        if not (found := [one for one in self.comments if one["id"] == id_]):
            return 404, {"message": "Not Found"}
        self.written.append(Write("delete"))
        self.comments.remove(found[0])
        return 204, None

    def _write_check(self, body: Json, id_: int | None) -> tuple[int, Any]:
        output = body.get("output") or {}
        known = {"path", "start_line", "end_line", "annotation_level", "title", "message"}
        annotations = output.get("annotations") or []
        is_right = (
            len(annotations) <= 50
            and all(one.keys() == known for one in annotations)
            and all(one["annotation_level"] in ("notice", "warning", "failure") for one in annotations)
            and isinstance(output.get("title"), str)
            and 0 < len(output.get("summary", "")) <= 65_535
            and (id_ is not None or (body.get("name") and re.fullmatch("[0-9a-f]{40}", body.get("head_sha", ""))))
            and body.get("conclusion", "success") in CONCLUSIONS
        )
        if not is_right:
            return 422, {"message": "Invalid request."}
        if id_ is None and not self.has(body["head_sha"]):
            return 422, {"message": f"No commit found for SHA: {body['head_sha']}"}
        if id_ is None:
            self.written.append(Write("status", output["title"], body["conclusion"], body["head_sha"]))
            self.checks.append({"id": len(self.checks) + 1, **body})
            return 201, self.checks[-1]
        self.written.append(Write("annotate"))
        self.checks[id_ - 1]["output"]["annotations"] += annotations
        return 200, self.checks[id_ - 1]


def github_server(state: GitHubState) -> AbstractContextManager[str]:
    """The address of the API of a server over a state."""
    forge = Forge(
        answer=state.answer,
        credential=("authorization", f"Bearer {TOKEN}"),
        refusal="Bad credentials",
        page_size=30,
        failures=state.failures,
        exchanges=state.exchanges,
    )
    return forge_server(forge)
