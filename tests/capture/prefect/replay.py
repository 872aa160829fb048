"""What a real Prefect had, over its REST API, in pages: for cursor, pages and errors of polls.

The real Prefect itself is polled in tests/nightly/orchestrators.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from fixtures.replies import Request, replying

HERE = Path(__file__).parent
RECORDED = HERE / "prefect-3.9.1.json"
_BY_ID = ("flows", "deployments")

Json = dict[str, Any]


@dataclass
class Replay:
    """What the server has; a test changes it between polls. `page`: the size of pages, whatever is wanted.

    No user may read what has `forbidden` in its path. `failures` are the statuses of the next replies, 0 to cut the
    connection; `after` so many good ones.
    """

    data: Json
    page: int = 1000
    forbidden: str = "!"
    failures: list[int] = field(default_factory=list)
    after: int = 0
    authorizations: set[str] = field(default_factory=set)
    url: str = ""
    _matching: list[Json] = field(default_factory=list)

    def answer(self, request: Request) -> tuple[int, Any] | None:
        """The status and the answer of a request."""
        self.authorizations.add(request.authorization)
        if self.failures and self.after <= 0:
            status = self.failures.pop(0)
            return (status, {"detail": "busy"}) if status else None
        self.after -= 1
        path = request.path.removeprefix("/api/")
        if path == request.path:
            return 404, {"detail": "Not Found"}
        if self.forbidden in path:
            return 403, {"detail": "Forbidden"}
        return self._document(path, request)

    def _document(self, path: str, request: Request) -> tuple[int, Any]:
        kind, _, rest = path.partition("/")
        match rest:
            case "version":
                return 200, json.dumps(self.data["version"])
            case "filter/next":
                return 200, self._events(int(request.query["token"]))
            case "filter" if kind == "events":
                return 200, self._chosen_events(request.body)
            case "filter":
                rows = self._rows(kind, request.body)
                start = int(request.body["offset"])
                return 200, rows[start : start + min(request.body["limit"], self.page)]
        listed = self.data[kind] if kind in _BY_ID else {one["id"]: one for one in self.data[kind]}
        return (200, listed[rest]) if rest in listed else (404, {"detail": f"no {path}"})

    def _rows(self, kind: str, body: Json) -> list[Json]:
        match kind:
            case "flow_runs":
                return _chosen_runs(self.data["flow_runs"], body)
            case "task_runs":
                (run,) = body["flow_runs"]["id"]["any_"]
                found = [one for one in self.data["task_runs"] if one["flow_run_id"] == run]
                return sorted(found, key=lambda one: str(one["expected_start_time"]))
        (run,) = body["logs"]["flow_run_id"]["any_"]
        return [one for one in self.data["logs"] if one["flow_run_id"] == run]

    def _chosen_events(self, body: Json) -> Json:
        wanted = body["filter"]
        (resource,) = wanted["any_resource"]["id"]
        self._matching = [
            one
            for one in self.data["events"]
            if resource in _resources(one)
            and one["event"].startswith(tuple(wanted["event"]["prefix"]))
            and one["event"] not in wanted["event"]["exclude_name"]
            and _is_within(one["occurred"], wanted["occurred"].get("since"), wanted["occurred"].get("until"))
        ]
        return self._events(0)

    def _events(self, start: int) -> Json:
        end = start + self.page
        following = f"http://elsewhere/api/events/filter/next?token={end}" if end < len(self._matching) else None
        return {"events": self._matching[start:end], "total": len(self._matching), "next_page": following}


def _resources(event: Json) -> list[str]:
    return [str(one["prefect.resource.id"]) for one in (event["resource"], *event["related"])]


def _chosen_runs(runs: list[Json], body: Json) -> list[Json]:
    wanted = body["flow_runs"]
    found = [one for one in runs if one["state_type"] in wanted["state"]["type"]["any_"]]
    if times := wanted.get("end_time"):
        found = [
            one
            for one in found
            if one["end_time"] and _is_within(one["end_time"], times["after_"], times.get("before_"))
        ]
        assert body["sort"] == "END_TIME_DESC"
        return sorted(found, key=lambda one: datetime.fromisoformat(one["end_time"]), reverse=True)
    return found


def _is_within(at: str, first: str | None, last: str | None) -> bool:
    time = datetime.fromisoformat(at)
    return (not first or datetime.fromisoformat(first) <= time) and (not last or time <= datetime.fromisoformat(last))


def read_recorded(path: Path = RECORDED) -> Json:
    """What was recorded."""
    return dict(json.loads(path.read_text("utf-8")))


@contextmanager
def replaying(path: Path = RECORDED) -> Iterator[Replay]:
    """Serve what was recorded while the context is open."""
    made = Replay(read_recorded(path))
    with replying(made.answer) as url:
        made.url = f"{url}/api"
        yield made
