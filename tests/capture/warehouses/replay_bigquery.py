"""A project of BigQuery over HTTP, in the form of its documented API: lists of jobs and datasets, and queries."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fixtures.replies import Request, replying

TOKEN = "t0ken"
Json = dict[str, Any]
_DATASET = re.compile(r"`acme`\.`([^`]*)`\.INFORMATION_SCHEMA\.(\w+)")


@dataclass
class Replay:
    """What the project has; a test changes it between polls. `page`: the size of pages. Nobody reads `refused`."""

    data: Json
    page: int = 4
    refused: set[str] = field(default_factory=set)
    failures: list[int] = field(default_factory=list)
    asked: list[Request] = field(default_factory=list)
    url: str = ""

    def answer(self, request: Request) -> tuple[int, Any] | None:
        """The status and the document of a request."""
        self.asked.append(request)
        if self.failures:
            status = self.failures.pop(0)
            return (status, {"error": {"code": status, "message": "busy"}}) if status else None
        if request.authorization != f"Bearer {TOKEN}":
            return 401, {"error": {"code": 401, "message": "Request had invalid authentication credentials."}}
        match request.path.removeprefix("/bigquery/v2/projects/acme/").split("/"):
            case ["jobs"]:
                return 200, self._listed("jobs", self._jobs(request.query), request)
            case ["datasets"]:
                found = [{"datasetReference": {"projectId": "acme", "datasetId": one}} for one in self.data["columns"]]
                return 200, self._listed("datasets", found, request)
            case ["queries"]:
                return self._rows(request.body["query"])
        return 404, {"error": {"code": 404, "message": f"Not found: {request.path}"}}

    def _jobs(self, query: dict[str, str]) -> list[Json]:
        assert (query["allUsers"], query["projection"], query["stateFilter"]) == ("true", "full", "done")
        first, last = int(query["minCreationTime"]), int(query["maxCreationTime"])
        found = [one for one in self.data["jobs"] if first <= int(one["statistics"]["creationTime"]) <= last]
        return sorted(found, key=lambda one: -int(one["statistics"]["creationTime"]))

    def _listed(self, member: str, rows: list[Json], request: Request) -> Json:
        start = int(request.query.get("pageToken", "0"))
        found: Json = {member: rows[start : start + self.page]}
        if start + self.page < len(rows):
            found["nextPageToken"] = str(start + self.page)
        return found

    def _rows(self, statement: str) -> tuple[int, Any]:
        asked = _DATASET.search(statement)
        assert asked is not None
        if asked[1] in self.refused:
            return 403, {"error": {"code": 403, "message": f"Access Denied: Dataset acme:{asked[1]}"}}
        found = self.data["columns" if asked[2] == "COLUMNS" else "views"].get(asked[1], [])
        names = list(found[0]) if found else []
        fields = [{"name": one, "type": "STRING", "mode": "NULLABLE"} for one in names]
        rows = [{"f": [{"v": row[one]} for one in names]} for row in found]
        return 200, {"jobComplete": True, "schema": {"fields": fields}, "rows": rows, "totalRows": str(len(rows))}


@contextmanager
def replaying() -> Iterator[Replay]:
    """Serve the project while the context is open."""
    made = Replay(json.loads((Path(__file__).parent / "bigquery.json").read_text("utf-8")))
    with replying(made.answer) as url:
        made.url = url
        yield made
