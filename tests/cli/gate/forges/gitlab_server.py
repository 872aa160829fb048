"""A local server that answers as GitLab's REST API (v4) documents, and refuses what that refuses."""

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from cli.gate.forges.forge_server import Exchange, Failure, Forge, Json, Write, forge_server

TOKEN = "glpat-of-the-project"
BOT, AUTHOR = {"id": 1, "username": "project_17_bot"}, {"id": 2, "username": "ann"}
REQUEST = "/projects/17/merge_requests/7"
_STATUS_MEMBERS = {"state", "ref", "name", "context", "target_url", "description", "coverage", "pipeline_id"}


@dataclass
class GitLabState:
    """What a project with one merge request holds; `written`: every request that changed something."""

    notes: list[Json] = field(default_factory=list)
    approved_by: list[str] = field(default_factory=list)
    versions: list[Json] = field(default_factory=list)
    statuses: list[Json] = field(default_factory=list)
    written: list[Write] = field(default_factory=list)
    pipelines: dict[int, str] = field(default_factory=dict)
    """The commit of each pipeline."""
    failures: list[Failure] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    state: str = "opened"
    title: str = "Clean the orders"
    created: int = 0
    """How many notes there ever were."""
    seconds: int = 0

    def push(self, commit: str) -> None:
        """Somebody pushes; GitLab makes a version of the merge request."""
        self.versions.append({"id": len(self.versions) + 1, "head_commit_sha": commit, "created_at": self._now()})

    def approve(self, username: str) -> None:
        """Somebody approves the merge request: it names no commit, and GitLab writes a note of its own."""
        self.approved_by = [*dict.fromkeys([*self.approved_by, username])]
        self.note({"id": hash(username), "username": username}, "approved this merge request", system=True)

    def unapprove(self, username: str) -> None:
        """Somebody withdraws the approval."""
        self.approved_by.remove(username)
        self.note({"id": hash(username), "username": username}, "unapproved this merge request", system=True)

    def note(self, author: Json, body: str, *, system: bool = False) -> Json:
        """Somebody writes a note, or GitLab does."""
        self.created += 1
        self.notes.append(
            {"id": self.created + 300, "author": author, "body": body, "system": system, "created_at": self._now()}
        )
        return self.notes[-1]

    def answer(self, method: str, path: str, body: Json, page: int, size: int) -> tuple[int, Any]:
        """The status and JSON of one request."""
        start = (page - 1) * size
        match method, re.sub(r"[0-9a-f]{40}|(?<=/notes/)\d+", "X", path):
            case "GET", "/user":
                return 200, BOT
            case "GET", "/projects/17/merge_requests/7":
                return 200, {
                    "iid": 7,
                    "state": self.state,
                    "title": self.title,
                    "sha": self.versions[-1]["head_commit_sha"] if self.versions else None,
                    "author": AUTHOR,
                    "web_url": "https://gitlab.example/shop/pipeline/-/merge_requests/7",
                }
            case "GET", "/projects/17/merge_requests/7/approvals":
                return 200, {"approved_by": [{"user": {"username": one}} for one in self.approved_by]}
            case "GET", "/projects/17/merge_requests/7/versions":
                return 200, self.versions[::-1][start : start + size]
            case "GET", "/projects/17/merge_requests/7/notes":
                return 200, self.notes[::-1][start : start + size]
            case "POST" | "PUT", "/projects/17/merge_requests/7/notes" | "/projects/17/merge_requests/7/notes/X":
                return self._write_note(body, path)
            case "DELETE", "/projects/17/merge_requests/7/notes/X":
                return self._delete_note(int(path.rsplit("/", 1)[1]))
            case "POST", "/projects/17/statuses/X":
                return self._write_status(body, path.rsplit("/", 1)[1])
        return 404, {"message": "404 Not found"}

    def _write_note(self, body: Json, path: str) -> tuple[int, Any]:
        text = body.get("body")
        if not isinstance(text, str) or not 0 < len(text) <= 1_000_000:
            return 400, {"message": {"note": ["can't be blank"]}}
        if path.endswith("/notes"):
            self.written.append(Write("create", text))
            return 201, self.note(BOT, text.strip())
        (found,) = [one for one in self.notes if one["id"] == int(path.rsplit("/", 1)[1])]
        if found["author"] != BOT or found["system"]:
            return 403, {"message": "403 Forbidden"}
        self.written.append(Write("edit", text))
        found["body"] = text.strip()
        return 200, found

    def _delete_note(self, id_: int) -> tuple[int, Any]:
        if not (found := [one for one in self.notes if one["id"] == id_]):
            return 404, {"message": "404 Not found"}
        self.written.append(Write("delete"))
        self.notes.remove(found[0])
        return 204, None

    def _write_status(self, body: Json, commit: str) -> tuple[int, Any]:
        is_right = (
            body.keys() <= _STATUS_MEMBERS
            and body.get("state") in ("pending", "running", "success", "failed", "canceled", "skipped")
            and len(body.get("description", "")) <= 255
            and isinstance(body.get("pipeline_id", 0), int)
        )
        if not is_right:
            return 400, {"message": "400 Bad request"}
        if self.statuses and self.statuses[-1]["state"] == body["state"] and body["state"] in ("pending", "running"):
            return 400, {"message": "Cannot transition status via :enqueue from :pending"}
        if "pipeline_id" in body and self.pipelines.get(body["pipeline_id"]) != commit:
            return 404, {"message": "404 Pipeline for pipeline_id, sha and ref Not Found"}
        self.written.append(Write("status", body.get("description", ""), body["state"], commit))
        self.statuses.append(body)
        return 201, body

    def _now(self) -> str:
        self.seconds += 1
        return f"2026-11-25T10:{self.seconds // 60:02}:{self.seconds % 60:02}.000Z"


def gitlab_server(state: GitLabState) -> AbstractContextManager[str]:
    """The address of the API of a server over a state."""
    forge = Forge(
        answer=state.answer,
        credential=("private-token", TOKEN),
        refusal="401 Unauthorized",
        page_size=20,
        failures=state.failures,
        exchanges=state.exchanges,
        prefix="/api/v4",
    )
    return forge_server(forge)
