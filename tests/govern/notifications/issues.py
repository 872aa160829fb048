"""The issues of a repository of GitHub, as its REST API documents them."""

import re
from dataclasses import dataclass, field
from typing import Any

from cli.gate.forges.forge_server import Failure, Json

TOKEN = "ghs_of_the_app"


@dataclass
class Issues:
    """The issues, the first one first."""

    issues: list[Json] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def answer(self, method: str, path: str, body: Json, page: int, size: int) -> tuple[int, Any]:
        """Status and JSON of one request."""
        start = (page - 1) * size
        match method, re.sub(r"/\d+(?=/|$)", "/N", path):
            case "GET", "/repos/shop/pipeline/issues":
                return 200, self.issues[::-1][start : start + size]
            case "POST", "/repos/shop/pipeline/issues":
                return self._open(body)
            case "PATCH", "/repos/shop/pipeline/issues/N":
                return self._change(int(path.rsplit("/", 1)[1]), body)
            case "GET", "/repos/shop/pipeline/issues/N/comments":
                return 200, self.issues[int(path.split("/")[-2]) - 1]["comments"][start : start + size]
            case "POST", "/repos/shop/pipeline/issues/N/comments":
                self.issues[int(path.split("/")[-2]) - 1]["comments"].append({"body": body["body"]})
                return 201, {"id": 1}
        return 404, {"message": "Not Found"}

    def _open(self, body: Json) -> tuple[int, Any]:
        if not body.get("title") or len(body.get("body", "")) > 65_536 or len(body["title"]) > 1_024:
            return 422, {"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title"}]}
        number = len(self.issues) + 1
        self.issues.append({"number": number, "state": "open", "state_reason": None, "comments": [], **body})
        return 201, self.issues[-1]

    def _change(self, number: int, body: Json) -> tuple[int, Any]:
        if (body["state"], body["state_reason"]) not in (("closed", "completed"), ("open", "reopened")):
            return 422, {"message": "Validation Failed"}
        self.issues[number - 1] |= body
        return 200, self.issues[number - 1]
